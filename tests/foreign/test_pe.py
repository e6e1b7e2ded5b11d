"""PE: programs and libraries of mingw, with their debug information and without."""

from __future__ import annotations

import struct

import pytest
from foreign_programs import LINE_OF_HIDDEN, ask, opened

from okld.base.errors import Refusal
from okld.base.units import FileOffset, ImageOffset, SectionOffset
from okld.image.open import open_file
from okld.syms.answer import Miss
from okld.syms.foreign import open_foreign
from okld.syms.options import Options

EDGES = ("StartAddress:", "EndAddress:")
FUNCTIONS = ("hidden", "twice", "mainf", "_start", "puts")


def stripped(shop, path):
    out = path.with_name(f"stripped-{path.name}")
    shop.run("x86_64-w64-mingw32-strip", path, "-o", out)
    return out


def base_of(shop, path) -> int:
    rows = shop.run("llvm-readobj-19", "--file-headers", path).split("\n")
    return int(next(row.split()[1] for row in rows if "ImageBase" in row), 16)


def ranges(shop, path) -> list[tuple[int, int]]:
    """Return (begin, end) of each function of the exception directory, by llvm-readobj."""
    rows = [row.split() for row in shop.run("llvm-readobj-19", "--unwind", path).split("\n")]
    edges = [row[-1].strip("()") for row in rows if row and row[0] in EDGES]
    marks = [int(edge, 16) for edge in edges]
    return list(zip(marks[::2], marks[1::2], strict=True))


@pytest.mark.spec("OBJ-7", "OBJ-8", "OBJ-1")
def test_functions_have_the_size_of_their_unwind_information(shop):
    """A function is where its section and value put it, and as long as the exception table says."""
    path = shop.dll("-g")
    sizes = {begin: end - begin for begin, end in ranges(shop, path)}
    for name in FUNCTIONS:
        start = shop.at(path, name)
        found = ask(path, start + 3)
        assert (found.name, found.offset, found.kind) == (name, 3, "function")
        assert found.size == sizes[start]
        assert not found.approximate
    found = ask(path, shop.at(path, "data_word") + 1)
    assert (found.name, found.offset, found.kind) == ("data_word", 1, "object")


@pytest.mark.spec("OBJ-7")
def test_constants_and_sections_are_no_answers(shop):
    """A constant is no address; nor is a section's or a file's symbol an answer."""
    path = shop.dll("-g")
    constant = shop.at(path, "__size_of_stack_reserve__")
    with opened(path) as foreign:
        names = {symbol.name for symbol in foreign.table()}
        link = foreign.space.to_link(constant)
        assert isinstance(foreign.lookup(link, lines=False), Miss)
    assert not names & {".text", ".data", ".file", ".bss"}
    last = max(end for _, end in ranges(shop, path))
    assert ask(path, last, lines=False).name not in ("mainf", "puts")


@pytest.mark.spec("OBJ-7", "OBJ-6")
def test_lines_by_long_section_names(shop):
    """DWARF in sections whose names are in the string table gives llvm-symbolizer's frames."""
    path = shop.dll("-g")
    assert b"/4\0\0\0\0\0\0" in path.read_bytes()  # such a name
    start = shop.at(path, "hidden")
    assert [f.line for f in ask(path, start).frames] == [LINE_OF_HIDDEN]
    for address in range(start, shop.at(path, "mainf"), 5):
        found = ask(path, address)
        got = [(frame.function or found.symbol, frame.line or 0) for frame in found.frames]
        assert got == shop.frames(path, address)


@pytest.mark.spec("OBJ-10")
def test_kinds_of_addresses(shop):
    """Code is found by address, RVA, file offset and section; a number's range tells the first."""
    path = shop.dll("-g")
    start, base = shop.at(path, "hidden"), base_of(shop, path)
    header = shop.run("x86_64-w64-mingw32-objdump", "-h", path).split()
    row = header.index(".text")
    text, offset = int(header[row + 2], 16), int(header[row + 4], 16)
    for address in (
        start + 3,
        ImageOffset(start + 3 - base),
        FileOffset(offset + start + 3 - text),
        SectionOffset(".text", start + 3 - text),
        SectionOffset(1, start + 3 - text),
    ):
        found = ask(path, address)
        assert (found.name, found.offset, found.value) == ("hidden", 3, start)
    with opened(path) as foreign:
        assert foreign.space.base == base
        assert isinstance(foreign.space.guess(start - base), ImageOffset)
        assert foreign.space.guess(start) == start


@pytest.mark.spec("OBJ-9", "OBJ-8")
def test_exports_are_bounded(shop):
    """With exports alone, a function without a name is nobody's, and a forwarder is no address."""
    whole = shop.dll("-g")
    path = stripped(shop, whole)
    found = ask(path, shop.at(whole, "twice") + 4)
    assert (found.name, found.offset, found.approximate) == ("twice", 4, False)
    assert found.aliases == ("#9",)
    assert isinstance(ask(path, shop.at(whole, "hidden") + 3), Miss)
    with opened(path) as foreign:
        assert foreign.table().source == "exports"
        by_name = {symbol.name: symbol for symbol in foreign.table()}
        assert by_name["moved"].section == 0
    data = path.read_bytes()
    header = shop.run("x86_64-w64-mingw32-objdump", "-h", path).split()
    row = header.index(".edata")
    text = data.index(b"NTDLL.RtlMoveMemory") - int(header[row + 4], 16) + int(header[row + 2], 16)
    assert ask(path, text).name is None


def without_exceptions(data: bytes) -> bytes:
    """Return a PE file whose header names no exception directory."""
    (pe,) = struct.unpack_from("<I", data, 60)
    place = pe + 24 + 112 + 3 * 8
    return data[:place] + bytes(8) + data[place + 8 :]


@pytest.mark.spec("OBJ-9")
def test_an_export_without_a_size_is_approximate(shop):
    """Without unwind information the nearest export is an answer that says it may be wrong."""
    whole = shop.dll("-g")
    path = shop.here / "bare.dll"
    path.write_bytes(without_exceptions(stripped(shop, whole).read_bytes()))
    start = shop.at(whole, "twice")
    found = ask(path, start + 4)
    assert (found.name, found.offset, found.approximate) == ("twice", 4, True)
    named = shop.here / "named.dll"
    named.write_bytes(without_exceptions(whole.read_bytes()))
    assert ask(named, start + 4, lines=False).approximate is False


@pytest.mark.spec("OBJ-5")
def test_a_debug_file_that_is_named(shop):
    """A stripped file has the lines of the file that it was stripped from."""
    whole = shop.dll("-g", "-Wl,--build-id")
    path = stripped(shop, whole)
    address = shop.at(whole, "twice")
    found = ask(path, address, debug_file=str(whole))
    assert [f.function for f in found.frames][-1] == "twice"
    with pytest.raises(Refusal, match="OBJ-5"):
        ask(path, address, debug_file=str(shop.dll("-g", "-Wl,--build-id", "-O2")))


PE_ARM64 = """
--- !COFF
OptionalHeader:
  AddressOfEntryPoint: 4096
  ImageBase: 5368709120
  SectionAlignment: 4096
  FileAlignment: 512
  MajorOperatingSystemVersion: 6
  MinorOperatingSystemVersion: 0
  MajorImageVersion: 0
  MinorImageVersion: 0
  MajorSubsystemVersion: 6
  MinorSubsystemVersion: 0
  Subsystem: IMAGE_SUBSYSTEM_WINDOWS_CUI
  DLLCharacteristics: [ ]
  SizeOfStackReserve: 1048576
  SizeOfStackCommit: 4096
  SizeOfHeapReserve: 1048576
  SizeOfHeapCommit: 4096
  ExceptionTable: { RelativeVirtualAddress: 8192, Size: 16 }
header:
  Machine: IMAGE_FILE_MACHINE_ARM64
  Characteristics: [ IMAGE_FILE_EXECUTABLE_IMAGE, IMAGE_FILE_LARGE_ADDRESS_AWARE ]
sections:
  - Name: .text
    Characteristics: [ IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_MEM_READ ]
    VirtualAddress: 4096
    VirtualSize: 256
    SectionData: INSTRUCTIONS
  - Name: .pdata
    Characteristics: [ IMAGE_SCN_CNT_INITIALIZED_DATA, IMAGE_SCN_MEM_READ ]
    VirtualAddress: 8192
    VirtualSize: 20
    SectionData: UNWIND
symbols:
  - { Name: packed, Value: 16, SectionNumber: 1, SimpleType: IMAGE_SYM_TYPE_NULL,
      ComplexType: IMAGE_SYM_DTYPE_FUNCTION, StorageClass: IMAGE_SYM_CLASS_EXTERNAL }
  - { Name: unpacked, Value: 64, SectionNumber: 1, SimpleType: IMAGE_SYM_TYPE_NULL,
      ComplexType: IMAGE_SYM_DTYPE_FUNCTION, StorageClass: IMAGE_SYM_CLASS_STATIC }
  - { Name: a_label, Value: 68, SectionNumber: 1, SimpleType: IMAGE_SYM_TYPE_NULL,
      ComplexType: IMAGE_SYM_DTYPE_NULL, StorageClass: IMAGE_SYM_CLASS_LABEL }
"""


@pytest.mark.spec("OBJ-8")
def test_arm64_unwind_information(shop):
    """Lengths stand in the entry, or in the record that it names, in units of four bytes."""
    packed = struct.pack("<II", 0x1010, 5 << 2 | 1)
    unpacked = struct.pack("<III", 0x1040, 0x2010, 3)  # the last word is the record
    text = PE_ARM64.replace("INSTRUCTIONS", "1F2003D5" * 64).replace(
        "UNWIND", (packed + unpacked).hex()
    )
    path = shop.here / "arm64.exe"
    (shop.here / "arm64.yaml").write_text(text)
    shop.run("yaml2obj-19", "arm64.yaml", "-o", path)
    found = ask(path, 5368709120 + 0x1010 + 19)
    assert (found.name, found.offset, found.size) == ("packed", 19, 20)
    assert isinstance(ask(path, 5368709120 + 0x1010 + 20), Miss)
    found = ask(path, 5368709120 + 0x1040 + 8)  # inside, behind a label of no size
    assert (found.name, found.offset, found.size) == ("unpacked", 8, 12)


@pytest.mark.spec("OBJ-6")
def test_a_note_names_the_pdb(shop):
    """A file whose lines are in a PDB says so, and which."""
    source = shop.here / "pdb.c"
    source.write_text("int entry(void) { return 3; }\n")
    flags = ("-target", "x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c")
    shop.run("clang-19", *flags, source, "-o", shop.here / "pdb.obj")
    shop.run(
        "lld-link-19", "/entry:entry", "/subsystem:console", "/debug", "/nodefaultlib", "pdb.obj"
    )
    with opened(shop.here / "pdb.exe") as foreign:
        assert foreign.debug() is None
        assert any("pdb.pdb" in note for note in foreign.notes)
        assert len(foreign.identity) == 32


@pytest.mark.spec("OBJ-1")
def test_many_are_as_one(shop):
    """Answers to many addresses at once are those to each."""
    path = shop.dll("-g")
    start = shop.at(path, "hidden") - 64
    addresses = list(range(start, start + 400, 3))
    with open_file(path) as file:
        foreign = open_foreign(file, Options(cache=False))
        many = foreign.lookup_many(addresses, lines=True)
        single = [foreign.lookup(address, lines=True) for address in addresses]
    assert [repr(found) for found in many] == [repr(found) for found in single]
    assert [getattr(f, "frames", ()) for f in many] == [getattr(f, "frames", ()) for f in single]
