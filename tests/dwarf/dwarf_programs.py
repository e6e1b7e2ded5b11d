"""Sources whose every line is known, and how they are compiled and opened."""

from __future__ import annotations

import subprocess
from pathlib import Path

from okld.base.view import View
from okld.syms.answer import Frame
from okld.syms.dwarf.reader import Dwarf
from okld.syms.elf_file import ElfFile
from okld.syms.sections import Sections

MARKED = """\
volatile int sink;
#ifdef __s390x__
#define NOP "nopr"
#else
#define NOP "nop"
#endif
#define MARK(name) __asm__ volatile(".globl " #name "\\n" #name ": " NOP)
static inline __attribute__((always_inline)) void inner(int n)
{
    sink += n;
    MARK(at_inner); /* inner's */
    sink -= n;
}
static inline __attribute__((always_inline)) void middle(int n)
{
    if (n) {
        int twice = n * 2;
        inner(twice); /* middle's */
        MARK(at_middle); /* after */
    }
}
__attribute__((noinline)) void outer(int n)
{
    sink = 1;
    middle(n); /* outer's */
    MARK(at_outer); /* last */
    sink = 2;
}
void _start(void) { outer(sink); for (;;) sink++; }
"""


def line_of(mark: str, source: str = MARKED) -> int:
    """Return the number of the one line of a source that has *mark* in it."""
    (line,) = [n for n, text in enumerate(source.splitlines(), 1) if mark in text]
    return line


class Programs:
    """Compiled programs, each built when it is first asked for."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def build(self, source: str, *command: str, name: str = "marked.c") -> Path:
        """Return the program that a compiler's *command* makes of *source*."""
        folder = self.place / f"{abs(hash((source, command, name))):x}"
        program = folder / "program"
        if not program.exists():
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(source)
            subprocess.run([*command, name, "-o", "program"], cwd=folder, check=True)
        return program


def opened(path: Path) -> Dwarf:
    """Return a program's debug information."""
    elf = ElfFile(View.of_bytes(path.read_bytes()))
    return Dwarf(Sections.of_elf(elf), code=elf.code())


def symbol(path: Path, name: str) -> int:
    """Return a symbol's address, as nm has it."""
    listed = subprocess.run(["nm", path], check=True, capture_output=True, text=True)
    (address,) = [words[0] for w in listed.stdout.splitlines() if (words := w.split())[-1] == name]
    return int(address, 16)


def shown(frames: tuple[Frame, ...]) -> list[tuple[str, str, int | None, bool]]:
    """Return the function, the file's name, the line of each frame, and whether it is inlined."""
    return [(f.function, Path(f.file or "").name, f.line, f.inlined) for f in frames]


def unnamed(path: Path) -> Path:
    """Return a copy without symbol tables, so that llvm-symbolizer takes names from DWARF."""
    data = bytearray(path.read_bytes())
    elf = ElfFile(View.of_bytes(bytes(data)))
    size = 64 if elf.header.bits == 64 else 40
    order = "little" if elf.header.order == "<" else "big"
    for index, section in enumerate(elf.sections):
        if section[1] in (2, 11):
            at = elf.header.shoff + index * size + 4
            data[at : at + 4] = (1).to_bytes(4, order)
    copy = path.with_name(path.name + ".unnamed")
    copy.write_bytes(data)
    return copy
