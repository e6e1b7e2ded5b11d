"""Headers of both classes and byte orders say what lief says of them."""

from __future__ import annotations

import struct

import lief
import pytest

from okld.base.errors import FormatError
from okld.base.limits import MAX_SECTIONS
from okld.base.view import View
from okld.elf.header import name_section, read_header, read_sections, read_segments


@pytest.mark.spec("IMG-2", "SYM-1")
def test_the_file_header(made: tuple[bytes, int, str]) -> None:
    """Class, order and every field are those that lief reads."""
    data, bits, order = made
    header = read_header(View.of_bytes(data), "X-1")
    binary = lief.ELF.parse(data)
    want = binary.header
    assert (header.bits, header.order, header.ident) == (bits, order, bytes(want.identity))
    assert header.type == want.file_type.value
    assert header.machine == want.machine_type.value
    assert header.version == 1
    assert header.entry == want.entrypoint
    assert (header.phoff, header.shoff) == (want.program_header_offset, want.section_header_offset)
    assert header.flags == want.processor_flag
    assert header.ehsize == want.header_size
    assert header.phentsize == want.program_header_size
    assert header.phnum == want.numberof_segments
    assert header.shentsize == want.section_header_size
    assert header.shnum == want.numberof_sections
    assert header.shstrndx == want.section_name_table_idx


@pytest.mark.spec("IMG-5", "SYM-1")
def test_the_program_headers(made: tuple[bytes, int, str]) -> None:
    """Fields come in one order, though 32-bit files have them in another."""
    data, _bits, _order = made
    view = View.of_bytes(data)
    binary = lief.ELF.parse(data)
    want = [
        (
            int(s.type) & 0xFFFFFFFF,
            int(s.flags),
            s.file_offset,
            s.virtual_address,
            s.physical_address,
            s.physical_size,
            s.virtual_size,
            s.alignment,
        )
        for s in binary.segments
    ]
    got = read_segments(view, read_header(view, "X-1"), "X-1")
    assert [p[1:] for p in got] == [p[1:] for p in want]
    assert [p[0] for p in got if p[0] < 8] == [p[0] for p in want if p[0] < 8]


@pytest.mark.spec("IMG-6", "SYM-1")
def test_the_section_headers(made: tuple[bytes, int, str]) -> None:
    """Offsets, sizes, links and entry sizes are those that lief reads, and the names are found."""
    data, _bits, _order = made
    view = View.of_bytes(data)
    header = read_header(view, "X-1")
    got = read_sections(view, header, "X-1")
    binary = lief.ELF.parse(data)
    sections = list(binary.sections)
    want = [
        (s.virtual_address, s.file_offset, s.size, s.link, s.information, s.alignment, s.entry_size)
        for s in sections
    ]
    assert [s[3:] for s in got] == want
    names = got[name_section(header, got)][4]
    assert [data[names + s[0] : data.index(0, names + s[0])].decode() for s in got] == [
        s.name for s in sections
    ]


def many_sections(count: int) -> bytes:
    """Return a file of *count* section headers, stated as the gABI says for more than 65,279."""
    ident = b"\x7fELF\2\1\1" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 0, 0xFFFF)
    first = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, 69_999, 0, 0, 0)
    return ident + header + first


@pytest.mark.spec("SYM-1")
def test_more_than_65279_sections() -> None:
    """The first header then holds the count, and the index of the names."""
    view = View.of_bytes(many_sections(70_000) + bytes(64 * 69_999))
    header = read_header(view, "X-1")
    sections = read_sections(view, header, "X-1")
    assert len(sections) == 70_000
    assert name_section(header, sections) == 69_999


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize("count", [2, 70_000, MAX_SECTIONS + 1, 1 << 63])
def test_sections_that_are_not_there(count: int) -> None:
    """A count is believed only as far as the file goes."""
    view = View.of_bytes(many_sections(count))
    with pytest.raises(FormatError, match=r"section.*\[X-9\]"):
        read_sections(view, read_header(view, "X-1"), "X-9")


@pytest.mark.spec("ERR-1")
def test_no_section_header() -> None:
    """A file without any gives an empty list."""
    data = bytearray(many_sections(1))
    data[40:48] = bytes(8)
    view = View.of_bytes(data)
    assert read_sections(view, read_header(view, "X-1"), "X-1") == []


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "magic differs .got nothing"),
        (b"a text", "magic differs .got 61207465"),
        (b"\x7fELF", "past the end"),
        (b"MZ" + bytes(62), "magic"),
        (b"\x7fELF\3\1\1" + bytes(57), "class"),
        (b"\x7fELF\2\3\1" + bytes(57), "byte order"),
        (b"\x7fELF\2\1\1" + bytes(40), "past the end"),
    ],
)
def test_what_is_no_elf_file(data: bytes, says: str) -> None:
    """The refusal carries the rule that the reader gave."""
    with pytest.raises(FormatError, match=says) as refusal:
        read_header(View.of_bytes(data), "X-7")
    assert refusal.value.rule == "X-7"


@pytest.mark.spec("ERR-1")
def test_a_program_header_of_another_size(made: tuple[bytes, int, str]) -> None:
    """Entries are decoded only at their class's own size."""
    view = View.of_bytes(made[0])
    header = read_header(view, "X-1")
    header.phentsize += 8
    with pytest.raises(FormatError, match=r"entry size"):
        read_segments(view, header, "X-1")
