"""The reader's one door to debug sections."""

from __future__ import annotations

import os

import pytest
from made import SOURCE

from okld.base.errors import FormatError
from okld.base.limits import MAX_DEBUG_STRING, MAX_DEBUG_WHOLE
from okld.base.view import View
from okld.syms.elf_file import ElfFile
from okld.syms.sections import Sections


@pytest.mark.spec("DBG-5")
def test_windows_are_the_sections_bytes(whole, opened, contents):
    """Sizes and bytes are those that objcopy takes out of the file."""
    sections = Sections.of_elf(opened(whole))
    assert (sections.order, sections.address_size) == ("<", 8)
    for name in ("info", "abbrev", "line", "str", "line_str", "aranges"):
        data = contents(whole, f".debug_{name}")
        assert sections.size(name) == len(data)
        assert bytes(sections.window(name, 5, 7)) == data[5:12]
        assert bytes(sections.whole(name)) == data
    assert sections.size("types") == 0
    assert sections.whole("types") == b""


@pytest.mark.spec("DBG-5")
def test_only_what_is_asked_for_is_read(whole, monkeypatch, opened):
    """A window, or a string, of a section costs no more bytes of the file."""
    sections = Sections.of_elf(opened(whole))
    sections.size("info")
    sections.size("str")
    read = []
    pread = os.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        read.append(size)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", counted)
    sections.window("info", 10, 11)
    assert sum(read) == 11
    sections.cstring("str", 1)
    assert sum(read) <= 11 + 128


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize(("offset", "size"), [(-1, 1), (0, 11), (10, 1), (1 << 64, 0), (0, -1)])
def test_what_lies_outside_is_refused(offset, size):
    """No window reaches out of its section, nor into one that is not there."""
    sections = Sections.of_parts({"info": bytes(10)}, ">", 4)
    for name in ("info", "line"):
        with pytest.raises(FormatError) as refused:
            sections.window(name, offset, size)
        assert refused.value.rule == "LIN-1"


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize("length", [0, 1, 127, 128, 129, 5000])
def test_strings_of_any_length(length):
    """A string ends at its NUL, wherever the section ends after it."""
    text = b"x" * length
    sections = Sections.of_parts({"str": b"a\0" + text + b"\0"}, "<", 8)
    assert sections.cstring("str", 2) == text
    assert sections.cstring("str", 0) == b"a"


@pytest.mark.spec("LIN-1")
@pytest.mark.parametrize("offset", [0, 299, 300, 301, -1])
def test_a_string_that_does_not_end_is_refused(offset):
    """Where the section ends first, or the offset is outside, there is no string."""
    sections = Sections.of_parts({"str": b"x" * 300}, "<", 8)
    with pytest.raises(FormatError) as refused:
        sections.cstring("str", offset)
    assert refused.value.rule == "LIN-1"


@pytest.mark.spec("LIN-1")
def test_a_string_has_a_longest_length():
    """One that goes on for megabytes is no name."""
    long = b"x" * (2 * MAX_DEBUG_STRING) + b"\0"
    with pytest.raises(FormatError):
        Sections.of_parts({"str": long}, "<", 8).cstring("str", 0)


@pytest.mark.spec("DBG-2")
def test_a_section_that_is_too_large_is_not_held(tmp_path):
    """What is read whole has a limit; windows of it have none."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(MAX_DEBUG_WHOLE + 1)
    with path.open("rb") as file:
        view = View.of_fd(file.fileno(), MAX_DEBUG_WHOLE + 1)
        sections = Sections.of_parts({"info": view}, "<", 8)
        with pytest.raises(FormatError) as refused:
            sections.whole("info")
        assert refused.value.rule == "DBG-2"
        assert sections.window("info", MAX_DEBUG_WHOLE, 1) == b"\0"


@pytest.mark.spec("DBG-5")
def test_split_units_have_sections_of_their_own(tmp_path, run, opened, contents):
    """Sections with and without ".dwo" are not taken for each other, nor for a package's index."""
    (tmp_path / "a.c").write_text(SOURCE)
    run("gcc", "-g", "-gsplit-dwarf", "-c", "a.c", "-o", "a.o")
    run("llvm-dwp-19", "a.dwo", "-o", "a.dwp")
    split = Sections.of_elf(opened(tmp_path / "a.dwo"), dwo=True)
    for name in ("info", "str", "abbrev"):
        assert split.whole(name) == contents(tmp_path / "a.dwo", f".debug_{name}.dwo")
    assert Sections.of_elf(opened(tmp_path / "a.dwo")).size("info") == 0
    package = Sections.of_elf(opened(tmp_path / "a.dwp"), dwo=True)
    assert package.whole("cu_index") == contents(tmp_path / "a.dwp", ".debug_cu_index")


@pytest.mark.spec("DBG-5")
def test_units_of_types_are_not_the_units_of_code(tmp_path, run, opened):
    """Of sections of one name in a relocatable file the one outside every group is read."""
    (tmp_path / "a.cc").write_text(
        "struct A { int x; A *n; }; struct B { A a; }; int f(B *b) { return b->a.x; }"
    )
    run("g++", "-g", "-gdwarf-5", "-fdebug-types-section", "-c", "a.cc", "-o", "a.o")
    elf = opened(tmp_path / "a.o")
    listed = run("readelf", "-SW", "a.o").decode()
    groups = [line for line in listed.splitlines() if " .debug_info " in line]
    assert len(groups) > 1
    unit = Sections.of_elf(elf).window("info", 4, 3)
    assert bytes(unit) == b"\x05\0\x01"  # version 5, DW_UT_compile


@pytest.mark.spec("DBG-5")
def test_a_debug_section_without_bytes_is_not_there(whole, tmp_path, run):
    """What is NOBITS, or lies past the end of a file that was cut, has no bytes."""
    run("objcopy", "--only-keep-debug", whole, "a.debug")
    data = (tmp_path / "a.debug").read_bytes()
    elf = ElfFile(View.of_bytes(data))
    index = elf.index(".debug_info")
    at = elf.header.shoff + 64 * index
    for field, value in ((4, (8).to_bytes(4, "little")), (24, (1 << 40).to_bytes(8, "little"))):
        edited = bytearray(data)
        edited[at + field : at + field + len(value)] = value
        assert Sections.of_elf(ElfFile(View.of_bytes(edited))).size("info") == 0
