"""Build ids, against what readelf says."""

from __future__ import annotations

import struct

import pytest
from made import COMPILERS

from okld.base.view import View
from okld.syms.build_id import build_id
from okld.syms.elf_file import ElfFile

NAME = "0123456789abcdef00ff"
GOOD = struct.pack("<III", 4, len(NAME) // 2, 3) + b"GNU\0" + bytes.fromhex(NAME)
EIGHT = struct.pack("<III", 4, 3, 3) + b"GNU\0abc"


@pytest.mark.spec("DBG-6")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_class_and_order(compiler, tmp_path, run):
    """The bytes that a linker was told to write, from sections, segments and debug files."""
    (tmp_path / "a.c").write_text("int f(void) { return 1; }")
    run(*COMPILERS[compiler], "-g", "-fPIC", "-c", "a.c", "-o", "a.o")
    run("ld.lld-19", "-shared", f"--build-id=0x{NAME}", "a.o", "-o", "a.so")
    run("llvm-objcopy-19", "--strip-sections", "a.so", "headless.so")
    run("llvm-objcopy-19", "--only-keep-debug", "a.so", "a.debug")
    for file in ("a.so", "headless.so", "a.debug"):
        assert build_id(ElfFile(View.of_bytes((tmp_path / file).read_bytes()))) == NAME, file


@pytest.mark.spec("DBG-6")
def test_a_debug_files_program_headers_are_the_originals(stripped, run, opened):
    """What lies where the program header of the notes points is not asked."""
    data = bytearray(stripped.debug.read_bytes())
    elf = ElfFile(View.of_bytes(bytes(data)))
    note = next(s for s in elf.segments if s[0] == 4 and b"GNU" in data[s[2] : s[2] + s[5]])
    elsewhere = len(data)
    data += struct.pack("<III", 4, 4, 3) + b"GNU\0" + b"evil"
    place = elf.header.phoff + 56 * elf.segments.index(note)
    struct.pack_into("<Q", data, place + 8, elsewhere)
    assert build_id(ElfFile(View.of_bytes(data))) == stripped.build_id


@pytest.mark.spec("DBG-6")
@pytest.mark.parametrize(
    ("notes", "expected", "align"),
    [
        (struct.pack("<III", 5, 1, 3) + b"Other" + bytes(7) + b"x" + bytes(7) + EIGHT, "616263", 8),
        (struct.pack("<III", 4, 4, 3) + b"GNU\0abcd", "61626364", 4),
        (struct.pack("<III", 5, 1, 3) + b"Other\0\0\0x\0\0\0" + GOOD, NAME, 4),
        (b"", "", 4),
        (struct.pack("<III", 4, 4, 3), "", 4),
        (struct.pack("<III", 4, 4, 1) + b"GNU\0abcd", "", 4),
        (struct.pack("<III", 4, 4, 3) + b"ABC\0abcd", "", 4),
        (struct.pack("<III", 4, 0, 3) + b"GNU\0", "", 4),
        (struct.pack("<III", 0xFFFFFFFF, 0xFFFFFFFF, 3) + b"GNU\0abcd", "", 4),
        (struct.pack("<III", 4, 65, 3) + b"GNU\0" + bytes(65), "", 4),
    ],
)
def test_only_a_gnu_note_of_that_type_is_one(notes, expected, align, whole):
    """Not one of another owner, of another type, of nothing, of too much, or that is cut."""
    data = bytearray(whole.read_bytes())
    elf = ElfFile(View.of_bytes(bytes(data)))
    header = elf.header.shoff + 64 * elf.index(".note.gnu.build-id")
    struct.pack_into("<QQ", data, header + 24, len(data), len(notes))
    struct.pack_into("<Q", data, header + 48, align)
    assert build_id(ElfFile(View.of_bytes(data + notes))) == expected
