"""Both kinds of look-up against the rules as they are written, on tables made at random."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okld.base.view import View
from okld.syms.choose import Symbol, choose
from okld.syms.elf_file import ElfFile
from okld.syms.table import REASONS, Table

NAMES = b"\0f\0_g\0__h\0$x\0k@V\0"
OFFSETS = [0, 1, 3, 6, 10, 13]
FIRST, SECOND = (0x1000, 0x18), (0x1018, 0x28)
"""Two sections: link address and bytes."""

SEGMENT = (0x1004, 0x34)

Row = tuple[int, int, int, int, int]


def elf_of(rows: list[Row]) -> ElfFile:
    """Write an ELF file with a segment, two sections and a `.symtab` of *rows*."""
    entries = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", n, i, 0, c, v, s) for n, i, c, v, s in rows
    )
    table, strings = 120, 120 + len(entries)
    end = strings + len(NAMES)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, end, 0, 64, 56, 1, 64, 5, 0)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0, SEGMENT[0], 0, 8, SEGMENT[1], 4)
    sections = bytes(64) + b"".join(
        struct.pack("<IIQQQQIIQQ", 0, *fields)
        for fields in (
            (8, 6, *FIRST[:1], 0, FIRST[1], 0, 0, 1, 0),
            (8, 6, *SECOND[:1], 0, SECOND[1], 0, 0, 1, 0),
            (2, 0, 0, table, len(entries), 4, 0, 8, 24),
            (3, 0, 0, strings, len(NAMES), 0, 0, 1, 0),
        )
    )
    return ElfFile(View.of_bytes(header + entries + NAMES + sections))


def limit(symbol: Symbol) -> int:
    place = {1: FIRST, 2: SECOND}.get(symbol.section)
    return sum(place) if place else symbol.value


def told(address: int, symbols: list[Symbol]) -> tuple[str | None, int, tuple[str, ...]]:
    """Return the name, the value and the aliases by the rules of choice; no name: no answer."""
    if not 0 <= address - SEGMENT[0] < SEGMENT[1]:
        return None, 0, ()
    equals = choose(address, symbols, limit)
    if not equals:
        return None, 0, ()
    return equals[0].name, equals[0].value, tuple(symbol.name for symbol in equals[1:])


def answer(found) -> tuple[str | None, int, tuple[str, ...]]:
    return (found.name, found.value, found.aliases) if found.name else (None, 0, ())


ROWS = st.lists(
    st.tuples(
        st.sampled_from(OFFSETS),
        st.sampled_from([0x02, 0x12, 0x11, 0x20, 0x00, 0x10, 0x06, 0x1A]),
        st.sampled_from([1, 1, 2, 2, 0, 0xFFF1]),
        st.one_of(st.integers(0x1000, 0x1040), st.sampled_from([0, 0x1008, 0x1010])),
        st.sampled_from([0, 0, 0, 1, 2, 5, 8, 30, (1 << 64) - 1]),
    ),
    max_size=14,
)


@pytest.mark.spec("SYM-2", "SYM-3", "SYM-4", "SYM-5")
@given(rows=ROWS)
def test_one_pass_and_sorted_ranges_give_what_the_rules_give(rows):
    """For every address: the name, where it begins, and its equals in their order."""
    table = Table(elf_of(rows))
    symbols, places = list(table), range(0x0FF0, 0x1050)
    want = [told(address, symbols) for address in places]
    assert [answer(table.lookup(address)) for address in places] == want
    assert [answer(found) for found in table.lookup_many(places)] == want


@pytest.mark.spec("SYM-2", "SYM-3", "SYM-4", "SYM-5")
@given(rows=ROWS)
def test_owners_are_those_of_the_answers(rows):
    """The index of the symbol, or the number of the reason; the same between two boundaries."""
    table = Table(elf_of(rows))
    places = range(0x0FF0, 0x1050)
    owners = table.owners(places)
    for owner, found in zip(owners, table.lookup_many(places), strict=True):
        if owner < 0:
            assert found.reason == REASONS[owner]
        else:
            assert (table.symbol(owner).name, table.symbol(owner).value) == (
                found.name,
                found.value,
            )
    changes = {place for place, a, b in zip(places[1:], owners, owners[1:], strict=False) if a != b}
    assert changes <= set(table.boundaries())


@pytest.mark.spec("SYM-17")
@given(rows=ROWS, more=ROWS)
def test_two_tables_answer_as_one_of_all_their_symbols(rows, more):
    """The innermost of both, the nearest of both; an equal of the first table comes first."""
    first, second = Table(elf_of(rows)), Table(elf_of(more))
    joined = Table.of_parts(first, first.parts + second.parts)
    whole = Table(elf_of(rows + more))
    for address in range(0x0FF0, 0x1050):
        want = whole.lookup(address)
        for found in (joined.lookup(address), *joined.lookup_many([address])):
            assert answer(found)[:2] == answer(want)[:2]
            assert set(found.aliases if found.name else ()) <= {"f", "_g", "__h", "k"}
