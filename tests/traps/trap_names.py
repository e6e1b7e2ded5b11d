"""Traps of symbol tables: 1 to 6, 8 to 16, 22 and 23."""

from __future__ import annotations

from pathlib import Path

from trap_question import Question, Said, trap
from trap_shop import FIXED, Shop, addresses, at, place, section

from okld.base.units import LinkAddr


def names(shop: Shop) -> Path:
    """Return the file made of names.s, with a constant among its code's addresses."""
    return shop.cc("names.elf", *FIXED, "-Wl,--defsym=abs_in_text=0x401001", "names.s")


def library(shop: Shop, name: str, *options: str) -> Path:
    """Return a library with versions and imports; no debug information unless asked for."""
    words = ("-O1", "-fPIC", "-shared", "-nostdlib", "-Wl,--version-script=lib.map")
    return shop.cc(name, *words, *options, "lib.c")


def ask(path: Path, symbol: str, plus: int, name: str, offset: int) -> Question:
    return Question(path, LinkAddr(at(path, symbol, plus)), Said((name,), offset))


def nothing(path: Path, address: int) -> Question:
    return Question(path, LinkAddr(address), Said())


@trap(1, "a function of size 0")
def size_0(shop: Shop) -> list[Question]:
    path = names(shop)
    return [ask(path, "asmf", 0, "asmf", 0), ask(path, "asmf", 7, "asmf", 7)]


@trap(2, "a label inside a sized function")
def label(shop: Shop) -> list[Question]:
    path = names(shop)
    return [ask(path, "outer", 4, "outer", 4), ask(path, "outer", 6, "outer", 6)]


@trap(3, "after a nested function ends")
def nested(shop: Shop) -> list[Question]:
    path = names(shop)
    inside = ask(path, "nest", 0xA, "nest_in", 2)
    return [ask(path, "nest", 4, "nest", 4), inside, ask(path, "nest", 0x12, "nest", 0x12)]


@trap(4, "aliases, local, weak and global")
def aliases(shop: Shop) -> list[Question]:
    return [ask(names(shop), "zz_local", 2, "mm_global", 2)]


@trap(5, "two globals at one address; identical code folded")
def two_globals(shop: Shop) -> list[Question]:
    path = names(shop)
    text = shop.run("readelf", "-sW", path).decode()
    first = min(("ga", "gb"), key=lambda name: text.index(f" {name}\n"))
    flags = ("-ffunction-sections", "-fuse-ld=lld-19", "-Wl,--icf=all", "-g", "-O1", *FIXED[:3])
    folded = shop.cc("icf.elf", *flags, "icf.c", cc="clang-19")
    assert at(folded, "a1") == at(folded, "a2")
    # The linker keeps the debug information of the copy that it kept.
    information = shop.run("llvm-dwarfdump-19", "--name=a1", "--name=a2", folded).decode()
    kept = f"{at(folded, 'a1'):016x}"
    parts = information.split("DW_TAG_subprogram")
    name = "a1" if any(kept in part and '"a1"' in part for part in parts) else "a2"
    return [ask(path, "ga", 1, first, 1), ask(folded, "a1", 4, name, 4)]


@trap(6, "padding between functions")
def padding(shop: Shop) -> list[Question]:
    path = names(shop)
    return [ask(path, "_start", 3, "_start", 3), nothing(path, at(path, "_start", 0x10))]


def thumb(shop: Shop) -> Path:
    words = ("-mthumb", "-g", "-O1", *FIXED, "thumb.c")
    return shop.cc("thumb.elf", *words, cc="arm-linux-gnueabihf-gcc")


@trap(8, "mapping symbols")
def mapping(shop: Shop) -> list[Question]:
    path = thumb(shop)
    table = shop.run("readelf", "-sW", path).decode()
    assert " $t\n" in table
    assert " $d\n" in table
    end = section(path, ".text")
    literal = at(path, "helper", 0x10)  # where "$d" is: the function's literal pool
    assert f"{literal:08x}     0 NOTYPE  LOCAL  DEFAULT    1 $d" in table
    assert literal < end[0] + end[2]
    return [Question(path, LinkAddr(literal), Said(("helper",), 0x10))]


@trap(9, "Thumb functions, whose symbols are odd")
def odd(shop: Shop) -> list[Question]:
    path = thumb(shop)
    here = place("thumb.c", "return helper(3);")
    call = Said(("_start",), 4, (here,))
    first = at(path, "_start") & ~1
    return [
        Question(path, LinkAddr(first), Said(("_start",), 0)),
        Question(path, LinkAddr(first + 4), call),
        Question(path, LinkAddr(first + 5), call),
        Question(path, LinkAddr(at(path, "helper") & ~1), Said(("helper",), 0)),
    ]


@trap(10, "an IFUNC, whose address is in its resolver")
def ifunc(shop: Shop) -> list[Question]:
    bare, told = library(shop, "lib.so"), library(shop, "libg.so", "-g")
    shown = Said(("resolve",), 2, (place("lib.c", "static int (*resolve(void))(int)"),))
    return [
        ask(bare, "ifn", 2, "ifn", 2),
        Question(told, LinkAddr(at(told, "ifn", 2)), Said(shown.names, 2)),
    ]


@trap(11, "a thread-local symbol whose offset is a code address")
def thread_local(shop: Shop) -> list[Question]:
    path = shop.cc("tls.so", "-shared", "-nostdlib", "-Wl,-Ttext=0", "tls.s")
    assert at(path, "tls_var") == at(path, "code")
    return [ask(path, "code", 2, "code", 2)]


@trap(12, "data among the code")
def data(shop: Shop) -> list[Question]:
    return [ask(names(shop), "tbl", 4, "tbl", 4)]


@trap(13, "absolute symbols in the range of the code")
def absolute(shop: Shop) -> list[Question]:
    path, lib = names(shop), library(shop, "lib.so")
    assert at(path, "abs_in_text") == at(path, "_start", 1)
    assert addresses(lib)["V2"] == 0
    low = nothing(lib, section(lib, ".dynsym")[0])  # above V1 and V2, and below every function
    return [ask(path, "_start", 2, "_start", 2), low]


@trap(14, "behind the last symbol, and behind the section")
def behind(shop: Shop) -> list[Question]:
    path = names(shop)
    start, _, size = section(path, ".text")
    inside = ask(path, "last", 2, "last", 2)
    return [inside, nothing(path, at(path, "last", 3)), nothing(path, start + size)]


@trap(15, "stubs of a procedure linkage table")
def stubs(shop: Shop) -> list[Question]:
    questions = []
    for cet in ("none", "full"):
        path = library(shop, f"lib-{cet}.so", f"-fcf-protection={cet}")
        listing = shop.run("objdump", "-d", path).decode()
        for name in ("puts@plt", "getchar@plt"):
            row = next(row for row in listing.splitlines() if row.endswith(f"<{name}>:"))
            address = LinkAddr(int(row.split()[0], 16) + 4)
            questions.append(Question(path, address, Said((name,), 4)))
    return questions


@trap(16, "a static function of a stripped library")
def stripped(shop: Shop) -> list[Question]:
    whole = library(shop, "lib.so")
    path = shop.make("stripped.so", lambda out: shop.run("strip", "-s", "-o", out, whole))
    exported = Question(path, LinkAddr(at(whole, "exported", 4)), Said(("exported",), 4))
    return [nothing(path, at(whole, "hidden_static", 2)), exported]


@trap(22, "versions in names")
def versions(shop: Shop) -> list[Question]:
    whole = library(shop, "lib.so")
    bare = shop.make("unversioned.so", lambda out: shop.run("strip", "-s", "-o", out, whole))
    old, new = at(whole, "old_foo"), at(whole, "new_foo")
    return [
        Question(path, LinkAddr(address + 1), Said(("foo",), 1))
        for path in (whole, bare)
        for address in (old, new)
    ]


@trap(23, "clones and cold parts")
def clones(shop: Shop) -> list[Question]:
    options = ("-O2", "-g", "-fno-exceptions", *FIXED)
    cold = shop.cc("small.elf", *options, "small.cpp", cc="g++")
    clone = shop.cc("clones.elf", *options, "clones.c")
    bare = shop.make("bare.elf", lambda out: shop.run("strip", "-g", "-o", out, clone))
    started = place("small.cpp", "abort_here(n);")
    called = place("clones.c", "sink = n;")
    return [
        Question(cold, LinkAddr(at(cold, "warm.cold")), Said(("warm",), 0, (started,))),
        Question(
            clone,
            LinkAddr(at(clone, "specialised.constprop.0")),
            Said(("specialised",), 0, (called,)),
        ),
        ask(bare, "specialised.constprop.0", 0, "specialised.constprop.0", 0),
    ]
