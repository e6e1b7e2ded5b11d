"""Traps of processors and of other formats than ELF: 38 to 42."""

from __future__ import annotations

from pathlib import Path

from trap_dwarf import INLINED, inlined
from trap_question import Question, Said, trap
from trap_shop import Shop, at, mark, place

from okld.base.units import ImageOffset, LinkAddr
from okld.syms.options import Options

HIDDEN = Said(("hidden",), 0, (place("mac.c", "return n * 3;"),))
WINDOWS = Said(("hidden",), 0, (place("pe.c", "return n * 3;"),))


@trap(38, "function descriptors of 64-bit PowerPC")
def descriptors(shop: Shop) -> list[Question]:
    path = shop.cc("ppc64.elf", "-mabi=elfv1", *INLINED, cc="powerpc64-linux-gnu-gcc")
    bare = shop.copy("ppc64-bare.elf", path, "powerpc64-linux-gnu-objcopy", "-g")
    listing = shop.run("powerpc64-linux-gnu-objdump", "-d", path).decode()
    row = next(row for row in listing.splitlines() if row.endswith("outermost>:"))
    address = LinkAddr(mark(path, "in_innermost"))
    named = Said(("outermost",), address - int(row.split()[0], 16))
    return [*inlined(path), Question(bare, address, named)]


@trap(39, "the other byte order, and 32 bits")
def classes(shop: Shop) -> list[Question]:
    small = ("-O2", "-g", "-Iinclude", "-nostdlib", "-static", "-Wl,--build-id=none", "inlined.c")
    compilers = (
        ("mips.elf", "mips-linux-gnu-gcc", ("-Wl,-e0",)),
        ("s390x.elf", "s390x-linux-gnu-gcc", ()),
        ("i386.elf", "gcc", ("-m32", "-fno-pic", "-no-pie", "-Wl,-Ttext=0xfffff000")),
    )
    paths = [shop.cc(name, *words, *small, cc=cc) for name, cc, words in compilers]
    return [question for path in paths for question in inlined(path)]


def library(shop: Shop, name: str, arch: str, *, symbols: str = "") -> Path:
    """Return a Mach-O library; *symbols*: of which processor the dSYM beside it is."""

    def build(path: Path) -> None:
        here = path.parent
        for of in {arch, symbols} - {""}:
            whole, part = here / f"{of}.dylib", here / f"{of}.o"
            target = ("-target", f"{of}-apple-macos11")
            shop.run("clang-19", *target, "-g", "-O1", "-c", "mac.c", "-o", part)
            flags = ("-platform_version", "macos", "11.0", "11.0", "-undefined", "dynamic_lookup")
            shop.run("ld64.lld-19", "-dylib", "-arch", of, *flags, "-o", whole, part)
            if of == symbols:
                shop.run("dsymutil-19", whole, "-o", f"{path}.dSYM")
                inner = Path(f"{path}.dSYM/Contents/Resources/DWARF")
                (inner / whole.name).rename(inner / path.name)
        (here / f"{arch}.dylib").rename(path)

    return shop.make(name, build)


@trap(40, "Mach-O: underscores, slices, debug information by UUID, stabs, stubs")
def mach(shop: Shop) -> list[Question]:
    arm = library(shop, "arm64.dylib", "arm64", symbols="arm64")
    intel = library(shop, "x86.dylib", "x86_64")
    wrong = library(shop, "wrong.dylib", "arm64", symbols="x86_64")
    questions = [
        Question(arm, LinkAddr(at(arm, "_hidden")), HIDDEN),
        Question(arm, LinkAddr(at(arm, "_mainf", 4)), Said(("mainf",), 4)),
        Question(wrong, LinkAddr(at(wrong, "_hidden", 4)), Said(("hidden",), 4)),
        Question(intel, LinkAddr(at(intel, "_hidden", 1)), Said(("hidden",), 1)),
    ]
    for name, option in (("fat.dylib", ()), ("fat64.dylib", ("-fat64",))):
        fat = shop.make(name, lambda path, o=option: lipo(shop, path, arm, intel, *o))
        for arch, part in (("arm64", arm), ("x86_64", intel)):
            options = Options(debug_dirs=(), cache=False, architecture=arch)
            address = LinkAddr(at(part, "_mainf", 4))
            words = (f"--default-arch={arch}",)
            questions.append(Question(fat, address, Said(("mainf",), 4), options, llvm=words))
    return questions


def lipo(shop: Shop, path: Path, *words: str | Path) -> None:
    shop.run("llvm-lipo-19", "-create", *words, "-output", path)


def windows(shop: Shop) -> Path:
    words = ("-g", "-O1", "-shared", "-nostdlib", "-Wl,--entry=_start", "pe.c", "pe.def")
    return shop.cc("trap.dll", *words, cc="x86_64-w64-mingw32-gcc")


def image_base(shop: Shop, path: Path) -> int:
    rows = shop.run("llvm-readobj-19", "--file-headers", path).decode().split("\n")
    return int(next(row.split()[1] for row in rows if "ImageBase" in row), 16)


@trap(41, "PE: long section names, relative addresses, absolute constants")
def portable(shop: Shop) -> list[Question]:
    path = windows(shop)
    address = at(path, "hidden")
    base = image_base(shop, path)
    assert at(path, "__size_of_stack_reserve__") < address
    return [
        Question(path, LinkAddr(address), WINDOWS),
        Question(path, ImageOffset(address - base), WINDOWS, given=address),
        Question(path, LinkAddr(at(path, "_start", 5)), Said(("_start",), 5)),
    ]


@trap(42, "PE: exports alone, one of them a forwarder")
def exports(shop: Shop) -> list[Question]:
    whole = windows(shop)
    path = shop.copy("exports.dll", whole, "x86_64-w64-mingw32-objcopy", "-S")
    data = path.read_bytes()
    base = image_base(shop, whole)
    at_text = data.index(b"NTDLL.RtlMoveMemory")
    header = shop.run("x86_64-w64-mingw32-objdump", "-h", path).decode().split()
    row = header.index(".edata")
    forwarder = int(header[row + 2], 16) + at_text - int(header[row + 4], 16)
    assert forwarder > base
    return [
        Question(path, LinkAddr(at(whole, "exported", 4)), Said(("exported",), 4)),
        Question(path, LinkAddr(at(whole, "_start", 5)), Said()),
        Question(path, LinkAddr(forwarder), Said()),
    ]
