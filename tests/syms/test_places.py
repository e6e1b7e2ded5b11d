"""Every kind of address of every kind of file, where readelf or the linker's options fix it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from okld.base.units import FileOffset, ImageOffset, LinkAddr, SectionOffset
from okld.base.view import View
from okld.syms.answer import Found, Miss
from okld.syms.elf_file import ElfFile
from okld.syms.layout import code_ranges
from okld.syms.places import from_link, to_link
from okld.syms.table import Table

SOURCE = """
.globl _start
.type _start,@function
_start: .skip 16
.size _start, .-_start
.type last,@function
last: .skip 4
.size last, .-last
.data
.globl datum
.type datum,@object
datum: .skip 8
.size datum, 8
"""


def elf_of(path: Path) -> ElfFile:
    return ElfFile(View.of_bytes(path.read_bytes()), str(path))


def name(elf: ElfFile, address: int) -> str:
    """Return what lies at an address of any kind, as "name+offset", or the reason for nothing."""
    link = to_link(elf, address)
    found = link if isinstance(link, Miss) else Table(elf).lookup(link)
    return f"{found.name}+{found.offset:#x}" if isinstance(found, Found) else found.reason


def section(path: Path, wanted: str) -> tuple[int, int]:
    """Return a section's address and file offset, as readelf shows them."""
    shown = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True)
    row = re.search(rf" {re.escape(wanted)} +\w+ +([0-9a-f]+) ([0-9a-f]+)", shown.stdout)
    assert row is not None
    return int(row[1], 16), int(row[2], 16)


LINKED = {
    "at 4 MiB": ["-Wl,-Ttext-segment=0x400000"],
    "at 0": ["-shared"],
    "a library at 4 MiB": ["-shared", "-Wl,-Ttext-segment=0x400000"],
    "no headers in memory": ["-Wl,-Ttext=0x600100", "-Wl,-n"],
}


@pytest.mark.spec("SYM-13")
@pytest.mark.parametrize("options", LINKED.values(), ids=LINKED)
def test_an_image_offset_counts_from_the_first_page(make, options):
    """From the lowest segment, rounded down to its page, whatever address the linker gave it."""
    path = make(SOURCE, *options)
    text, _ = section(path, ".text")
    shown = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True, text=True)
    lowest = min(int(row, 16) for row in re.findall(r"LOAD +\w+ (\w+)", shown.stdout))
    base = lowest & ~0xFFF
    elf = elf_of(path)
    assert name(elf, ImageOffset(text + 5 - base)) == "_start+0x5"
    assert name(elf, LinkAddr(text + 5)) == name(elf, text + 5) == "_start+0x5"
    assert to_link(elf, ImageOffset(0)) == base


@pytest.mark.spec("SYM-14")
@pytest.mark.parametrize("options", [["-fuse-ld=lld"], ["-fuse-ld=bfd"]], ids=["lld", "bfd"])
def test_a_file_offset_goes_where_its_segment_goes(make, options):
    """Where a byte of the file lies in memory its segment says; lld keeps the two apart."""
    path = make(SOURCE, *options, "-Wl,-z,noseparate-code", cc="clang")
    text, offset = section(path, ".text")
    elf = elf_of(path)
    assert name(elf, FileOffset(offset + 17)) == "last+0x1"
    address, offset = section(path, ".data")
    assert to_link(elf, FileOffset(offset + 3)) == address + 3
    assert name(elf, FileOffset(offset + 3)) == "datum+0x3"
    assert name(elf, FileOffset(1 << 40)) == "no segment holds that byte of the file"
    assert text != 0


@pytest.mark.spec("SYM-14")
def test_a_debug_files_own_offsets_are_not_those_of_the_program(make, tmp_path):
    """Its program headers are the program's, its bytes are not; with the program's they answer."""
    path, debug = make(SOURCE, "-fuse-ld=lld", cc="clang"), tmp_path / "debug"
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    text, offset = section(path, ".text")
    elf, of_program = elf_of(debug), elf_of(path).segments
    assert isinstance(to_link(elf, FileOffset(offset)), Miss)
    assert to_link(elf, FileOffset(offset + 2), of_program) == text + 2
    assert name(elf, text + 2) == "_start+0x2"
    assert to_link(elf, ImageOffset(7), of_program) == to_link(elf_of(path), ImageOffset(7))


@pytest.mark.spec("SYM-15", "SYM-16")
def test_a_section_and_an_offset_name_one_place_of_a_relocatable_file(make):
    """By the section's name or its index; its link address leads back to both."""
    path = make(SOURCE, "-c")
    elf = elf_of(path)
    assert name(elf, SectionOffset(".text", 17)) == "last+0x1"
    assert name(elf, SectionOffset(elf.index(".text"), 17)) == "last+0x1"
    assert name(elf, SectionOffset(".data", 2)) == "datum+0x2"
    place = to_link(elf, SectionOffset(".data", 2))
    assert isinstance(place, int)
    assert (from_link(elf, place).section, int(from_link(elf, place))) == (elf.index(".data"), 2)
    assert from_link(elf, 0) == 0
    _, offset = section(path, ".text")
    assert name(elf, FileOffset(offset + 1)) == "_start+0x1"
    assert [s.value for s in Table(elf) if s.name == "last"] == [16]


@pytest.mark.spec("SYM-16")
def test_a_file_and_its_debug_file_agree_where_code_is(make, tmp_path):
    """Also where a section was added to one of them, before its code or behind it."""
    path, more = make(SOURCE, "-c"), tmp_path / "more.o"
    added = tmp_path / "added"
    added.write_bytes(bytes(100))
    command = ["objcopy", f"--add-section=.more={added}", "--set-section-flags=.more=alloc"]
    subprocess.run([*command, path, more], check=True)
    place = to_link(elf_of(path), SectionOffset(".text", 17))
    assert isinstance(place, int)
    assert place == to_link(elf_of(more), SectionOffset(".text", 17))
    assert place < to_link(elf_of(path), SectionOffset(".data", 0))


@pytest.mark.spec("SYM-15")
@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (SectionOffset(".none", 0), "no section is named .none"),
        (SectionOffset(99, 0), "no section is number 99"),
        (SectionOffset(0, 0), "no section is number 0"),
        (SectionOffset(".text", 20), "past the end of the section named .text"),
        (SectionOffset(".symtab", 0), "the section named .symtab is not in memory"),
        (ImageOffset(0), "a relocatable file is not one piece in memory"),
        (FileOffset(1), "no section of the program holds that byte of the file"),
    ],
)
def test_what_is_no_place_of_a_relocatable_file_is_a_reason(make, where, reason):
    """A section that is not there, one that is shorter, one that no program has in memory."""
    assert name(elf_of(make(SOURCE, "-c")), where) == reason


@pytest.mark.spec("SYM-15")
def test_a_section_of_a_linked_file_is_a_place_too(make):
    """Its address and the offset."""
    path = make(SOURCE)
    assert to_link(elf_of(path), SectionOffset(".text", 3)) == section(path, ".text")[0] + 3


@pytest.mark.spec("SYM-16")
def test_a_number_alone_needs_one_section_that_is_long_enough(make):
    """Of two sections with code that both have the offset neither is guessed."""
    source = "".join(
        f'.section .text.{f},"ax",@progbits\n.type {f},@function\n{f}: .skip {size}\n'
        f".size {f},{size}\n"
        for f, size in (("one", 8), ("two", 16), ("long", 99))
    )
    elf = elf_of(make(source, "-c"))
    assert name(elf, 20) == "long+0x14"
    assert name(elf, 9) == "in which section: .text.two, .text.long"
    assert name(elf, 0) == "in which section: .text.one, .text.two, .text.long"
    assert name(elf, 99) == "outside every section with code"
    assert name(elf, SectionOffset(".text.two", 9)) == "two+0x9"
    assert len(code_ranges(elf)) == 3
    assert not set(range(*code_ranges(elf)[0])) & set(range(*code_ranges(elf)[1]))


@pytest.mark.spec("SYM-15")
def test_sections_of_one_name_are_told_apart_by_their_index(make):
    """A group's sections may have the name of others; an offset that only one has is that one's."""
    source = "".join(
        f'.section .text.same,"axG",@progbits,{f},comdat\n.type {f},@function\n{f}: .skip {size}\n'
        f".size {f},{size}\n"
        for f, size in (("small", 8), ("large", 32))
    )
    elf = elf_of(make(source, "-c"))
    first = elf.index(".text.same")
    second = next(i for i in range(first + 1, len(elf.sections)) if elf.sections[i][5] == 32)
    said = f"several sections are named .text.same: {first}, {second}"
    assert name(elf, SectionOffset(".text.same", 4)) == said
    assert name(elf, SectionOffset(".text.same", 8)) == "large+0x8"
    assert name(elf, SectionOffset(first, 4)) == "small+0x4"
    assert name(elf, SectionOffset(second, 4)) == "large+0x4"


@pytest.mark.spec("SYM-11", "SYM-15")
def test_a_relocatable_file_with_more_sections_than_an_index_counts(make):
    """Above 65,279 their count, their names' section and a symbol's own stand elsewhere."""
    source = "".join(
        f'.section .t{i},"ax"\n.globl f{i}\n.type f{i},@function\nf{i}: .skip 8\n.size f{i}, 8\n'
        for i in range(70_000)
    )
    elf = elf_of(make(source, "-c"))
    assert (elf.header.shnum, elf.header.shstrndx) == (0, 0xFFFF)
    for wanted in (0, 65_270, 65_290, 69_999):
        assert name(elf, SectionOffset(f".t{wanted}", 5)) == f"f{wanted}+0x5"
    assert name(elf, 5).startswith("in which section: .t0, .t1, .t2, .t3, ...")
