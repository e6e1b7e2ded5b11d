"""Line programs written byte by byte: what each opcode does, by section 6.2.5 of the standard."""

from __future__ import annotations

import struct

import pytest
from dwarf_bytes import (
    COPY,
    END,
    line_program,
    lines_only,
    set_address,
    sleb,
    uleb,
)

from okld.base import limits
from okld.syms.dwarf import line_header


def place(program: bytes, address: int, version: int = 4):
    lines = lines_only(program, version).lookup(address)
    if lines is None:
        return None
    (frame,) = lines.frames
    assert not lines.notes
    assert frame.function == ""
    assert not frame.inlined
    return frame.file, frame.line, frame.column


@pytest.mark.spec("LIN-9", "LIN-12")
def test_a_row_holds_up_to_the_next_and_the_last_to_the_end():
    """The last of several at one address; nothing before the first and behind the end."""
    rows = set_address(0x1100) + COPY + b"\5\7\3\1" + COPY  # column 7, line 2, the same address
    rows += b"\2\4\3\1" + COPY + b"\2\4" + END  # four bytes further line 3, then four more
    program = line_program(rows)
    assert place(program, 0x10FF) is None
    assert {place(program, a) for a in range(0x1100, 0x1104)} == {("/src/a.c", 2, 7)}
    assert {place(program, a) for a in range(0x1104, 0x1108)} == {("/src/a.c", 3, 7)}
    assert place(program, 0x1108) is None


@pytest.mark.spec("LIN-11")
@pytest.mark.parametrize(("version", "first"), [(2, "a.c"), (3, "a.c"), (4, "a.c"), (5, "b.c")])
def test_files_count_from_one_before_version_5_and_from_zero_then(version, first):
    """The file register begins at 1 in every version."""
    program = line_program(set_address(0x1100) + COPY + b"\2\4" + END, version)
    assert place(program, 0x1100, version) == (f"/src/{first}", 1, None)


@pytest.mark.spec("LIN-11")
@pytest.mark.parametrize(("version", "number"), [(4, 70_000), (5, 69_999)])
def test_seventy_thousand_files_are_told_apart(version, number):
    """The last is not the one whose number has the same low 16 bits."""
    files = tuple(b"f%d.c" % n for n in range(70_000))
    program = set_address(0x1100) + b"\4" + uleb(number) + COPY + b"\2\4" + END
    found = place(line_program(program, version, files=files), 0x1100, version)
    assert found == ("/src/f69999.c", 1, None)


@pytest.mark.spec("LIN-11")
def test_a_file_that_is_not_there_is_no_file():
    """The line stays, for what it is worth."""
    program = line_program(set_address(0x1100) + b"\4\x09" + COPY + b"\2\4" + END)
    assert place(program, 0x1100) == (None, 1, None)


@pytest.mark.spec("LIN-11")
def test_a_program_can_define_files():
    """They count behind those of the header."""
    define = b"\0" + uleb(1 + len(b"c.c\0\1\0\0")) + b"\3c.c\0\1\0\0"
    program = line_program(define + set_address(0x1100) + b"\4\3" + COPY + b"\2\4" + END)
    assert place(program, 0x1101) == ("/src/c.c", 1, None)


@pytest.mark.spec("LIN-10")
def test_line_0_is_no_line_and_column_0_no_column():
    """The file stays, and the row before is not taken instead."""
    rows = set_address(0x1100) + b"\3\4" + COPY + b"\3" + sleb(-5) + b"\2\4" + COPY
    program = line_program(rows + b"\2\4" + END)
    assert place(program, 0x1100) == ("/src/a.c", 5, None)
    assert place(program, 0x1104) == ("/src/a.c", None, None)


@pytest.mark.spec("LIN-9")
@pytest.mark.parametrize("step", [1, 63, 64, 100, 127, 128, 5000, 1 << 20])
def test_lines_advance_and_go_back_by_any_number(step):
    """Those that take one byte and those that take more."""
    rows = set_address(0x1100) + b"\3" + sleb(step) + COPY
    rows += b"\2\4\3" + sleb(-step) + COPY + b"\2\4" + END
    assert place(line_program(rows), 0x1100) == ("/src/a.c", step + 1, None)
    assert place(line_program(rows), 0x1104) == ("/src/a.c", 1, None)


@pytest.mark.spec("LIN-9")
@pytest.mark.parametrize("min_length", [1, 2, 4])
def test_addresses_advance_by_instructions(min_length):
    """Special opcodes, advance_pc and const_add_pc count them; fixed_advance_pc counts bytes."""
    special = bytes([13 + 5 + 1 + 14 * 3])  # line + 1, three instructions
    rows = set_address(0x1100) + special + b"\2\2" + COPY + b"\x08" + COPY
    rows += b"\x09" + struct.pack("<H", 6) + b"\3\1" + COPY + END
    constant = (255 - 13) // 14
    starts = [3, 5, 5 + constant]
    program = line_program(rows + set_address(0x1100), min_length=min_length)
    program = line_program(rows[: -len(END)] + b"\2\1" + END, min_length=min_length)
    first = 0x1100 + starts[0] * min_length
    assert place(program, first - 1) is None
    assert place(program, first) == ("/src/a.c", 2, None)
    fixed = 0x1100 + starts[2] * min_length + 6
    assert place(program, fixed - 1) == ("/src/a.c", 2, None)
    assert place(program, fixed) == ("/src/a.c", 3, None)
    assert place(program, fixed + min_length) is None


@pytest.mark.spec("LIN-9")
def test_instruction_words_of_several_operations_count_operations():
    """Of three operations in 16 bytes the first word's belong to one address."""
    step = b"\2\1\3\1" + COPY  # one operation further, one line further
    rows = set_address(0x1100) + COPY + 7 * step + b"\2\3" + END
    program = line_program(rows, min_length=16, max_ops=3)
    # Rows 1 to 3 are the operations 0 to 2 at 0x1100, 4 to 6 at 0x1110, 7 and 8 at 0x1120.
    assert place(program, 0x1100) == ("/src/a.c", 3, None)
    assert place(program, 0x111F) == ("/src/a.c", 6, None)
    assert place(program, 0x1120) == ("/src/a.c", 8, None)
    assert place(program, 0x1130) is None


@pytest.mark.spec("LIN-9")
def test_opcodes_that_are_not_known_are_stepped_over():
    """Standard ones by the header's count of operands, extended ones by their length."""
    lengths = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2))
    unknown = b"\x0d" + uleb(300) + uleb(7) + b"\0\4\x80\1\2\3" + b"\x0c\x81\1" + b"\x0a\x0b\6\7"
    discriminator = b"\0\3\4" + uleb(200)
    rows = set_address(0x1100) + unknown + discriminator + b"\3\4" + COPY + b"\2\4" + END
    assert place(line_program(rows, lengths=lengths), 0x1102) == ("/src/a.c", 5, None)


@pytest.mark.spec("LIN-9")
def test_a_header_of_ten_opcodes_has_special_ones_from_ten_on():
    """DWARF 2 has nine standard opcodes."""
    special = bytes([10 + 5 + 2])
    rows = set_address(0x1100) + special + b"\2\4" + END
    program = line_program(rows, 2, lengths=bytes((0, 1, 1, 1, 1, 0, 0, 0, 1)))
    assert place(program, 0x1100, 2) == ("/src/a.c", 3, None)


@pytest.mark.spec("LIN-9")
def test_special_opcodes_without_a_range_advance_nothing():
    """A header may state a line range of 0, which nothing can be divided by."""
    rows = set_address(0x1100) + b"\xff" + b"\2\4" + END
    assert place(line_program(rows, line_range=0), 0x1103) == ("/src/a.c", 1, None)


@pytest.mark.spec("LIN-9")
def test_of_overlapping_sequences_the_first_holds():
    """Linkers that fold identical functions leave the sequences of all of them."""
    first = set_address(0x1100) + b"\3\1" + COPY + b"\2\x10" + END
    second = set_address(0x1100) + b"\3\2" + COPY + b"\2\x10" + END
    program = line_program(first + second)
    assert place(program, 0x1108) == ("/src/a.c", 2, None)
    (lines,) = lines_only(program).lookup_many([0x1108] * 5)[:1]
    assert lines.frames[0].line == 2


@pytest.mark.spec("LIN-4")
@pytest.mark.parametrize("low", [0, 1, 0xFFF, 0x9000, (1 << 64) - 1, (1 << 64) - 2])
def test_a_sequence_that_begins_outside_the_code_is_none(low):
    """Linkers give code that they drop such an address; it is not in the way of what is there."""
    dead = set_address(low) + b"\3\1" + COPY + b"\2" + uleb(0x8000) + END
    live = set_address(0x1100) + b"\3\2" + COPY + b"\2\4" + END
    program = line_program(dead + live)
    assert place(program, 0x1101) == ("/src/a.c", 3, None)
    assert place(program, 0x1500) is None
    assert place(program, low) is None


@pytest.mark.spec("LIN-13")
@pytest.mark.parametrize("cut", range(1, 60))
def test_a_program_that_is_cut_is_told(cut):
    """Its length leads past the section's end: nothing is known, and it is said why."""
    program = line_program(set_address(0x1100) + COPY + b"\2\4" + END)
    lines = lines_only(program[:-cut]).lookup(0x1100)
    assert lines.frames == ()
    assert "lines cannot be read" in lines.notes[0]


@pytest.mark.spec("LIN-14")
def test_a_program_beyond_the_limit_is_told(monkeypatch):
    """One that long would take seconds."""
    monkeypatch.setattr(line_header, "MAX_LINE_PROGRAM", 32)
    lines = lines_only(line_program(set_address(0x1100) + COPY + b"\2\4" + END)).lookup(0x1100)
    assert "line program" in lines.notes[0]
    assert limits.MAX_LINE_PROGRAM > 1 << 20


@pytest.mark.spec("LIN-14")
@pytest.mark.parametrize("version", [4, 5])
def test_more_files_than_the_limit_are_told(monkeypatch, version):
    """A table can claim any number."""
    monkeypatch.setattr(line_header, "MAX_LINE_FILES", 3)
    program = line_program(set_address(0x1100) + COPY + b"\2\4" + END, version, files=(b"f",) * 5)
    lines = lines_only(program, version).lookup(0x1100)
    assert "files" in lines.notes[0]
