"""Mach-O: object files, libraries, fat files and dSYM bundles, built by clang, lld and llvm."""

from __future__ import annotations

import shutil

import pytest
from foreign_programs import LINE_OF_HIDDEN, ask, opened

from okld.base.errors import Refusal
from okld.base.units import FileOffset, ImageOffset, SectionOffset
from okld.image.open import open_file
from okld.syms.answer import Miss
from okld.syms.foreign import open_foreign
from okld.syms.options import Options

ARCHES = ("arm64", "x86_64")


def functions(shop, path) -> list[tuple[str, int]]:
    rows = map(str.split, shop.run("llvm-nm-19", path).splitlines())
    return sorted((row[2], int(row[0], 16)) for row in rows if len(row) == 3 and row[1] in "tT")


@pytest.mark.spec("OBJ-1", "OBJ-3")
@pytest.mark.parametrize("arch", ARCHES)
def test_functions_and_data(shop, arch):
    """Each function's bytes are its own, by the name its source gives it; data is no function."""
    path = shop.library(arch)
    for name in ("hidden", "twice", "mainf"):
        start = shop.at(path, f"_{name}")
        for offset in (0, 4):
            found = ask(path, start + offset)
            assert (found.name, found.symbol, found.offset) == (name, name, offset)
            assert (found.kind, found.size, found.approximate) == ("function", 0, False)
    found = ask(path, shop.at(path, "_data_word") + 2)
    assert (found.name, found.offset, found.kind) == ("data_word", 2, "object")


@pytest.mark.spec("OBJ-3")
@pytest.mark.parametrize("arch", ARCHES)
def test_stubs(shop, arch):
    """A stub has the name of the function that it jumps to."""
    path = shop.library(arch)
    rows = shop.run("llvm-objdump-19", "--section-headers", path).split("\n")
    address = next(int(row.split()[3], 16) for row in rows if " __stubs " in row)
    found = ask(path, address + 1)
    assert (found.name, found.offset, found.kind) == ("puts@plt", 1, "plt")


@pytest.mark.spec("OBJ-4")
def test_symbols_end_with_their_section(shop):
    """The last function ends with its section, where no symbol follows."""
    path = shop.library("arm64")
    rows = shop.run("llvm-objdump-19", "--section-headers", path).split("\n")
    _, _, size, start, *_ = next(row.split() for row in rows if " __text " in row)
    end = int(start, 16) + int(size, 16)
    assert ask(path, end - 1).name == "mainf"
    assert ask(path, end - 1).offset == end - 1 - shop.at(path, "_mainf")
    after = ask(path, end)
    assert after.name is None or after.kind == "plt"


@pytest.mark.spec("OBJ-4")
def test_stripped_functions_are_not_their_neighbours(shop):
    """Where a function lost its symbol, the list of function starts still ends the one before."""
    path = shop.library("arm64")
    stripped = shop.here / "stripped.dylib"
    shop.run("llvm-strip-19", "-x", path, "-o", stripped)
    start = shop.at(path, "_hidden")
    assert "_hidden" not in shop.run("llvm-nm-19", stripped)
    names = [name for name, value in functions(shop, path) if value < start]
    assert names  # something before it could be taken for it
    assert isinstance(ask(stripped, start + 4), Miss)
    assert ask(stripped, start - 1).name == "twice"


ASSEMBLY = """\
    .section __TEXT,__text,regular,pure_instructions
    .globl _outer
_outer:
    nop
    .alt_entry _inner
_inner:
    nop
ltmp9:
    nop
Ltail:
    nop
    .globl _weak
    .weak_definition _weak
_weak:
_local:
    nop
"""


@pytest.mark.spec("OBJ-4", "OBJ-1")
def test_labels_are_inside_their_function(shop):
    """Alternate entries and an assembler's labels are no answers; weak is before local."""
    (shop.here / "labels.s").write_text(ASSEMBLY)
    path = shop.here / "labels.o"
    shop.run("clang-19", "-target", "x86_64-apple-macos11", "-c", "labels.s", "-o", path)
    assert shop.at(path, "_inner") == 1
    assert [ask(path, address).name for address in range(4)] == ["outer"] * 4
    assert [ask(path, address).offset for address in range(4)] == [0, 1, 2, 3]
    assert (ask(path, 4).name, ask(path, 4).aliases) == ("weak", ("local",))


@pytest.mark.spec("OBJ-4")
def test_debugging_entries_never_answer(shop):
    """The debug map's entries (N_STAB), with values of their own, are not among the symbols."""
    path = shop.library("arm64")
    assert " FUN " in shop.run("llvm-nm-19", "-a", path)
    with opened(path) as foreign:
        names = [symbol.name for symbol in foreign.table()]
    wanted = [row.split()[-1] for row in shop.run("llvm-nm-19", path).splitlines()]
    assert sorted(names) == sorted(name.removeprefix("_") for name in wanted)


@pytest.mark.spec("OBJ-2")
@pytest.mark.parametrize("kind", [(), ("-fat64",)], ids=["fat", "fat64"])
def test_the_program_that_is_named(shop, kind):
    """A fat file's program is the one that is named, by any of its names, or none is read."""
    parts = {arch: shop.library(arch) for arch in ARCHES}
    path = shop.fat(f"both{''.join(kind)}", *kind, *parts.values())
    for arch, part in parts.items():
        with opened(part) as foreign:
            uuid = foreign.identity
        start = shop.at(part, "_hidden")
        spelled = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}".upper()
        for name in (arch, uuid, spelled, "aarch64" if arch == "arm64" else "X86_64"):
            found = ask(path, start + 4, architecture=name)
            assert (found.name, found.offset) == ("hidden", 4)
        with opened(path, architecture=arch) as foreign:
            assert (foreign.identity, foreign.code[0][0]) == (uuid, shop.at(part, "_twice"))


@pytest.mark.spec("OBJ-2")
@pytest.mark.parametrize("wanted", ["", "ppc", "0" * 32])
def test_no_program_is_chosen_silently(shop, wanted):
    """Without a name that one program has, the file is refused with what it holds."""
    path = shop.fat("two", *map(shop.library, ARCHES))
    with pytest.raises(Refusal, match=r"x86_64, arm64.*\[OBJ-2\]"):
        ask(path, 0, architecture=wanted)


@pytest.mark.spec("OBJ-2")
def test_a_thin_file_is_not_another(shop):
    """A file of one program that is not the one that is named is refused, too."""
    with pytest.raises(Refusal, match="arm64"):
        ask(shop.library("arm64"), 0, architecture="x86_64")


@pytest.mark.spec("OBJ-6")
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_lines_of_an_object_file(shop, arch, version):
    """An object file's own DWARF gives llvm-symbolizer's frames, at every instruction."""
    path = shop.object(arch, version)
    end = shop.at(path, "_mainf")
    for address in range(0, end, 4):
        found = ask(path, address)
        got = [(frame.function or found.symbol, frame.line or 0) for frame in found.frames]
        assert got == shop.frames(path, address)
        assert found.frames[-1].file.endswith("/unit.c")


@pytest.mark.spec("OBJ-6")
def test_a_note_says_where_lines_are(shop):
    """A library without DWARF names the object files of its debug map."""
    path = shop.library("arm64")
    with opened(path) as foreign:
        assert foreign.debug() is None
        assert any("1 object files" in note and "arm64.o" in note for note in foreign.notes)


def bundle(shop, name: str, arch: str = "arm64"):
    """Return a library in a directory of its own, with the bundle of *arch* to put somewhere."""
    here = shop.here / name
    here.mkdir()
    path = here / "lib.dylib"
    shutil.copy(shop.library("arm64"), path)
    return path, shop.dsym(shop.library(arch), here / "made.dSYM")


PLACES = {
    "beside": ("lib.dylib.dSYM", ()),
    "given bundle": ("there.dSYM", ("there.dSYM",)),
    "directory of bundles": ("symbols/lib.dylib.dSYM", ("symbols",)),
}


@pytest.mark.spec("OBJ-5")
@pytest.mark.parametrize("where", PLACES)
def test_dsym_by_uuid(shop, where):
    """The dSYM of the program's UUID gives its lines, wherever it may lie."""
    place, dirs = PLACES[where]
    path, made = bundle(shop, where)
    (path.parent / place).parent.mkdir(exist_ok=True)
    made.rename(path.parent / place)
    address = shop.at(path, "_hidden") + 4
    found = ask(path, address, debug_dirs=tuple(str(path.parent / each) for each in dirs))
    assert [(f.function, f.line) for f in found.frames] == [("hidden", LINE_OF_HIDDEN)]
    assert ask(path, address, external=False).frames == ()


@pytest.mark.spec("OBJ-5")
def test_dsym_of_an_app(shop):
    """A dSYM lies beside the bundle that its program is in."""
    path, made = bundle(shop, "app")
    inside = path.parent / "Demo.app/Contents/MacOS"
    inside.mkdir(parents=True)
    made.rename(path.parent / "Demo.app.dSYM")
    program = path.rename(inside / "Demo")
    found = ask(program, shop.at(program, "_hidden") + 4)
    assert [f.line for f in found.frames] == [LINE_OF_HIDDEN]


@pytest.mark.spec("OBJ-5")
def test_dsym_of_another_build(shop):
    """A dSYM of another UUID gives nothing; where it was asked for, it is refused."""
    path, made = bundle(shop, "other", arch="x86_64")
    made.rename(f"{path}.dSYM")
    address = shop.at(path, "_hidden") + 4
    with opened(path) as foreign:
        found = foreign.lookup(address, lines=True)
        assert (found.name, found.frames) == ("hidden", ())
        assert any("another build" in note for note in foreign.notes)
    with pytest.raises(Refusal, match="OBJ-5"):
        ask(path, address, debug_file=f"{path}.dSYM")


@pytest.mark.spec("OBJ-5")
def test_a_stripped_program_has_its_dsym_s_names(shop):
    """A function whose symbol was stripped has the name that the dSYM keeps."""
    path, made = bundle(shop, "stripped")
    address = shop.at(path, "_hidden") + 4
    shop.run("llvm-strip-19", "-x", path)
    assert isinstance(ask(path, address, lines=False), Miss)
    made.rename(f"{path}.dSYM")
    assert ask(path, address, lines=False).name == "hidden"


@pytest.mark.spec("OBJ-10")
def test_kinds_of_addresses(shop):
    """A program's code is found by link address, image offset, file offset and section."""
    path = shop.here / "program"
    words = ("-platform_version", "macos", "11.0", "11.0", "-undefined", "dynamic_lookup")
    shop.run(
        "ld64.lld-19", "-arch", "arm64", "-e", "_mainf", *words, shop.object("arm64"), "-o", path
    )
    start = shop.at(path, "_hidden")
    assert start > 1 << 32  # the image base
    rows = shop.run("llvm-readobj-19", "--sections", path).split("\n")
    at = next(i for i, row in enumerate(rows) if "Name: __text " in row)
    fields = dict(row.split(": ") for row in rows[at + 1 : at + 6] if ": " in row)
    fields = {key.strip(): value for key, value in fields.items()}
    text, offset = int(fields["Address"], 16), int(fields["Offset"])
    wanted = {
        start: start + 4,
        "image": ImageOffset(start + 4 - (1 << 32)),
        "file": FileOffset(offset + start + 4 - text),
        "section": SectionOffset("__text", start + 4 - text),
        "whole name": SectionOffset("__TEXT,__text", start + 4 - text),
        "number": SectionOffset(1, start + 4 - text),
    }
    for address in wanted.values():
        found = ask(path, address)
        assert (found.name, found.offset, found.value) == ("hidden", 4, start)
    fat = shop.fat("fat-program", path, shop.library("x86_64"))
    with open_file(fat) as file:
        foreign = open_foreign(file, Options(cache=False, architecture="arm64"))
        code = path.read_bytes()[offset : offset + 64]
        place = fat.read_bytes().index(code)
        assert foreign.space.to_link(FileOffset(place)) == text
        assert foreign.space.guess(start - (1 << 32)) == start - (1 << 32)
        assert isinstance(foreign.space.guess(start - (1 << 32)), ImageOffset)
        assert not isinstance(foreign.space.guess(start), ImageOffset)
    for nowhere in (
        FileOffset(1 << 40),
        SectionOffset("__none", 0),
        SectionOffset("__text", 1 << 20),
    ):
        assert isinstance(ask(path, nowhere), Miss)
