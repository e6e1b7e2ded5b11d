"""Numbers of the page."""

import pytest

from okrun.report.export.figures import about, count, moment, percent, span


@pytest.mark.spec("EXP-9")
@pytest.mark.parametrize(
    ("ns", "want"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (12.345, "12.3 ns"),
        (1000, "1.00 µs"),
        (9_994, "9.99 µs"),
        (9_996, "10.0 µs"),
        (123_456, "123 µs"),
        (999_499, "999 µs"),
        (999_999, "1.00 ms"),
        (59_990_000_000, "60.0 s"),
        (12_345_000_000_000, "12,345 s"),
    ],
)
def test_a_time_has_three_digits(ns, want):
    """In the unit that leaves one to three of them before the point."""
    assert span(ns) == want


@pytest.mark.spec("EXP-9")
@pytest.mark.parametrize(
    ("ns", "want"),
    [(None, "-"), (7, "7 ns"), (192, "190 ns"), (4_640, "4.6 µs"), (99_999, "100 µs")],
)
def test_an_estimate_has_two_digits(ns, want):
    """More would say more than a histogram of powers of two knows."""
    assert about(ns) == want


@pytest.mark.spec("EXP-9")
def test_what_is_not_nothing_does_not_look_like_it():
    """The least share that rounds to 0.1 % is shown so; what is less is said to be."""
    shares = (0, 0.0004999, 0.0005001, 0.5, 1)
    assert [percent(share) for share in shares] == ["0.0 %", "<0.1 %", "0.1 %", "50.0 %", "100.0 %"]
    assert (count(None), count(1234567)) == ("-", "1,234,567")


@pytest.mark.spec("EXP-9")
def test_a_moment_is_utc():
    """The first second of 2038 that a 32-bit time_t does not have, and the last of 64 bits."""
    assert moment(2**31 * 10**9 + 7_999_999) == "2038-01-19 03:14:08.007 UTC"
    assert moment(2**64 - 1) == "2554-07-21 23:34:33.709 UTC"
