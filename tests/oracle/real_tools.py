"""What is said of places in a file: by okld in each of its ways, and by the oracles."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from real_programs import Program

import okld
from okld.base.units import SectionOffset
from okld.cli.render_answer import Text
from okld.syms.answer import Found, Miss

Frame = tuple[str, str, int, int]
"""Function, file, line and column, innermost first; "" and 0 where there is none."""

OKLD = (sys.executable, "-c", "import okld.cli.main as okld; raise SystemExit(okld.main())")
LLVM = ("llvm-symbolizer-19", "--inlines", "--no-demangle", "--output-style=JSON")

GDB = Path(__file__).with_name("real_gdb.py")


def llvm(path: Path, addresses: Sequence[int]) -> list[list[Frame]]:
    """Return llvm-symbolizer's frames for each address."""
    fields = ("FunctionName", "FileName", "Line", "Column")
    lines = _asked((*LLVM, f"--obj={path}"), addresses).splitlines()
    return [
        [tuple(frame[field] for field in fields) for frame in json.loads(line)["Symbol"]]
        for line in lines
    ]


def gdb(path: Path, addresses: Sequence[int]) -> list[list[str]]:
    """Return the names of gdb's frames for each address: linkage names, else those for people."""
    lines = _asked(("gdb", "--batch", "--nx", "--command", GDB, path), addresses).splitlines()
    return [json.loads(line) for line in lines]


def _asked(command: Sequence[object], addresses: Sequence[int]) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        input="".join(f"{address:#x}\n" for address in addresses),
        stdout=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
    )
    return done.stdout


def ours(program: Program, places: Sequence[tuple[int, int]], singles: int) -> list[Found | Miss]:
    """
    Return okld's answers from an index that is built for it.

    Raises:
        AssertionError: If *singles* of the places, looked up one by one in the file itself, have
            another answer; or if the command writes another one.
    """
    asked = [_okld_address(program, *place) for place in places]
    index = [*OKLD, "symbols", "--index", program.path]
    subprocess.run(index, check=True, stdout=subprocess.DEVNULL)
    with okld.symbols(program.path) as symbols:
        found = symbols.lookup_many(asked)
        assert symbols.is_indexed, f"{program.path}: the index has not all answers"
    with okld.symbols(program.path, options=okld.Options(cache=False)) as symbols:
        for at in range(0, len(asked), max(len(asked) // singles, 1)):
            alone = symbols.lookup(asked[at])
            assert told(alone) == told(found[at]), f"{asked[at]:#x} of {program.path}"
    if not program.bases:
        written = _asked((*OKLD, "symbolize", "-i", "--no-demangle", program.path), asked)
        text = Text(str, lambda notes: None, inlines=True)
        lines = map(text.line, map(hex, asked), found)
        assert written == "".join(lines), f"{program.path}: the command writes something else"
    return found


def _okld_address(program: Program, section: int, address: int) -> int:
    if program.bases:
        return SectionOffset(section, address - program.bases[section])
    return address


def told(found: Found | Miss) -> list[object]:
    """Return all that an answer says."""
    return [getattr(found, name) for name in found.__slots__]


def frames(found: Found) -> list[Frame]:
    """Return okld's frames as the oracle writes them."""
    return [(f.function, f.file or "", f.line or 0, f.column or 0) for f in found.frames]
