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

from okld.base.errors import FormatError
from okld.syms.dwarf import abbrev, aranges, frames, lines, source, split, tabulate
from okld.syms.dwarf import unit as unit_module
from okld.syms.sections import Sections

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


@pytest.mark.parametrize("around", [(), (0x39,), (0x13,), (SUBPROGRAM,)])
def test_entries_that_are_walked_over(monkeypatch, around):
    """What is found before the limit is told, and what is behind it is a note, never a guess."""
    declared = abbrevs(ROOT, FUNCTION, (0x24, LEAF), *((tag, CHILDREN) for tag in around))
    many = b"\4" * len(around) + b"\3" * 100 + bytes(len(around))
    last = b"\2g\0" + struct.pack("<QQ", 0x2000, 16)
    body = ROOT_BYTES + FUNCTION_BYTES + b"\0" + many + last + b"\0\0"
    made = dwarf(info=unit(body), abbrev=declared)
    assert made.lookup(0x2008).frames[0].function == "g"
    monkeypatch.setattr(source, "MAX_ENTRIES", 64)
    assert made.lookup(0x1008).frames[0].function == "f"
    for address in (0x2008, 0x2008, 0x2F00):
        assert "too much work: entries (limit 0x40, at byte 0x" in only_note(made, address)
    assert [lines.frames[0].function for lines in made.lookup_many([0x2008] * 4)] == ["g"] * 4
    monkeypatch.setattr(source, "WHOLE", 1)
    assert "entries" in made.lookup_many([0x2008] * 4)[0].notes[0]


def test_entries_that_hang_on_a_call(monkeypatch):
    """The function is not told without the calls that may be inlined in it."""
    body = ROOT_BYTES + FUNCTION_BYTES + b"\4" * 100 + CALL_BYTES + b"\0\0\0"
    made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION, CALL, (0x24, LEAF)))
    assert len(made.lookup(0x1008).frames) == 2
    monkeypatch.setattr(source, "MAX_ENTRIES", 64)
    assert "entries" in only_note(made)


def test_a_question_has_all_steps_again(monkeypatch):
    """What others took is not counted, though they were of the same file."""
    body = ROOT_BYTES + FUNCTION_BYTES + b"\0\0"
    made = dwarf(info=unit(body), abbrev=abbrevs(ROOT, FUNCTION))
    made.lookup(0x1008)
    monkeypatch.setattr(source, "MAX_WORK", 80)
    assert all(made.lookup(0x1008).frames[0].function == "f" for _ in range(20))


def test_bytes_of_names(monkeypatch):
    """A thousand calls could each have a long one, all from the same bytes."""
    call = (INLINED, CHILDREN, (NAME, 0x0E), (LOW, ADDR), (HIGH, DATA8))
    calls = (b"\3" + struct.pack("<IQQ", n, 0x1000, 16) for n in range(8))
    body = ROOT_BYTES + FUNCTION_BYTES + b"".join(calls) + bytes(10)
    declared = abbrevs(ROOT, FUNCTION, call)
    made = dwarf(info=unit(body), abbrev=declared, str=b"n" * 2000 + b"\0")
    monkeypatch.setattr(source, "MAX_WORK", 7000)
    found = made.lookup(0x1008)
    told = [len(frame.function) for frame in found.frames]
    assert told == [1993, 1994, 1995, 0, 0, 0, 0, 0, 0]
    assert "steps" in found.notes[0]


def test_a_line_program(monkeypatch):
    """Opcodes that make no rows cost as much as others."""
    program = line_program(set_address(0x1000) + b"\6" * 5000 + COPY + b"\2\x10" + END)
    made = lines_only(program)
    assert made.lookup(0x1008).frames[0].line == 1
    monkeypatch.setattr(source, "MAX_WORK", 5000)
    assert "too much work: steps (limit 0x1388)" in only_note(made)


def test_units_of_a_split_file(monkeypatch):
    """Each may be looked into for the id that is meant."""
    sections = Sections.of_parts({"info": unit(b"\1") * 9, "abbrev": abbrevs((0x11, LEAF))}, "<", 8)
    assert split.unit_offset(sections, 1) is None
    monkeypatch.setattr(source, "MAX_WORK", 8 * split.PROBE)
    with pytest.raises(FormatError, match="too much work: steps"):
        split.unit_offset(sections, 1)


def test_numbers_that_do_not_end():
    """One of ten bytes is the longest that a value can be."""
    declared = abbrevs(ROOT, (0x24, LEAF, (0x77, 0x0F)), FUNCTION)
    last = b"\3" + FUNCTION_BYTES[1:] + b"\0\0"
    for size in (1, 2, 3, 10, 11):
        body = ROOT_BYTES + b"\2" + b"\x80" * (size - 1) + b"\0" + last
        found = dwarf(info=unit(body), abbrev=declared).lookup(0x1008)
        assert [frame.function for frame in found.frames] == ["f"] * (size < 11)
        assert any("LEB128" in note for note in found.notes) == (size == 11)


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


@pytest.mark.parametrize("limit", ["number", "cost", "size"])
def test_abbreviations(monkeypatch, limit):
    """A table could have millions before the one that is looked for."""
    unused = [(0x34, LEAF)] * 300
    body = uleb(301) + ROOT_BYTES[1:] + uleb(302) + FUNCTION_BYTES[1:] + b"\0\0"
    made = {"info": unit(body), "abbrev": abbrevs(*unused, ROOT, FUNCTION)}
    assert dwarf(**made).lookup(0x1008).frames[0].function == "f"
    if limit == "number":
        monkeypatch.setattr(abbrev, "MAX_ABBREVIATIONS", 300)
        assert "number of an abbreviation" in only_note(dwarf(**made))
    elif limit == "cost":
        monkeypatch.setattr(abbrev, "DECLARATION", 1 << 20)
        assert "too much work: steps" in only_note(dwarf(**made))
    else:
        monkeypatch.setattr(abbrev, "MAX_ABBREVIATION", 6)
        assert "an abbreviation" in only_note(dwarf(**made))


def test_ranges_inside_of_ranges(monkeypatch):
    """Two lists of which each range of one is compared with each of the other."""
    declared = abbrevs(
        ROOT, (SUBPROGRAM, CHILDREN, (RANGES, SEC_OFFSET)), (INLINED, LEAF, (RANGES, SEC_OFFSET))
    )
    body = ROOT_BYTES + b"\2" + bytes(4) + (b"\3" + bytes(4)) * 50 + b"\0\0"
    pairs = struct.pack("<200Q", *range(0x1000, 0x10C8)) + bytes(16)
    made = dwarf(info=unit(body), abbrev=declared, ranges=pairs)
    monkeypatch.setattr(source, "MAX_WORK", 1 << 12)
    monkeypatch.setattr(source, "WHOLE", 1)
    assert "too much work: steps" in made.lookup_many([0x2000] * 4)[0].notes[0]


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
