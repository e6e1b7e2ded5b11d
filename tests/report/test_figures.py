"""How numbers look."""

import pytest

from okrun.report.figures import count, duration, moment, percent, rough_duration


@pytest.mark.spec("RPT-10")
@pytest.mark.parametrize(
    ("ns", "want"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (12.34, "12.3 ns"),
        (1000, "1.00 us"),
        (999.96, "1.00 us"),
        (999_940, "999.94 us"),
        (999_999, "1.00 ms"),
        (1_500_000, "1.50 ms"),
        (10**9, "1.00 s"),
        (4_821_000_000_000, "4,821.00 s"),
    ],
)
def test_duration(ns, want):
    """A time is in the unit that leaves one to three digits before the point, seconds more."""
    assert duration(ns) == want


@pytest.mark.spec("RPT-6")
@pytest.mark.parametrize(
    ("ns", "want"),
    [
        (None, "-"),
        (0, "0 ns"),
        (7, "7 ns"),
        (77, "77 ns"),
        (777, "780 ns"),
        (1049, "1.0 us"),
        (1051, "1.1 us"),
        (77_700, "78 us"),
        (777_000_000, "780 ms"),
        (12 * 10**12, "12,000 s"),
    ],
)
def test_rough_duration(ns, want):
    """A time that is an estimate has two digits."""
    assert rough_duration(ns) == want


@pytest.mark.spec("RPT-10")
@pytest.mark.parametrize(
    ("share", "want"),
    [(0, "0.0 %"), (0.0004, "<0.1 %"), (0.0005, "0.1 %"), (0.5, "50.0 %"), (1, "100.0 %")],
)
def test_percent(share, want):
    """What is little does not look like nothing."""
    assert percent(share) == want


@pytest.mark.spec("EXP-9")
def test_thousands_are_apart():
    """Of what is counted; what is not known is a dash."""
    assert (count(None), count(1234567)) == ("-", "1,234,567")


@pytest.mark.spec("EXP-9")
def test_a_moment_is_utc():
    """The first second of 2038 that a 32-bit time_t does not have, and the last of 64 bits."""
    assert moment(2**31 * 10**9 + 7_999_999) == "2038-01-19 03:14:08.007 UTC"
    assert moment(2**64 - 1) == "2554-07-21 23:34:33.709 UTC"
