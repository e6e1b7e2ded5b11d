"""One answer of what the symbol table says and what debug information says."""

from __future__ import annotations

import pytest

from okld.syms.answer import Found, Frame, Miss
from okld.syms.dwarf.reader import Lines
from okld.syms.joined import joined


def symbol(name="s", value=0x100, size=0x40, address=0x110, kind="function", **more):
    return Found(name, address - value, value=value, size=size, kind=kind, symbol=name, **more)


def frame(name="f", inlined=False):
    return Frame(name, "/s/a.c", 3, 1, inlined=inlined)


INNER = (frame("inner", inlined=True), frame("f"))


@pytest.mark.spec("ADR-6")
def test_without_debug_information_the_symbol_is_all():
    """As the table gave it."""
    found, miss = symbol(), Miss("between symbols")
    assert joined(found, None, 0x110) is found
    assert joined(miss, None, 0x110) is miss


@pytest.mark.spec("ADR-6", "ADR-7")
def test_the_name_is_the_functions_and_the_offset_the_symbols():
    """A clone, an alias or a resolver has a symbol of its own."""
    got = joined(symbol("f.cold"), Lines(INNER, 0x80), 0x110)
    assert (got.name, got.symbol, got.offset, got.value) == ("f", "f.cold", 0x10, 0x100)
    assert got.frames == INNER


@pytest.mark.spec("ADR-7")
def test_without_a_symbol_the_offset_counts_from_the_functions_lowest_address():
    """What it was called in the source is its name."""
    got = joined(Miss("between symbols"), Lines((frame(),), 0x108), 0x110)
    assert (got.name, got.symbol, got.offset, got.value, got.size) == ("f", "", 8, 0x108, 0)
    assert got.kind == "function"


@pytest.mark.spec("ADR-7")
@pytest.mark.parametrize(
    ("found", "offset"),
    [
        (symbol(size=0), 8),
        (symbol(approximate=True), 8),
        (symbol(value=0x108, size=0), 8),
        (symbol(), 0x10),
        (Miss("no symbol table"), 8),
    ],
)
def test_a_symbol_that_only_begins_before_the_function_is_none_of_it(found, offset):
    """Where its size is not known; one that is known to reach the address stays."""
    got = joined(found, Lines((frame(),), 0x108), 0x110)
    assert (got.name, got.offset) == ("f", offset)


@pytest.mark.spec("ADR-6")
def test_data_among_code_has_no_frames():
    """A line table goes on behind the function before it."""
    got = joined(symbol("table", kind="object"), Lines((frame(),), 0x80), 0x110)
    assert (got.name, got.frames) == ("table", ())


@pytest.mark.spec("ADR-6")
def test_a_line_without_a_function_keeps_the_symbols_name():
    """As assembler has it."""
    got = joined(symbol(), Lines((frame(""),), None), 0x110)
    assert (got.name, got.frames) == ("s", (frame(""),))


@pytest.mark.spec("ADR-6")
def test_what_was_lost_is_told_with_what_is_left():
    """A note stays with the answer."""
    got = joined(symbol(notes=("a",)), Lines((), None, ("b",)), 0x110)
    assert (got.name, got.notes, got.frames) == ("s", ("a", "b"), ())


@pytest.mark.spec("LIN-13", "SYM-6")
def test_a_miss_keeps_what_was_lost():
    """Nothing is known of the address, and what might have known is damaged: both are said."""
    miss = joined(Miss("between symbols"), Lines((), None, ("a unit is cut",)), 0x1000)
    assert (miss.name, miss.reason, miss.notes) == (None, "between symbols", ("a unit is cut",))
