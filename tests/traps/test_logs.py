"""Traps of logs."""

from __future__ import annotations

import pytest
from trap_table import rewritten


@pytest.mark.spec("LOG-3", "LOG-10")
def test_trap_7_a_return_address_belongs_to_the_call(right):
    """It is looked up one byte before, and written as it was."""
    _, question, _ = right(7)
    before, after = question.log.splitlines(), rewritten(question).splitlines()
    assert [row.split()[1] for row in before] == [row.split()[1] for row in after]


@pytest.mark.spec("LOG-12")
def test_trap_43_the_size_tells_which_of_two_functions_it_is(right):
    """A kernel's log names functions by symbol, offset and size."""
    right(43)


@pytest.mark.spec("LOG-12")
def test_trap_44_names_with_offsets_hold_wherever_the_kernel_was_put(right):
    """Plain addresses need the offset that the log tells; a module is a relocatable file."""
    right(44)
