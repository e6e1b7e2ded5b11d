"""Traps of files and of addresses: 17 to 20 and 24 to 30."""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

from trap_dwarf import INLINED, INNERMOST, inlined
from trap_names import library, names
from trap_question import Question, Said, trap
from trap_shop import FIXED, Shop, at, mark, section

from okld.base.units import FileOffset, ImageOffset, LinkAddr, SectionOffset
from okld.syms.options import Options

MANY = 70_000  # functions with a section each: more than e_shnum and st_shndx can count


@trap(17, "no section headers at all")
def headless(shop: Shop) -> list[Question]:
    questions = []
    for style in ("gnu", "sysv"):
        whole = library(shop, f"{style}.so", f"-Wl,--hash-style={style}")
        path = shop.copy(f"headless-{style}.so", whole, "llvm-objcopy-19", "--strip-sections")
        assert b"There are no sections" in shop.run("readelf", "-S", path)
        questions.append(Question(path, LinkAddr(at(whole, "exported", 4)), Said(("exported",), 4)))
    return questions


@trap(18, "a second, compressed symbol table in .gnu_debugdata")
def mini(shop: Shop) -> list[Question]:
    whole = library(shop, "lib.so")

    def build(path: Path) -> None:
        small = path.with_name("mini")
        shop.run("objcopy", "-S", "--keep-symbol=hidden_static", whole, small)
        data = path.with_name("mini.xz")
        data.write_bytes(lzma.compress(small.read_bytes()))
        shop.run("objcopy", "-S", f"--add-section=.gnu_debugdata={data}", whole, path)

    path = shop.make("mini.so", build)
    hidden = Question(path, LinkAddr(at(whole, "hidden_static", 2)), Said(("hidden_static",), 2))
    return [hidden, Question(path, LinkAddr(at(whole, "exported", 4)), Said(("exported",), 4))]


@trap(19, "a debug link: beside the file, below it, with another CRC, to itself")
def linked(shop: Shop) -> list[Question]:
    whole = shop.cc("plain.elf", *INLINED)
    questions = []
    for name, where in (
        ("beside.elf", "x.debug"),
        ("below.elf", ".debug/x.debug"),
        ("changed.elf", "x.debug"),
        ("itself.elf", "itself.elf"),
    ):

        def build(path: Path, where: str = where) -> None:
            debug = path.parent / where
            debug.parent.mkdir(exist_ok=True)
            shop.run("objcopy", "--only-keep-debug", whole, debug)
            link = path.with_name("stripped")
            # objcopy wants the file that is linked to under its own name.
            shop.run("objcopy", "-g", "-S", f"--add-gnu-debuglink={debug}", whole, link)
            link.replace(path)
            if path.name == "changed.elf":
                debug.write_bytes(debug.read_bytes() + b"\0")

        path = shop.make(name, build)
        right = INNERMOST if name in ("beside.elf", "below.elf") else Said()
        questions.append(Question(path, LinkAddr(mark(whole, "in_innermost")), right))
    return questions


@trap(20, "a debug file by build id, and one that has another")
def identified(shop: Shop) -> list[Question]:
    words = [word for word in INLINED if "build-id" not in word]
    whole, other = (
        shop.cc(f"{name}.elf", *words, f"-Wl,--build-id=0x{byte * 20}")
        for name, byte in (("identified", "11"), ("other", "33"))
    )
    path = shop.copy("known.elf", whole, "objcopy", "-S")
    address = LinkAddr(mark(whole, "in_innermost"))

    def tree(name: str, debug: Path) -> str:
        def build(path: Path) -> None:
            file = path / ".build-id" / "11" / ("11" * 19 + ".debug")
            file.parent.mkdir(parents=True)
            shop.run("objcopy", "--only-keep-debug", debug, file)

        return str(shop.make(name, build))

    right, wrong = tree("right.tree", whole), tree("wrong.tree", other)

    def question(place: str, want: Said, *, external: bool = True) -> Question:
        options = Options(debug_dirs=(place,), external=external, cache=False)
        llvm = (f"--debug-file-directory={place}",)
        return Question(path, address, want, options, tools=external, llvm=llvm)

    return [
        question(right, INNERMOST),
        question(wrong, Said()),
        question(right, Said(), external=False),
    ]


def based(shop: Shop) -> list[Path]:
    """Return a library that is linked to 0x400000, and an executable."""
    high = library(shop, "high.so", "-Wl,-Ttext-segment=0x400000")
    return [high, shop.cc("plain.elf", *INLINED)]


@trap(24, "bytes from where the image is loaded, of an image linked elsewhere")
def relative(shop: Shop) -> list[Question]:
    high, plain = based(shop)
    exported, deep = at(high, "exported", 4), mark(plain, "in_innermost")
    return [
        Question(high, ImageOffset(exported - 0x400000), Said(("exported",), 4), given=exported),
        Question(high, LinkAddr(exported), Said(("exported",), 4)),
        Question(plain, ImageOffset(deep - 0x400000), INNERMOST, given=deep),
    ]


@trap(25, "offsets in the file, where they are not the addresses")
def by_offset(shop: Shop) -> list[Question]:
    words = [word for word in INLINED if word not in ("-no-pie", FIXED[-1])]
    whole = shop.cc("lld.elf", *words, "-fuse-ld=lld-19", cc="clang-19")
    address = mark(whole, "in_innermost")
    start, offset, _ = section(whole, ".text")
    assert start - offset not in (0, 0x200000)

    def build(path: Path) -> None:
        debug = path.with_suffix(".debug")
        shop.run("llvm-objcopy-19", "--only-keep-debug", whole, debug)
        shop.run("llvm-objcopy-19", "-S", f"--add-gnu-debuglink={debug}", whole, path)

    parted = shop.make("parted.elf", build)
    place = FileOffset(address - start + offset)
    return [
        Question(whole, place, INNERMOST, given=address),
        Question(parted, place, INNERMOST, given=address),
        Question(parted.with_suffix(".debug"), place, Said(), tools=False),
    ]


@trap(26, "a debug file, whose code has no bytes")
def no_bits(shop: Shop) -> list[Question]:
    whole = shop.cc("plain.elf", *INLINED)
    path = shop.copy("only.debug", whole, "objcopy", "--only-keep-debug")
    text = next(r for r in shop.run("readelf", "-SW", path).decode().split("\n") if ".text" in r)
    assert "NOBITS" in text
    return inlined(path)


def many(shop: Shop) -> Path:
    """Return a relocatable file of MANY functions, `f0` and on, with a section each."""

    def build(path: Path) -> None:
        source = path.with_suffix(".s")
        source.write_text(
            "".join(
                f'.section .text.f{n},"ax",@progbits\n.type f{n},@function\n'
                f"f{n}: nop\nnop\n.size f{n},2\n"
                for n in range(MANY)
            )
        )
        shop.run("gcc", "-c", source, "-o", path)

    return shop.make("many.o", build)


@trap(27, "a relocatable file, whose sections all start at 0")
def relocatable(shop: Shop) -> list[Question]:
    path = shop.cc("sections.o", "-c", "-ffunction-sections", *INLINED[:2], "-g", "inlined.c")
    single = shop.cc("single.o", "-c", "-Os", "-g", "single.c")
    big = many(shop)
    where = SectionOffset(".text.outermost", mark(path, "in_innermost"))
    last = SectionOffset(f".text.f{MANY - 1}", 1)
    return [
        Question(path, where, INNERMOST, tools=False),
        Question(big, last, Said((f"f{MANY - 1}",), 1), tools=False),
        Question(big, LinkAddr(0), Said()),
        Question(single, LinkAddr(0), Said(("only_one",), 0)),
    ]


@trap(28, "more sections than e_shnum and st_shndx can count")
def extended(shop: Shop) -> list[Question]:
    path = many(shop)
    header = path.read_bytes()[:64]
    assert struct.unpack_from("<HH", header, 60) == (0, 0xFFFF)  # e_shnum, e_shstrndx
    return [
        Question(path, SectionOffset(f".text.f{n}", 1), Said((f"f{n}",), 1), tools=False)
        for n in (0, 0xFEFF, 0xFF00, MANY - 1)
    ]


@trap(29, "a name outside the string table; a table that does not end in NUL")
def corrupt(shop: Shop) -> list[Question]:
    def spoil(good: Path, name: str) -> Path:
        def change(data: bytearray) -> None:
            struct.pack_into("<I", data, entry(shop, good, name), 0x7FFFFFFF)

        return shop.edit(f"corrupt-{name}.elf", good, change)

    def unended(data: bytearray) -> None:
        _, offset, size = section(names(shop), ".strtab")
        data[offset + size - 1] = ord("x")

    plain = shop.cc("plain.elf", *INLINED)
    bare, told = spoil(names(shop), "outer"), spoil(plain, "outermost")
    loose = shop.edit("loose.elf", names(shop), unended)
    return [
        Question(bare, LinkAddr(at(names(shop), "outer", 6)), Said(("<corrupt>",), 6)),
        Question(bare, LinkAddr(at(names(shop), "nest", 4)), Said(("nest",), 4)),
        Question(told, LinkAddr(mark(plain, "in_innermost")), INNERMOST),
        Question(loose, LinkAddr(at(names(shop), "outer", 6)), Said(("outer",), 6)),
    ]


def entry(shop: Shop, path: Path, name: str) -> int:
    """Return the file offset of a symbol's entry in .symtab."""
    rows = shop.run("readelf", "-sW", path).decode().splitlines()
    row = next(row for row in rows if row.endswith(f" {name}"))
    return section(path, ".symtab")[1] + 24 * int(row.split(":")[0])


@trap(30, "a file whose end is missing")
def cut(shop: Shop) -> list[Question]:
    whole = library(shop, "lib.so")

    def shorten(data: bytearray) -> None:
        del data[-400:]

    path = shop.edit("cut.so", whole, shorten)
    return [Question(path, LinkAddr(at(whole, "exported", 4)), Said(("exported",), 4))]
