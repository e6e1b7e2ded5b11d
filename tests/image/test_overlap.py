"""Files whose parts overlap so often that describing them would take their size many times over."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from elf_fields import Fields

from okld.base.errors import FormatError
from okld.image.open import describe

HELLO = Path(__file__).parents[2] / "testdata" / "images" / "hello.x86_64.ok"
BODY = bytes(0x1000)
TIMES = 100


def elf_sections() -> bytes:
    """Return an image each of whose sections is the whole file."""
    fields = Fields(HELLO.read_bytes())
    for section in fields.shdr:
        section.sh_type, section.sh_offset, section.sh_size = 1, 0, len(fields.data)
    return bytes(fields.data)


def elf_segments() -> bytes:
    """Return an image with as many notes as it has segments, each of them the whole file."""
    fields = Fields(HELLO.read_bytes())
    for segment in fields.segments:
        segment.p_type, segment.p_offset, segment.p_filesz = 4, 0, 1 << 63
    return bytes(fields.data)


def pe() -> bytes:
    """Return a PE file of sections that all have the same bytes."""
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, TIMES, 0, 0, 0, 0, 2)
    size = len(BODY)
    section = b".text\0\0\0" + struct.pack("<IIIIIIHHI", size, size, size, 64, 0, 0, 0, 0, 0)
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + coff + section * TIMES + BODY


def macho(order: str, wide: bool) -> bytes:
    """Return a Mach-O file of segments that all have the same bytes."""
    word, kind, magic = ("Q", 0x19, 0xFEEDFACF) if wide else ("I", 1, 0xFEEDFACE)
    layout = f"{order}II16s{word * 4}IIII"
    size = struct.calcsize(layout)
    command = struct.pack(layout, kind, size, b"__TEXT", 0, len(BODY), 0, len(BODY), 5, 5, 0, 0)
    header = struct.pack(f"{order}IIIIIII", magic, 7, 3, 2, TIMES, size * TIMES, 0)
    return header + bytes(4 * wide) + command * TIMES + BODY


def fat() -> bytes:
    """Return a fat file each of whose slices is the whole file."""
    size = 8 + 20 * 64 + len(BODY)
    row = struct.pack(">IIIII", 7, 3, 0, size, 0)
    return struct.pack(">II", 0xCAFEBABE, 64) + row * 64 + BODY


@pytest.mark.spec("CLI-4")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(elf_sections(), id="elf-sections"),
        pytest.param(elf_segments(), id="elf-segments"),
        pytest.param(pe(), id="pe"),
        pytest.param(macho("<", True), id="macho-64"),
        pytest.param(macho(">", True), id="macho-64-big-endian"),
        pytest.param(macho("<", False), id="macho-32"),
        pytest.param(macho(">", False), id="macho-32-big-endian"),
        pytest.param(fat(), id="fat"),
    ],
)
def test_parts_that_overlap_many_times_are_refused(tmp_path: Path, data: bytes) -> None:
    """Before the bytes are copied, with the sum of them and the limit, which is four times all."""
    path = tmp_path / "overlap"
    path.write_bytes(data)
    with pytest.raises(FormatError) as refusal:
        describe(path)
    assert str(refusal.value).startswith("bytes of all segments and sections together (got 0x")
    assert f"limit {4 * len(data):#x}) [CLI-4]" in str(refusal.value)


@pytest.mark.spec("CLI-4")
@pytest.mark.parametrize("size", [(1 << 30) + 1, 1 << 42])
def test_a_file_too_long_to_be_held_is_refused(tmp_path: Path, size: int) -> None:
    """A sparse file costs its maker nothing."""
    path = tmp_path / "sparse"
    path.write_bytes(HELLO.read_bytes())
    os.truncate(path, size)
    with pytest.raises(FormatError, match=rf"^length of the file \(got {size:#x}, limit 0x4"):
        describe(path)


@pytest.mark.spec("CLI-4")
@pytest.mark.parametrize("keep", [1, 64, 500])
def test_an_elf_file_without_its_section_headers_is_described(tmp_path: Path, keep: int) -> None:
    """What the file has lost is left out."""
    path = tmp_path / "cut"
    path.write_bytes(HELLO.read_bytes()[:-keep])
    assert describe(path).segments == describe(HELLO).segments
