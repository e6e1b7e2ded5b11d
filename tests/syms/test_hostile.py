"""Symbol tables made to cost their reader much: names that overlap, thousands at one address."""

from __future__ import annotations

import struct

import pytest

from okld.base.errors import FormatError
from okld.base.view import View
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table

CODE = 0x10000
FUNC, LABEL = 0x12, 0x10


def table(rows: list[tuple[int, int, int, int]], strings: bytes) -> Table:
    """Read an ELF file with one segment and a `.symtab` of (st_name, st_info, value, size)."""
    entries = bytes(24) + b"".join(struct.pack("<IBBHQQ", n, i, 0, 1, v, s) for n, i, v, s in rows)
    at = 64 + 56
    places = [(1, CODE, at, 0x1000, 0, 0), (2, 0, at, len(entries), 3, 24)]
    places.append((3, 0, at + len(entries), len(strings), 0, 0))
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    end = at + len(entries) + len(strings)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, CODE, 64, end, 0, 64, 56, 1, 64, 4, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, at, CODE, 0, 0x1000, 0x1000, 0x10000)
    sections = bytes(64) + b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, address, offset, size, link, 0, 1, each)
        for kind, address, offset, size, link, each in places
    )
    return Table(ElfFile(View.of_bytes(ident + header + load + entries + strings + sections)))


def answers(symbols: Table, addresses: list[int]) -> list[tuple[str | None, tuple[str, ...]]]:
    """Name each address, by one pass and by the sorted table; the two agree."""
    one = [(f.name, getattr(f, "aliases", ())) for f in map(symbols.lookup, addresses)]
    many = [(f.name, getattr(f, "aliases", ())) for f in symbols.lookup_many(addresses)]
    assert one == many
    return one


@pytest.mark.spec("SYM-9")
@pytest.mark.parametrize(
    ("written", "name", "version"),
    [
        ("@", "@", ""),
        ("@f", "@f", ""),
        ("@f@V1", "@f", "V1"),
        ("@@V1", "@", "V1"),
        ("f@V1", "f", "V1"),
        ("f@@V1", "f", "V1"),
        ("f@", "f", ""),
        ("f@V@1", "f", "V@1"),
    ],
)
def test_an_at_sign_that_a_name_begins_with_is_the_names_own(written, name, version):
    """What is before the first "@" past the first byte is the name, the rest its version."""
    symbols = table([(1, FUNC, CODE, 8)], b"\0" + written.encode() + b"\0")
    (symbol,) = symbols
    assert (symbol.name, symbol.version) == (name, version)
    assert answers(symbols, [CODE + 1]) == [(name, ())]


@pytest.mark.spec("SYM-2")
def test_a_mapping_symbol_with_a_version_is_one():
    """The version is no part of the name, whatever the name is."""
    assert answers(table([(1, FUNC, CODE, 8)], b"\0$x@V\0"), [CODE]) == [(None, ())]


@pytest.mark.spec("SYM-5")
def test_underscores_count_in_the_first_64_bytes():
    """Of names with 65 and 64 the first in the table is the answer, of 64 and 63 the second."""
    strings = b"\0" + b"_" * 65 + b"x\0"
    assert [
        found[0]
        for rows in (
            [(1, FUNC, CODE, 8), (2, FUNC, CODE, 8)],
            [(2, FUNC, CODE, 8), (3, FUNC, CODE, 8)],
        )
        for found in answers(table(rows, strings), [CODE])
    ] == ["_" * 65 + "x", "_" * 63 + "x"]


@pytest.mark.spec("SYM-5")
def test_thousands_of_equals_have_one_answer_and_255_aliases():
    """The answer is the best of all of them, wherever in the table it stands."""
    rows = [(1, FUNC, CODE, 8)] * 3000 + [(2, FUNC, CODE, 8)] + [(1, FUNC, CODE, 8)] * 3000
    assert answers(table(rows, b"\0_f\0"), [CODE, CODE + 7]) == [("f", ("_f",) * 255)] * 2


@pytest.mark.spec("SYM-5")
def test_an_alias_of_more_than_4096_bytes_is_left_out():
    """The answer itself has its whole name."""
    strings = b"\0" + b"a" * 4097 + b"\0"
    rows = [(1, FUNC, CODE, 8), (1, FUNC, CODE, 8), (2, FUNC, CODE, 8), (9, FUNC, CODE, 8)]
    assert answers(table(rows, strings), [CODE]) == [("a" * 4097, ("a" * 4096, "a" * 4089))]


@pytest.mark.spec("SYM-4")
@pytest.mark.parametrize("kind", [FUNC, LABEL])
def test_thousands_of_symbols_without_a_size_reach_as_one_does(kind):
    """Up to the next, to the section's end, and not where a sized symbol holds their start."""
    rows = [(1, kind, CODE + 8, 0)] * 2000 + [(3, FUNC, CODE + 16, 8)]
    addresses = [CODE + at for at in (7, 8, 15, 16, 24, 0xFFF)]
    names = [name for name, _ in answers(table(rows, b"\0f\0g\0"), addresses)]
    assert names == [None, "f", "f", "g", None, None]
    rows.append((3, FUNC, CODE, 9))
    names = [name for name, _ in answers(table(rows, b"\0f\0g\0"), addresses)]
    assert names == ["g", "g", "f" if kind == FUNC else None, "g", None, None]


@pytest.mark.spec("SYM-3")
def test_thousands_of_sizes_at_one_value_each_hold_what_they_hold():
    """The least size that reaches the address is the answer."""
    symbols = table([(1, FUNC, CODE, size) for size in range(1, 3000)], b"\0f\0")
    for found in symbols.lookup_many(range(CODE, CODE + 2999)):
        assert isinstance(found, Found)
        assert (found.size, found.aliases) == (found.offset + 1, ())


@pytest.mark.spec("SYM-1")
def test_names_that_overlap_are_listed_up_to_a_limit():
    """A table of a few KiB whose names are 600 MiB is refused, an address in it is not."""
    symbols = table(
        [(1 + i, FUNC, CODE + i, 1) for i in range(600)], b"\0" + b"a" * (1 << 20) + b"\0"
    )
    with pytest.raises(FormatError, match=r"^bytes of all names together .*\[SYM-1\]$"):
        sum(1 for _ in symbols)
    found = symbols.lookup(CODE + 599)
    assert isinstance(found, Found)
    assert len(found.name) == (1 << 20) - 599
