"""Programs of other formats, built from source, and what is asked of them."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from okld.base.units import LinkAddr
from okld.image.open import open_file
from okld.syms.answer import Found, Miss
from okld.syms.foreign import Foreign, open_foreign
from okld.syms.options import Options

SOURCE = """\
int puts(const char *);
static __attribute__((noinline, used)) int hidden(int x);
static inline __attribute__((always_inline)) int square(int x)
{
    return x * x;
}
__attribute__((noinline)) int twice(int x) { return hidden(x) + square(x + 1); }
static int hidden(int x) { if (x == 77) puts("hi"); return x * 3; }
int data_word = 5;
int mainf(int c) { return twice(c) + data_word; }
"""
LINE_OF_HIDDEN = 8
WINDOWS = f"""{SOURCE}
volatile int printed;
int puts(const char *s) {{ return printed = *s; }}
int _start(void) {{ return mainf(1); }}
"""
DEF = """\
LIBRARY trap
EXPORTS
  twice
  mainf
  data_word DATA
  moved=NTDLL.RtlMoveMemory
  hidden_too=twice @9 NONAME
"""


class Shop:
    """Builds programs in one directory, each once."""

    def __init__(self, here: Path) -> None:
        self.here = here
        (here / "unit.c").write_text(SOURCE)
        (here / "windows.c").write_text(WINDOWS)
        (here / "windows.def").write_text(DEF)
        self.object = functools.cache(self._object)
        self.library = functools.cache(self._library)
        self.dll = functools.cache(self._dll)

    def run(self, *command: str | Path) -> str:
        done = subprocess.run(
            command, cwd=self.here, check=True, capture_output=True, text=True, timeout=120
        )
        return done.stdout

    def _object(self, arch: str, *words: str) -> Path:
        path = self.here / f"{arch}{''.join(words)}.o"
        target = ("-target", f"{arch}-apple-macos11")
        self.run("clang-19", *target, "-g", "-O1", *words, "-c", "unit.c", "-o", path)
        return path

    def _library(self, arch: str, *words: str) -> Path:
        path = self.here / f"{arch}{''.join(words)}.dylib"
        version = ("-platform_version", "macos", "11.0", "11.0")
        flags = ("-dylib", "-undefined", "dynamic_lookup", *words)
        self.run("ld64.lld-19", "-arch", arch, *version, *flags, self.object(arch), "-o", path)
        return path

    def fat(self, name: str, *words: str | Path) -> Path:
        path = self.here / name
        self.run("llvm-lipo-19", "-create", *words, "-output", path)
        return path

    def dsym(self, program: Path, place: Path) -> Path:
        self.run("dsymutil-19", program, "-o", place)
        return place

    def _dll(self, *words: str, cc: str = "x86_64-w64-mingw32-gcc") -> Path:
        path = self.here / f"trap{''.join(words).replace('/', '')}.dll"
        fixed = (
            "-O1",
            "-fno-toplevel-reorder",
            "-fno-builtin",
            "-shared",
            "-nostdlib",
            "-Wl,--entry=_start",
        )
        self.run(cc, *fixed, *words, "windows.c", "windows.def", "-o", path)
        return path

    def at(self, path: Path, name: str, *words: str) -> int:
        """Return the address of a symbol by llvm-nm."""
        rows = map(str.split, self.run("llvm-nm-19", *words, path).splitlines())
        return next(int(row[0], 16) for row in rows if row[-1] == name and len(row) == 3)

    def frames(self, path: Path, address: int, *words: str) -> list[tuple[str, int]]:
        """Return the function and line of each frame, innermost first, by llvm-symbolizer."""
        text = self.run("llvm-symbolizer-19", *words, f"--obj={path}", f"{address:#x}")
        lines = text.strip().split("\n")
        places = (place.rsplit(":", 2) for place in lines[1::2])
        return [(name, int(place[1])) for name, place in zip(lines[::2], places, strict=True)]


@contextmanager
def opened(path: Path, **choices: object) -> Iterator[Foreign]:
    options = Options(cache=False, **{"debug_dirs": (), **choices})
    with open_file(path) as file:
        foreign = open_foreign(file, options)
        try:
            yield foreign
        finally:
            foreign.close()


def ask(path: Path, address: int, *, lines: bool = True, **choices: object) -> Found | Miss:
    """Return the answer for an address of any kind."""
    with opened(path, **choices) as foreign:
        link = foreign.space.to_link(address)
        return link if isinstance(link, Miss) else foreign.lookup(LinkAddr(link), lines=lines)
