"""Traps of debug information: 21, 31 to 37 and 45."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trap_question import Question, Said, trap
from trap_shop import FIXED, Shop, at, mark, place

from okld.base.units import LinkAddr

OPTIONS = ("-O2", "-Iinclude", "-g")
INLINED = (*OPTIONS, *FIXED, "inlined.c")
PLACES = (
    place("include/inlined.h", "MARK(in_innermost)"),
    place("include/inlined.h", "return innermost("),
    place("inlined.c", "return middle("),
)
INNERMOST = Said(("innermost", "middle", "outermost"), None, PLACES)
OUTERMOST = Said(("outermost",), None, (place("inlined.c", "MARK(in_outermost)"),))


def inlined(path: Path) -> list[Question]:
    """Ask for an inlined place and for one that is not."""
    return [
        Question(path, LinkAddr(mark(path, "in_innermost")), INNERMOST),
        Question(path, LinkAddr(mark(path, "in_outermost")), OUTERMOST),
    ]


@trap(21, "compressed sections: zlib, .zdebug, zstd")
def compressed(shop: Shop) -> list[Question]:
    good = shop.cc("plain.elf", *INLINED)
    ways = (
        ("zlib.elf", "objcopy", "--compress-debug-sections=zlib-gabi", "ZLIB"),
        ("zdebug.elf", "objcopy", "--compress-debug-sections=zlib-gnu", ".zdebug_info"),
        ("zstd.elf", "llvm-objcopy-19", "--compress-debug-sections=zstd", "ZSTD"),
    )
    questions = []
    for name, tool, option, shown in ways:
        path = shop.copy(name, good, tool, option)
        assert shown in shop.run("readelf", "-St", path).decode()
        questions += inlined(path)
    return questions


@trap(31, "files and directories count from 0 in version 5, from 1 before")
def counted(shop: Shop) -> list[Question]:
    paths = []
    for version in (2, 3, 4, 5):
        words = (f"-gdwarf-{version}", *INLINED)
        path = shop.cc(f"gcc{version}.elf", *words)
        units = shop.run("readelf", "--debug-dump=info", path).decode()
        assert f"Version:       {version}\n" in units
        paths.append(path)
    for version in (4, 5):
        words = (f"-gdwarf-{version}", *bare())
        paths.append(shop.cc(f"clang{version}.elf", *words, cc="clang-19"))
    return [question for path in paths for question in inlined(path)]


def bare() -> list[str]:
    """Return the options that clang takes without a warning."""
    return [word for word in INLINED if word not in ("-no-pie", "-g")]


def split_program(
    shop: Shop, name: str, version: int, after: Callable[[Path], object], cc: str = "gcc"
) -> Path:
    """Build a program whose unit inlined.dwo lies beside it, until *after* is called."""

    def build(path: Path) -> None:
        flags = (*OPTIONS, f"-gdwarf-{version}", "-gsplit-dwarf", f"-I{shop.src}/include")
        flags = tuple(word for word in flags if word != "-g")
        here = path.parent
        shop.run(cc, "-c", *flags, shop.src / "inlined.c", "-o", "inlined.o", cwd=here)
        shop.run("gcc", *FIXED, "inlined.o", "-o", path, cwd=here)
        shop.unmark(path)
        after(path)

    return shop.make(name, build)


@trap(32, "split units: a file each, a package, lost")
def split(shop: Shop) -> list[Question]:
    def pack(path: Path, tool: str) -> None:
        shop.run(tool, "-o", f"{path}.dwp", path.with_name("inlined.dwo"))
        lose(path)

    def lose(path: Path) -> None:
        path.with_name("inlined.dwo").unlink()

    questions = []
    # Neither tool packs what the other's compiler makes of both versions.
    for version, cc, tool in ((4, "gcc", "dwp"), (5, "clang-19", "llvm-dwp-19")):
        name = f"packed{version}.elf"
        packed = split_program(shop, name, version, lambda path, t=tool: pack(path, t), cc)
        questions += inlined(packed)
        questions += inlined(split_program(shop, f"split{version}.elf", version, lambda _: None))
        lost = split_program(shop, f"lost{version}.elf", version, lose)
        kept = Said(("outermost",), None, PLACES[:1])
        questions.append(Question(lost, LinkAddr(mark(lost, "in_innermost")), kept))
    return questions


@trap(33, "alternate files of dwz: there, and lost")
def alternate(shop: Shop) -> list[Question]:
    def build(path: Path) -> None:
        for name in ("inlined", "shared"):
            words = (*OPTIONS, "-gdwarf-4", *FIXED, f"{name}.c")
            shop.run("gcc", *words, "-o", path.with_name(f"{name}.elf"))
            shop.unmark(path.with_name(f"{name}.elf"))
        words = ("-m", path.name, "-M", path.name, "inlined.elf", "shared.elf")
        shop.run("dwz", *words, cwd=path.parent)

    common = shop.make("common.debug", build)
    path = common.with_name("inlined.elf")
    assert b"DW_TAG_partial_unit" in shop.run("llvm-dwarfdump-19", "--debug-info", common)
    section = f".gnu_debugaltlink={nowhere(shop)}"
    lost = shop.copy("unshared.elf", path, "objcopy", "--update-section", section)
    unknown = Said(("<in alt file>", "<in alt file>", "outermost"), None, PLACES)
    return [*inlined(path), Question(lost, LinkAddr(mark(lost, "in_innermost")), unknown)]


def nowhere(shop: Shop) -> Path:
    """Return a file with the contents of a .gnu_debugaltlink that leads nowhere."""
    return shop.make("nowhere.bin", lambda path: path.write_bytes(b"/nowhere\0" + bytes(20)))


@trap(34, "ranges of code that the linker dropped")
def dropped(shop: Shop) -> list[Question]:
    words = ("-g", "-O1", "-fPIE", "-ffunction-sections", "-nostdlib", "-static-pie")
    questions = []
    for version in (4, 5):
        for cc, linker in (("g++", "bfd"), ("clang++-19", "lld-19")):
            options = (*words, f"-gdwarf-{version}", f"-fuse-ld={linker}", "-Wl,--gc-sections")
            name = f"gc-{linker}{version}.elf"
            path = shop.cc(name, *options, "gc_one.cc", "gc_two.cc", cc=cc)
            want = Said(("live",), None, (place("gc_one.cc", "in_live: nop"),))
            questions.append(Question(path, LinkAddr(mark(path, "in_live")), want))
    return questions


@trap(35, "relocations that are applied already")
def emitted(shop: Shop) -> list[Question]:
    path = shop.cc("emitted.elf", "-Wl,--emit-relocs", *INLINED)
    assert b".rela.debug_info" in shop.run("readelf", "-SW", path)
    return inlined(path)


@trap(36, "no .debug_aranges")
def unlisted(shop: Shop) -> list[Question]:
    clang = shop.cc("clang.elf", "-g", *bare(), cc="clang-19")
    cut = shop.copy(
        "cut.elf", shop.cc("plain.elf", *INLINED), "objcopy", "--remove-section=.debug_aranges"
    )
    for path in (clang, cut):
        assert b".debug_aranges" not in shop.run("readelf", "-SW", path)
    return [*inlined(clang), *inlined(cut)]


@trap(37, "rows for line 0")
def line_0(shop: Shop) -> list[Question]:
    words = ("-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-Ttext=0x401000")
    path = shop.cc("line0.elf", *words, "line0.s", cc="clang-19")
    return [
        Question(
            path, LinkAddr(at(path, "zero", plus)), Said(("zero",), plus, (("line0.c", line),))
        )
        for plus, line in ((0, 7), (1, None), (2, 9))
    ]


@trap(45, "lambdas, methods and functions of other units: names some references away")
def referred(shop: Shop) -> list[Question]:
    options = ("-O2", "-g", "-fno-exceptions", *FIXED)
    path = shop.cc("small.elf", *options, "small.cpp", cc="g++")
    lto = shop.cc("lto.elf", "-flto", "-O2", "-g", *FIXED, "lto_one.c", "lto_two.c")
    method = Said(("_ZNK5Shape4areaEi",), 0, (place("small.cpp", "MARK(in_area)"),))
    inner = Said(
        ("_ZZN4deep11with_lambdaEiENKUliE_clEi",), 0, (place("small.cpp", "MARK(in_lambda)"),)
    )
    two = (place("lto_two.c", "in_two"), place("lto_one.c", "return from_two("))
    return [
        Question(path, LinkAddr(mark(path, "in_area")), method),
        Question(path, LinkAddr(mark(path, "in_lambda")), inner),
        Question(lto, LinkAddr(mark(lto, "in_two")), Said(("from_two", "_start"), None, two)),
    ]
