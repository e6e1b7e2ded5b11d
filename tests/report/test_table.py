"""How tables look."""

import pytest

from okrun.cli.table import table


@pytest.mark.spec("RPT-10")
def test_long_names_do_not_move_numbers():
    """A name of any length is in the last column, whole, and no other column is wider for it."""
    short, long = table(("n", "name"), [("1", "a"), ("22", "b" * 300)]).splitlines()[1:]
    assert (short, long) == (" 1  a", "22  " + "b" * 300)
    assert table(("n", "name"), []) == ""
