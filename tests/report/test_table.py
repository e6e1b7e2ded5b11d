"""How numbers look."""

import pytest

from okrun.cli.table import duration, percent, rough_duration, table


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


@pytest.mark.spec("RPT-10")
def test_long_names_do_not_move_numbers():
    """A name of any length is in the last column, whole, and no other column is wider for it."""
    short, long = table(("n", "name"), [("1", "a"), ("22", "b" * 300)]).splitlines()[1:]
    assert (short, long) == (" 1  a", "22  " + "b" * 300)
    assert table(("n", "name"), []) == ""
