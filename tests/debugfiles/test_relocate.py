"""Debug sections of relocatable files, against what a linker makes of them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from made import COMPILERS, SOURCE

from okld.base.errors import FormatError
from okld.base.view import View
from okld.elf.header import SHT_SYMTAB
from okld.syms import relocate
from okld.syms.elf_file import FLAGS, OFFSET, SHF_ALLOC, SIZE, ElfFile
from okld.syms.layout import FIRST, section_addresses
from okld.syms.sections import Sections

PLACED = (".text", "one_code", "two_code", "table_data", "pointer_data", "zeros_data")
NAMES = ("info", "line", "aranges", "rnglists", "addr", "str_offsets", "str", "line_str", "abbrev")


def windows(sections: Sections, name: str, step: int) -> bytes:
    """Return a whole section, read in windows of *step* bytes."""
    size = sections.size(name)
    parts = (sections.window(name, at, min(step, size - at)) for at in range(0, size, step))
    return b"".join(parts)


@pytest.fixture(params=COMPILERS)
def made(request, tmp_path, run) -> Path:
    """Return a relocatable file with debug information, of each processor."""
    (tmp_path / "a.c").write_text(SOURCE)
    run(*COMPILERS[request.param], "-g", "-O1", "-c", "a.c", "-o", "a.o")
    return tmp_path / "a.o"


def link(elf: ElfFile, run) -> Path:
    """Link a file with each section where the layout has it, and strings left as they are."""
    at = section_addresses(elf)
    names = {index: name for name, index in elf.names().items()}
    starts = [
        f"--section-start={names[index]}={at[index]:#x}"
        for index, section in enumerate(elf.sections)
        if section[FLAGS] & SHF_ALLOC and names.get(index) in PLACED
    ]
    plain = ["-O0", "--no-relax", "--no-check-sections", "--entry=0", "--image-base=0x1000000"]
    run("ld.lld-19", *plain, *starts, elf.path, "-o", "a.elf")
    return Path(elf.path).with_name("a.elf")


@pytest.mark.spec("DBG-4")
def test_sections_are_what_a_linker_makes_of_them(made, opened, run, contents):
    """For ten compilers, lld's bytes: read whole, and in windows that cut through every field."""
    elf = opened(made)
    sections = Sections.of_elf(elf)
    linked = link(elf, run)
    present = [name for name in NAMES if sections.size(name)]
    assert {"info", "line", "str"} <= set(present)
    for name in present:
        expected = contents(linked, f".debug_{name}")
        assert bytes(sections.whole(name)) == expected, name
        assert windows(Sections.of_elf(elf), name, 3) == expected, name


@pytest.mark.spec("DBG-4")
def test_a_compressed_section_is_inflated_first(made, opened, run, contents):
    """Offsets of relocations count inflated bytes."""
    run("llvm-objcopy-19", "--compress-debug-sections=zlib", made, "packed.o")
    packed = opened(made.with_name("packed.o"))
    assert b"COMPRESSED" in run("readelf", "-tW", packed.path)
    plain = Sections.of_elf(opened(made))
    for name in ("info", "line"):
        assert bytes(Sections.of_elf(packed).whole(name)) == bytes(plain.whole(name))


@pytest.mark.spec("DBG-4")
def test_thread_local_variables_do_not_stop_the_reader(made, opened, run):
    """Offsets of thread-local variables are no absolute words, and no address depends on them."""
    made.with_name("a.c").write_text(
        SOURCE + "__thread int local = 4; int f(void) { return local; }"
    )
    for compiler in COMPILERS.values():
        run(*compiler, "-g", "-O1", "-c", "a.c", "-o", "tls.o")
        assert Sections.of_elf(opened(made.with_name("tls.o"))).whole("info")


DIFFERENCES = """
.text
start: call other
middle: nop
other: ret
.section .debug_rnglists
.uleb128 other - start
.byte other - middle
.uleb128 middle - start + 16384
.section .debug_addr
.half other - start
.quad other - middle
"""


@pytest.mark.spec("DBG-4")
def test_differences_of_addresses(tmp_path, run, opened, contents):
    """RISC-V's linker shortens code, so that lengths are relocations: lld's bytes, of any width."""
    (tmp_path / "a.s").write_text(DIFFERENCES)
    run("clang-19", "--target=riscv64-linux-gnu", "-mrelax", "-c", "a.s", "-o", "a.o")
    assert b"R_RISCV_SET_ULEB128" in run("llvm-readelf-19", "-rW", "a.o")
    elf = opened(tmp_path / "a.o")
    linked = link(elf, run)
    for name in ("rnglists", "addr"):
        assert bytes(Sections.of_elf(elf).whole(name)) == contents(linked, f".debug_{name}")


@pytest.mark.spec("DBG-4")
def test_fields_across_both_ends_of_a_window(tmp_path, run, opened, contents):
    """Addends that stand in the fields, in either byte order, none of whose bytes are 0."""
    lines = [f".4byte f + {0x01FEDC98 * n & 0xFFFFFFFF:#x}" for n in range(1, 20)]
    source = ".text\nnop\nnop\nf: nop\n.section .debug_info\n" + "\n".join(lines) + "\n"
    (tmp_path / "a.s").write_text(source)
    for target in ("mips-linux-gnu", "i386-linux-gnu"):
        run("clang-19", f"--target={target}", "-c", "a.s", "-o", "a.o")
        elf = opened(tmp_path / "a.o")
        expected = contents(link(elf, run), ".debug_info")
        for step in (1, 2, 3, 5, 7, 100):
            assert windows(Sections.of_elf(elf), "info", step) == expected


@pytest.fixture
def object_file(tmp_path, run) -> bytearray:
    (tmp_path / "a.c").write_text(SOURCE)
    run("gcc", "-g", "-O1", "-c", "a.c", "-o", "a.o")
    return bytearray((tmp_path / "a.o").read_bytes())


def of_bytes(data: bytes | bytearray) -> ElfFile:
    return ElfFile(View.of_bytes(data))


def table_of(data: bytearray, name: str = ".rela.debug_info") -> tuple[int, int]:
    """Return where a section is in the file, and its size."""
    elf = of_bytes(data)
    section = elf.sections[elf.index(name)]
    return section[OFFSET], section[SIZE]


@pytest.mark.spec("DBG-4")
@pytest.mark.parametrize("order", ["reversed", "two halves"])
def test_a_table_in_another_order_gives_the_same(object_file, order, monkeypatch):
    """The order of a table is no part of its meaning."""
    expected = bytes(Sections.of_elf(of_bytes(bytes(object_file))).whole("info"))
    at, size = table_of(object_file)
    entries = [bytes(object_file[i : i + 24]) for i in range(at, at + size, 24)]
    middle = len(entries) // 2
    changed = entries[::-1] if order == "reversed" else entries[middle:] + entries[:middle]
    object_file[at : at + size] = b"".join(changed)
    for chunk in (4, relocate.CHUNK):
        monkeypatch.setattr(relocate, "CHUNK", chunk)
        assert windows(Sections.of_elf(of_bytes(object_file)), "info", 16) == expected


@pytest.mark.spec("DBG-4")
def test_a_long_table_is_read_in_parts(object_file, monkeypatch):
    """Parts of any length give the same, also when few of them are held."""
    expected = bytes(Sections.of_elf(of_bytes(bytes(object_file))).whole("info"))
    monkeypatch.setattr(relocate, "KEPT", 1)
    for chunk in (1, 2, 3, 5):
        monkeypatch.setattr(relocate, "CHUNK", chunk)
        assert windows(Sections.of_elf(of_bytes(object_file)), "info", 7) == expected


@pytest.mark.spec("DBG-4")
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("type", 99, "unknown relocation"), ("symbol", 0x7FFFFFFF, "symbol of a relocation")],
)
def test_an_entry_that_means_nothing_is_refused(object_file, field, value, message):
    """A relocation that is not understood leaves no wrong address: its window is refused."""
    at, size = table_of(object_file)
    struct.pack_into("<I", object_file, at + size - 24 + (8 if field == "type" else 12), value)
    sections = Sections.of_elf(of_bytes(object_file))
    with pytest.raises(FormatError, match=message) as refused:
        sections.whole("info")
    assert refused.value.rule == "DBG-4"
    assert sections.window("info", 0, 4)


@pytest.mark.spec("DBG-4")
@pytest.mark.parametrize("what", ["machine", "crel", "no symbols"])
def test_relocations_of_no_known_form_are_refused(object_file, what):
    """Sections that would need unknown relocations are not given without them."""
    elf = of_bytes(object_file)
    index = elf.index(".rela.debug_info")
    header = elf.header.shoff + index * 64
    if what == "machine":
        struct.pack_into("<H", object_file, 18, 258)
    elif what == "crel":
        struct.pack_into("<I", object_file, header + 4, 0x40000014)
    else:
        struct.pack_into("<I", object_file, header + 40, 0xFFFF)
    with pytest.raises(FormatError) as refused:
        Sections.of_elf(of_bytes(object_file)).size("info")
    assert refused.value.rule == "DBG-4"


@pytest.mark.spec("DBG-4")
def test_a_linked_file_is_never_relocated(tmp_path, run, opened, contents):
    """Relocations that a linker left in a program's debug sections were applied by it already."""
    (tmp_path / "a.c").write_text(SOURCE)
    run("gcc", "-g", "-no-pie", "-Wl,--emit-relocs", "a.c", "-o", "a.elf")
    assert b".rela.debug_info" in run("readelf", "-SW", "a.elf")
    sections = Sections.of_elf(opened(tmp_path / "a.elf"))
    for name in ("info", "line", "aranges"):
        assert sections.whole(name) == contents(tmp_path / "a.elf", f".debug_{name}")


@pytest.mark.spec("DBG-4")
def test_a_symbol_of_a_section_beyond_65279(object_file):
    """Where st_shndx is SHN_XINDEX, the section's number is in SHT_SYMTAB_SHNDX."""
    expected = bytes(Sections.of_elf(of_bytes(bytes(object_file))).whole("info"))
    elf = of_bytes(object_file)
    table = next(i for i, s in enumerate(elf.sections) if s[1] == SHT_SYMTAB)
    at, size = elf.sections[table][OFFSET], elf.sections[table][SIZE]
    numbers = b""
    for entry in range(at, at + size, 24):
        (number,) = struct.unpack_from("<H", object_file, entry + 6)
        numbers += struct.pack("<I", number)
        if number:
            struct.pack_into("<H", object_file, entry + 6, 0xFFFF)
    # The table of numbers takes the place of a section that nobody reads.
    header = elf.header.shoff + elf.index(".comment") * 64
    struct.pack_into("<I", object_file, header + 4, 18)
    struct.pack_into("<QQI", object_file, header + 24, len(object_file), len(numbers), table)
    assert bytes(Sections.of_elf(of_bytes(object_file + numbers)).whole("info")) == expected


@pytest.mark.spec("DBG-4")
@pytest.mark.parametrize(
    ("section", "expected"), [(0xFFF1, 0x112233), (0, 0), (0xFFF2, 0), (0xFE00, 0)]
)
def test_symbols_that_are_in_no_section(section, expected, object_file):
    """An absolute one is its value; what is not defined, or common, is at 0."""
    at, size = table_of(object_file)
    offset, kind, symbol, _ = struct.unpack_from("<QIIq", object_file, at + size - 24)
    assert kind in (1, 10)  # R_X86_64_64, R_X86_64_32
    entry = table_of(object_file, ".symtab")[0] + 24 * symbol
    struct.pack_into("<HQ", object_file, entry + 6, section, 0x112233)
    struct.pack_into("<q", object_file, at + size - 8, 5)
    sections = Sections.of_elf(of_bytes(object_file))
    assert int.from_bytes(sections.window("info", offset, 4), "little") == expected + 5


@pytest.mark.spec("DBG-4")
def test_code_is_laid_first(object_file, tmp_path, run):
    """A section that was added to a module alone does not move its code against its debug file."""
    (tmp_path / "more").write_bytes(bytes(100))
    flags = ["--add-section=.more=more", "--set-section-flags", ".more=alloc,readonly"]
    run("objcopy", *flags, "a.o", "more.o")
    run("objcopy", "--only-keep-debug", "a.o", "a.debug")
    places = []
    for name in ("a.o", "more.o", "a.debug"):
        elf = of_bytes((tmp_path / name).read_bytes())
        at = section_addresses(elf)
        places.append([at[elf.index(code)] for code in (".text", "one_code", "two_code")])
    assert places[0] == places[1] == places[2]
    assert min(places[0]) == FIRST
