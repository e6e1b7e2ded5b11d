"""Programs with debug information, their indexes, and what either says of an address."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from okld.image.open import open_file
from okld.syms.elf_sources import ElfSources
from okld.syms.index.build import build
from okld.syms.index.grow import grow
from okld.syms.index.reader import Index, open_index
from okld.syms.options import Options

ONE = """
static inline __attribute__((always_inline)) int twice(int x)
{
    return x * 2 +
           x % 7;
}
__attribute__((noinline)) int one(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += twice(i);
    return sum;
}
int two(int x);
int _start(int x) { return one(x) + two(x); }
"""
TWO = """
static inline __attribute__((always_inline)) int third(int x) { return x / 3 ^ x; }
static inline __attribute__((always_inline)) int both(int x) { return third(x) - third(x + 1); }
__attribute__((noinline)) int two(int x)
{
    return both(x)
         + 4;
}
int alias(int x) __attribute__((alias("two")));
int table[4] = {1, 2, 3, 4};
"""


def compile_all(place: Path, *options: str, cc: str = "gcc", name: str = "program") -> Path:
    """Build a program of two units, with debug information unless *options* say otherwise."""
    for number, text in enumerate((ONE, TWO)):
        (place / f"{number}.c").write_text(text)
    words = [cc, "-g", "-O2", "-nostdlib", "-o", name, "0.c", "1.c", *options]
    subprocess.run(words, cwd=place, check=True)
    return place / name


def build_index(path: Path, options: Options | None = None) -> int:
    """Build the whole index of a file, and return its size."""
    with open_file(path) as file:
        sources = ElfSources(file, options or Options())
        try:
            return build(file, sources, lambda done, total: None)
        finally:
            sources.close()


def grow_index(
    path: Path, asked: Iterable[int], *, lines: bool = True, options: Options | None = None
) -> str:
    """Let the index of a file grow by addresses; return why it did not, or ""."""
    with open_file(path) as file:
        sources = ElfSources(file, options or Options())
        try:
            return grow(file, sources, asked, lines=lines)
        finally:
            sources.close()


def opened(path: Path, options: Options | None = None) -> Index | None:
    """Open the index of a file, if there is one that holds."""
    with open_file(path) as file:
        return open_index(file, options or Options())


def by_index(
    path: Path, addresses: Iterable[int], *, lines: bool = True, options: Options | None = None
) -> list[object]:
    """Return what the index says of each address, None where it says nothing."""
    index = opened(path, options)
    if index is None:
        return [None for _ in addresses]
    try:
        return [told(each) for each in index.lookup_many(addresses, lines=lines)]
    finally:
        index.close()


def by_file(
    path: Path, addresses: Iterable[int], *, lines: bool = True, options: Options | None = None
) -> list[object]:
    """Return what the file itself says of each address."""
    with open_file(path) as file:
        sources = ElfSources(file, options or Options())
        try:
            return [told(sources.lookup(address, lines=lines)) for address in addresses]
        finally:
            sources.close()


def told(answer: object) -> object:
    """Return everything that an answer says, to be compared."""
    if answer is None:
        return None
    return type(answer).__name__, *(getattr(answer, name) for name in type(answer).__slots__)


def every_address(path: Path) -> list[int]:
    """Return all addresses of a file's sections with code, some around, and far ones."""
    with open_file(path) as file:
        places = ElfSources(file, Options()).elf.code()
    near = [address for low, high in places for address in range(low - 3, high + 3)]
    return [0, 1, *near, 1 << 40, (1 << 63) + 5, (1 << 64) - 1]


def files_of(place: Path) -> list[Path]:
    """Return all files below a directory."""
    return sorted(Path(root, name) for root, _, names in os.walk(place) for name in names)
