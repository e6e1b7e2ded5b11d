"""Ranges written byte by byte, and which unit an address belongs to."""

from __future__ import annotations

import struct

import pytest
from dwarf_bytes import (
    ADDR,
    CHILDREN,
    COMPILE_UNIT,
    DATA4,
    DATA8,
    HIGH,
    LEAF,
    LOW,
    NAME,
    RANGES,
    SEC_OFFSET,
    STRING,
    SUBPROGRAM,
    TEXT,
    abbrevs,
    dwarf,
    uleb,
    unit,
)

from okld.syms.dwarf import source, units
from okld.syms.dwarf.reader import Dwarf
from okld.syms.sections import Sections

ADDR_BASE, RNGLISTS_BASE, STR_OFFSETS_BASE = 0x73, 0x74, 0x72
ADDRX, ADDRX1, ADDRX2, ADDRX3, ADDRX4 = 0x1B, 0x29, 0x2A, 0x2B, 0x2C
RNGLISTX, STRX1, STRP = 0x23, 0x25, 0x0E
DROPPED = (0, 1, 0xFFF, 0x9000, (1 << 64) - 2, (1 << 64) - 1)
TABLE = [0x1000, 0x2000, 0x2040, 0x3000, 0, (1 << 64) - 1]


def quads(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def table(body: bytes) -> bytes:
    """A table of DWARF 5 with its header: version 5, addresses of 8 bytes."""
    return struct.pack("<IHBB", len(body) + 4, 5, 8, 0) + body


def by_list(entries: bytes, version: int, low: int = 0x1000) -> Dwarf:
    """A unit with one function, whose ranges are *entries*, and a base address of *low*."""
    declared = abbrevs(
        (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (RANGES, SEC_OFFSET), (ADDR_BASE, SEC_OFFSET)),
        (SUBPROGRAM, LEAF, (NAME, STRING), (RANGES, SEC_OFFSET)),
    )
    whole = quads(TEXT[0] - low, TEXT[1] - low, 0, 0)
    if version >= 5:
        whole = b"\7" + quads(TEXT[0]) + uleb(TEXT[1] - TEXT[0]) + b"\0"
    body = b"\1" + quads(low) + struct.pack("<II", 0, 8)
    body += b"\2f\0" + struct.pack("<I", len(whole)) + b"\0"
    lists = {"rnglists" if version >= 5 else "ranges": whole + entries}
    return dwarf(info=unit(body, version), abbrev=declared, addr=table(quads(*TABLE)), **lists)


def held(made: Dwarf) -> list[int]:
    """Return where, in steps of 16 bytes, the function f is."""
    found = [(a, made.lookup(a)) for a in range(*TEXT, 16)]
    assert not any(lines.notes for _, lines in found if lines)
    return [a for a, lines in found if lines and lines.frames]


@pytest.mark.spec("LIN-5")
@pytest.mark.parametrize(
    "entry",
    {
        "offset_pair": b"\4" + uleb(0x1000) + uleb(0x1040),
        "base_addressx": b"\1\1\4" + uleb(0) + uleb(0x40),
        "base_address": b"\5" + quads(0x1F00) + b"\4" + uleb(0x100) + uleb(0x140),
        "startx_endx": b"\2\1\2",
        "startx_length": b"\3\1" + uleb(0x40),
        "start_end": b"\6" + quads(0x2000, 0x2040),
        "start_length": b"\7" + quads(0x2000) + uleb(0x40),
    }.items(),
    ids=lambda item: item[0],
)
def test_every_kind_of_a_list_of_version_5(entry):
    """Each states [0x2000, 0x2040), and an empty range is none."""
    made = by_list(entry[1] + b"\6" + quads(0x3000, 0x3000) + b"\0", 5)
    assert held(made) == [0x2000, 0x2010, 0x2020, 0x2030]
    assert made.lookup(0x2000).low == 0x2000


@pytest.mark.spec("LIN-5")
def test_lists_before_version_5_count_from_a_base():
    """From the unit's, and from what an entry of the greatest address says."""
    entries = quads(0x1000, 0x1010, (1 << 64) - 1, 0x3000, 0x100, 0x110, 0x10, 0x10, 0, 0)
    assert held(by_list(entries, 4)) == [0x2000, 0x3100]


@pytest.mark.spec("LIN-4")
@pytest.mark.parametrize("low", DROPPED, ids=hex)
def test_a_range_that_begins_outside_the_code_is_none(low):
    """Linkers write such an address for code that they drop: 0, 1, -1 and -2 are in use."""
    high = min(low + 0x8000, (1 << 64) - 1)
    live = quads(0x1000, 0x1010)
    before = quads(low, high) if low not in (0, (1 << 64) - 1) else b""  # those mean something else
    assert held(by_list(before + live + quads(0, 0), 4, 0)) == [0x1000]
    assert held(by_list(b"\6" + quads(low, high) + b"\6" + live + b"\0", 5)) == [0x1000]
    assert held(by_list(b"\7" + quads(low) + uleb(0x8000) + b"\6" + live + b"\0", 5)) == [0x1000]
    declared = abbrevs(
        (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8)),
        (SUBPROGRAM, LEAF, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8)),
    )
    body = b"\1" + quads(TEXT[0], TEXT[1] - TEXT[0])
    body += b"\2dead\0" + quads(low, 0x8000) + b"\2f\0" + quads(0x1000, 0x10) + b"\0"
    assert held(dwarf(info=unit(body), abbrev=declared)) == [0x1000]


@pytest.mark.spec("LIN-5")
def test_a_range_that_ends_behind_the_last_address_is_none():
    """Neither singly nor in a table; a sum of two numbers can."""
    body = b"\1" + quads(TEXT[0], TEXT[1] - TEXT[0]) + b"\2f\0" + quads(0x1000, (1 << 64) - 1)
    declared = abbrevs(
        (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8)),
        (SUBPROGRAM, LEAF, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8)),
    )
    made = dwarf(info=unit(body + b"\0"), abbrev=declared)
    assert made.lookup(0x1008) is None
    assert made.lookup_many([0x1008] * 4) == [None] * 4


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize("version", [4, 5])
def test_a_list_that_does_not_end_is_damage(version):
    """It is a note, and nothing is taken from it."""
    entries = quads(0x1000, 0x1010) if version == 4 else b"\6" + quads(0x1000, 0x1010)
    found = by_list(entries, version).lookup(0x1000)
    assert found.frames == ()
    assert "does not end" in found.notes[0]


@pytest.mark.spec("LIN-14")
def test_lists_beyond_the_limit_are_damage(monkeypatch):
    """Each of a million functions could state the same long list."""
    monkeypatch.setattr(source, "MAX_WORK", 2000)
    declared = abbrevs(
        (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8)),
        (SUBPROGRAM, LEAF, (RANGES, SEC_OFFSET)),
    )
    body = b"\1" + quads(TEXT[0], TEXT[1] - TEXT[0]) + (b"\2" + bytes(4)) * 200 + b"\0"
    lists = quads(0x1000, 0x1010, 0, 0)
    found = dwarf(info=unit(body), abbrev=declared, ranges=lists).lookup(0x3000)
    assert "functions cannot be read: too much work: steps" in found.notes[0]


@pytest.mark.spec("LIN-2", "LIN-5")
@pytest.mark.parametrize(
    ("form", "index"),
    [
        (ADDRX, uleb(1)),
        (ADDRX1, b"\1"),
        (ADDRX2, b"\1\0"),
        (ADDRX3, b"\1\0\0"),
        (ADDRX4, b"\1\0\0\0"),
    ],
)
def test_addresses_strings_and_lists_by_index(form, index):
    """Each counts from the base that the unit states."""
    declared = abbrevs(
        (
            COMPILE_UNIT,
            CHILDREN,
            (ADDR_BASE, SEC_OFFSET),
            (STR_OFFSETS_BASE, SEC_OFFSET),
            (RNGLISTS_BASE, SEC_OFFSET),
            (RANGES, RNGLISTX),
        ),
        (SUBPROGRAM, LEAF, (NAME, STRX1), (LOW, form), (HIGH, DATA4)),
    )
    body = b"\1" + struct.pack("<III", 8, 8, 12) + b"\1"
    body += b"\2\1" + index + struct.pack("<I", 16) + b"\0"
    lists = struct.pack("<III", 2, 8, 9) + b"\0" + b"\7" + quads(0x1000) + uleb(0x8000) + b"\0"
    made = dwarf(
        info=unit(body, 5),
        abbrev=declared,
        addr=table(quads(*TABLE)),
        str_offsets=struct.pack("<IHHII", 12, 5, 0, 0, 4),
        str=b"no\0\0f\0",
        rnglists=struct.pack("<IHBBI", 40, 5, 8, 0, 2) + lists[4:],
    )
    (frame,) = made.lookup(0x200F).frames
    assert frame.function == "f"
    assert made.lookup(0x2010) is None


ROOT = (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8))
FUNCTION = (SUBPROGRAM, LEAF, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8))
SIMPLE = abbrevs(ROOT, FUNCTION)


def small(name: bytes, low: int) -> bytes:
    return unit(b"\1" + quads(low, 0x10) + b"\2" + name + b"\0" + quads(low, 0x10) + b"\0")


def aranges(*sets: tuple[int, int, int]) -> bytes:
    out = b""
    for offset, low, size in sets:
        body = struct.pack("<HIBB4x", 2, offset, 8, 0) + quads(low, size, 0, 0)
        out += struct.pack("<I", len(body)) + body
    return out


THREE = small(b"one", 0x1000) + small(b"two", 0x2000) + small(b"three", 0x3000)
SIZE = len(small(b"one", 0))


@pytest.mark.spec("LIN-3")
@pytest.mark.parametrize(
    "named",
    [
        b"",
        aranges((SIZE, 0x2000, 0x10)),
        aranges((0, 0x1000, 0x10), (SIZE, 0x2000, 0x10), (2 * SIZE, 0x3000, 0x10)),
        aranges((0, 0x1000, 0x10))[:-20],
        b"\xff" * 30,
        aranges((0, 0, 0x9000), (SIZE, 0x2000, 0x10)),
    ],
    ids=["none", "one of three", "all", "cut", "not one", "dropped code"],
)
def test_units_are_found_with_aranges_and_without(named):
    """What the table leaves out is found by the units' own entries, singly and at once."""
    made = dwarf(info=THREE, abbrev=SIMPLE, aranges=named)
    wanted = {0x1008: "one", 0x2008: "two", 0x3008: "three"}
    if named.startswith(aranges((0, 0, 0x9000))):
        wanted.pop(0x1008)  # the table names the unit, and says it is nowhere
    for address, name in wanted.items():
        again = dwarf(info=THREE, abbrev=SIMPLE, aranges=named)
        assert again.lookup(address).frames[0].function == name
        assert made.head_at(address).offset in (0, SIZE, 2 * SIZE)
        assert made.lookup(address).frames[0].function == name
    assert made.lookup(0x2010) is None


@pytest.mark.spec("LIN-1", "LIN-13")
def test_a_damaged_unit_costs_its_own_addresses():
    """The units behind it are found, and a miss says that not all could be read."""
    bad = bytearray(small(b"bad", 0x1000))
    bad[4] = 9  # the version
    made = dwarf(info=bytes(bad) + small(b"two", 0x2000), abbrev=SIMPLE)
    assert made.lookup(0x2008).frames[0].function == "two"
    assert "version" in made.lookup(0x1008).notes[0]
    assert [head.offset for head in made.units()] == [len(bad)]


@pytest.mark.spec("LIN-14")
def test_more_units_than_the_limit_are_told(monkeypatch):
    """Those up to it are known."""
    monkeypatch.setattr(units, "MAX_UNITS", 2)
    made = dwarf(info=THREE, abbrev=SIMPLE)
    assert made.lookup(0x2008).frames[0].function == "two"
    assert "units" in made.lookup(0x3008).notes[0]


class Watched:
    """Sections that remember what was read of them."""

    order = "<"

    def __init__(self, **sections: bytes) -> None:
        self._sections = Sections.of_parts(sections, "<", 8)
        self.read: list[tuple[str, int, int]] = []

    def size(self, name: str) -> int:
        return self._sections.size(name)

    def window(self, name: str, offset: int, size: int) -> memoryview | bytes:
        self.read.append((name, offset, size))
        return self._sections.window(name, offset, size)


@pytest.mark.spec("LIN-15")
@pytest.mark.parametrize("with_table", [True, False])
def test_only_the_unit_that_has_the_address_is_read(with_table):
    """Of others at most the header and the first entry, and nothing where aranges tell."""
    padding = b"\2" + b"x" * 5000 + b"\0" + quads(0, 0)
    units_ = []
    for name, low in ((b"one", 0x1000), (b"two", 0x2000), (b"three", 0x3000)):
        body = b"\1" + quads(low, 0x10) + padding + b"\2" + name + b"\0" + quads(low, 0x10) + b"\0"
        units_.append(unit(body))
    size = len(units_[0])
    named = aranges((0, 0x1000, 16), (size, 0x2000, 16)) if with_table else b""
    watched = Watched(info=b"".join(units_), abbrev=SIMPLE, aranges=named)
    made = Dwarf(watched, code=[TEXT])
    assert made.lookup(0x2008).frames[0].function == "two"
    others = [
        length
        for name, offset, length in watched.read
        if name == "info" and not size <= offset < 2 * size
    ]
    assert sum(others) <= (0 if with_table else 200)
