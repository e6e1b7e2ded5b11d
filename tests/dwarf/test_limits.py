"""Debug information that asks for more than any answer needs."""

from __future__ import annotations

import struct

import pytest
from dwarf_bytes import (
    ADDR,
    CHILDREN,
    COMPILE_UNIT,
    COPY,
    DATA8,
    END,
    HIGH,
    INLINED,
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
    line_program,
    lines_only,
    set_address,
    uleb,
    unit,
)

from okld.syms.dwarf import abbrev, aranges, frames, lines, source, tabulate
from okld.syms.dwarf import unit as unit_module

ROOT = (COMPILE_UNIT, CHILDREN, (LOW, ADDR), (HIGH, DATA8))
ROOT_BYTES = b"\1" + struct.pack("<QQ", TEXT[0], TEXT[1] - TEXT[0])
FUNCTION = (SUBPROGRAM, CHILDREN, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8))
FUNCTION_BYTES = b"\2f\0" + struct.pack("<QQ", 0x1000, 16)
CALL = (INLINED, CHILDREN, (LOW, ADDR), (HIGH, DATA8))
CALL_BYTES = b"\3" + struct.pack("<QQ", 0x1000, 16)

pytestmark = pytest.mark.spec("LIN-14")


def only_note(made, address: int = 0x1008) -> str:
    found = made.lookup(address)
    assert found.frames == ()
    (note,) = set(found.notes)
    return note


@pytest.mark.parametrize("opcodes", [COPY * 9, b"\xf0" * 9])
def test_rows(monkeypatch, opcodes):
    """Each byte of a program can make one."""
    monkeypatch.setattr(lines, "MAX_ROWS", 4)
    monkeypatch.setattr(lines, "PART", 2)
    program = line_program(set_address(0x1000) + opcodes + b"\2\x10" + END)
    assert "limit 0x4" in only_note(lines_only(program))
    many = line_program((set_address(0x1000) + COPY * 2 + b"\2\x10" + END) * 3)
    assert "rows" in lines_only(many).lookup_many([0x1008] * 4)[0].notes[0]


def test_inlined_calls_of_a_table(monkeypatch):
    """Each could be the only child of the one before."""
    monkeypatch.setattr(tabulate, "MAX_FRAMES", 8)
    monkeypatch.setattr(frames, "MAX_FRAMES", 8)
    for count in (7, 8):
        body = ROOT_BYTES + FUNCTION_BYTES + CALL_BYTES * count + bytes(count + 2)
        made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION, CALL))
        found = (made.lookup(0x1008), made.lookup_many([0x1008] * 4)[0])
        assert [len(lines.frames) for lines in found] == [8 * (count == 7)] * 2
        assert all(bool(lines.notes) == (count == 8) for lines in found)


def test_a_unit(monkeypatch):
    """It is held in memory."""
    monkeypatch.setattr(unit_module, "MAX_UNIT", 32)
    body = ROOT_BYTES + FUNCTION_BYTES + b"\0\0"
    made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION))
    assert "length of a unit" in only_note(made)


def test_a_unit_that_is_searched_for_functions_inside_functions(monkeypatch):
    """One that is in none of the others is still found."""
    monkeypatch.setattr(frames, "MAX_DEEP", 32)
    body = ROOT_BYTES + FUNCTION_BYTES + b"\0\0"
    made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION))
    assert made.lookup(0x1008).frames[0].function == "f"
    assert "unit to be searched" in only_note(made, 0x2000)


def test_entries_inside_of_entries(monkeypatch):
    """A table of a unit remembers all that are around."""
    monkeypatch.setattr(tabulate, "MAX_NESTING", 8)
    declared = abbrevs(ROOT, FUNCTION, (0x13, CHILDREN))
    for count in (8, 9):
        body = ROOT_BYTES + b"\3" * count + bytes(count) + FUNCTION_BYTES + b"\0\0"
        made = dwarf(info=unit(body), abbrev=declared)
        assert made.lookup(0x1008).frames[0].function == "f"
        lines = made.lookup_many([0x1008] * 4)[0]
        assert bool(lines.frames) == (count == 8)
        assert bool(lines.notes) == (count == 9)


def test_aranges(monkeypatch):
    """The units' own entries are enough."""
    monkeypatch.setattr(aranges, "MAX_ARANGES", 16)
    body = ROOT_BYTES + FUNCTION_BYTES + b"\0\0"
    made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION), aranges=b"\xff" * 32)
    assert made.lookup(0x1008).frames[0].function == "f"


@pytest.mark.parametrize("limit", ["number", "cost"])
def test_abbreviations(monkeypatch, limit):
    """A table could have millions before the one that is looked for."""
    unused = [(0x34, LEAF)] * 300
    body = uleb(301) + ROOT_BYTES[1:] + uleb(302) + FUNCTION_BYTES[1:] + b"\0\0"
    made = {"info": unit(body), "abbrev": abbrevs(*unused, ROOT, FUNCTION)}
    assert dwarf(**made).lookup(0x1008).frames[0].function == "f"
    if limit == "number":
        monkeypatch.setattr(abbrev, "MAX_ABBREVIATIONS", 300)
        assert "number of an abbreviation" in only_note(dwarf(**made))
    else:
        monkeypatch.setattr(abbrev, "DECLARATION", 1 << 20)
        assert "bytes to be decoded" in only_note(dwarf(**made))


def test_ranges_inside_of_ranges(monkeypatch):
    """Two lists of which each range of one is compared with each of the other."""
    declared = abbrevs(
        ROOT, (SUBPROGRAM, CHILDREN, (RANGES, SEC_OFFSET)), (INLINED, LEAF, (RANGES, SEC_OFFSET))
    )
    body = ROOT_BYTES + b"\2" + bytes(4) + (b"\3" + bytes(4)) * 50 + b"\0\0"
    pairs = struct.pack("<200Q", *range(0x1000, 0x10C8)) + bytes(16)
    made = dwarf(info=unit(body), abbrev=declared, ranges=pairs)
    monkeypatch.setattr(source, "MAX_WORK", 1 << 12)
    assert "bytes to be decoded" in made.lookup_many([0x2000] * 4)[0].notes[0]


def test_a_string():
    """One that does not end, and one that is longer than a name is."""
    declared = abbrevs(ROOT, (SUBPROGRAM, LEAF, (NAME, 0x0E), (LOW, ADDR), (HIGH, DATA8)))
    body = ROOT_BYTES + b"\2" + bytes(4) + struct.pack("<QQ", 0x1000, 16) + b"\0"
    for text in (b"x" * 100, b"x" * (1 << 21) + b"\0"):
        found = dwarf(info=unit(body), abbrev=declared, str=text).lookup(0x1008)
        assert found.frames[0].function == ""
        assert "string" in found.notes[0]
    found = dwarf(info=unit(body), abbrev=declared, str=b"x" * 70_000 + b"\0").lookup(0x1008)
    assert found.frames[0].function == "x" * 70_000
