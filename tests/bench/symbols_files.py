"""The files whose addresses are named: generated ones, and large ones of the system's packages."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from okld.image.open import open_file
from okld.syms.build_id import build_id
from okld.syms.elf_file import ElfFile

MANY = 500_000  # symbols of the generated library, which takes 413 MB
BODY = 700  # bytes of each of its functions
CLASSES = 25  # of the generated program, which takes 3 MB

INSTALLED = {
    "interpreter": "/usr/bin/python3.11d",
    "JVM": "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "kernel": "/usr/lib/debug/boot/vmlinux-*",
}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """
    A file and addresses of it.

    Attributes:
        name: What it is.
        path: The file, with its debug information.
        bare: The same without, for names alone.
        aranges: Whether it has `.debug_aranges`; None: no debug information at all.
        debug_bytes: Bytes of its debug sections in the file.
        symbols: How many functions it names.
        addresses: Some inside of functions, 100,000 of them.
    """

    name: str
    path: Path
    bare: Path
    aranges: bool | None
    debug_bytes: int
    symbols: int
    addresses: list[int]


def subjects(work: Path) -> Iterator[Subject]:
    """Give the files; one that is not installed is named and left out."""
    yield _subject("C++", _program(work, "g++"), work)
    yield _subject("C++, clang", _program(work, "clang++"), work)
    for name, pattern in INSTALLED.items():
        found = sorted(Path("/").glob(pattern[1:]))
        path = _debug_file(found[-1]) if found else None
        if path is None:
            print(f"{name}: left out, {pattern} or its debug file is not installed")
            continue
        yield _subject(name, path, work)
    yield _subject("library", _library(work), work)


def _subject(name: str, path: Path, work: Path) -> Subject:
    bare = work / f"{name}.bare"
    subprocess.run(["objcopy", "--strip-debug", path, bare], check=True, stderr=subprocess.DEVNULL)
    with open_file(path) as file:
        elf = ElfFile(file.view, str(path))
        parts = [
            elf.sections[index][5]
            for section, index in elf.names().items()
            if section.startswith((".debug_", ".zdebug_"))
        ]
        aranges = bool(elf.index(".debug_aranges")) if elf.index(".debug_info") else None
    functions = list(_functions(path))
    return Subject(
        name=name,
        path=path,
        bare=bare,
        aranges=aranges,
        debug_bytes=sum(parts),
        symbols=len(functions),
        addresses=_inside(functions, 100_000),
    )


def _functions(path: Path) -> Iterator[tuple[int, int]]:
    """Give where each function begins, and its size."""
    words = ["nm", "--print-size", "--defined-only", path]
    for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    ):
        match line.split():
            case [value, size, "t" | "T" | "w" | "W", _] if int(size, 16):
                yield int(value, 16), int(size, 16)


def _inside(functions: list[tuple[int, int]], count: int) -> list[int]:
    """Return addresses inside of *functions*, each byte of them as likely."""
    chance = random.Random(4)
    chosen = chance.choices(functions, weights=[size for _, size in functions], k=count)
    return [value + chance.randrange(size) for value, size in chosen]


def _debug_file(path: Path) -> Path | None:
    """Return the file that has the debug information of the one at *path*: itself, or another."""
    with open_file(path) as file:
        elf = ElfFile(file.view, str(path))
        if elf.index(".debug_info"):
            return path
        wanted = build_id(elf)
    found = Path(f"/usr/lib/debug/.build-id/{wanted[:2]}/{wanted[2:]}.debug")
    return found if found.exists() else None


def _program(work: Path, compiler: str) -> Path:
    """Build a C++ program of templates and inlined functions."""
    source = work / "program.cc"
    source.write_text(
        "#include <map>\n#include <string>\n#include <vector>\n"
        + "".join(
            f"struct K{n} {{ int v; bool operator<(const K{n}& o) const {{ return v < o.v; }} }};\n"
            f"int use{n}(int x) {{\n"
            f"    std::map<K{n}, std::string> m; std::vector<K{n}> l;\n"
            f"    for (int i = 0; i < x; i++) {{ m[K{n}{{i}}] = std::to_string(i);\n"
            f"        l.push_back(K{n}{{x}}); }}\n"
            f"    return m.size() + l.size();\n}}\n"
            for n in range(CLASSES)
        )
        + "int main(int c, char**) { int s = 0;\n"
        + "".join(f"    s += use{n}(c);\n" for n in range(CLASSES))
        + "    return s & 1;\n}\n"
    )
    program = work / f"program.{compiler}"
    subprocess.run([compiler, "-g", "-O2", "-o", program, source], check=True)
    return program


def _library(work: Path) -> Path:
    """Build a library of half a million functions."""
    source = work / "library.s"
    with source.open("w") as out:
        out.write(".text\n")
        for n in range(MANY):
            name = f"_ZN7library9namespace8function{n}Ei"
            out.write(f".globl {name}\n.type {name}, @function\n{name}: .skip {BODY + n % 64}\n")
            out.write(f".size {name}, . - {name}\n")
    library = work / "library.so"
    subprocess.run(["as", "-o", work / "library.o", source], check=True)
    subprocess.run(["ld", "-shared", "-o", library, work / "library.o"], check=True)
    (work / "library.o").unlink()
    source.unlink()
    return library
