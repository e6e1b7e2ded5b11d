"""What is true of a program's addresses, and what okld says of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import okld
from okld.syms.options import Options

UNITS = ("first", "second", "third")
ALONE = Options(debug_dirs=(), cache=False)

Row = tuple[str, str, int | None, int | None]


def run(*words: str | Path, cwd: Path) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (words, done.stderr)


def code(path: Path) -> range:
    """Return the addresses of a program's code."""
    text = subprocess.check_output(["readelf", "-SW", path], text=True)
    row = re.search(r" \.text +PROGBITS +(\w+) +\w+ +(\w+)", text)
    assert row
    start = int(row[1], 16)
    return range(start, start + int(row[2], 16))


def told(path: Path, addresses: Iterable[int]) -> list[list[Row]]:
    """Return what llvm-symbolizer says of each address: function, file, line and column."""
    words = ["llvm-symbolizer-19", "--no-demangle", "--output-style=JSON", f"--obj={path}"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    text = subprocess.run(words, input=asked, capture_output=True, text=True, check=True).stdout
    return [
        [
            (s["FunctionName"], Path(s["FileName"]).name, s["Line"] or None, s["Column"] or None)
            for s in json.loads(line)["Symbol"]
        ]
        for line in text.splitlines()
    ]


def ours(path: Path, addresses: Iterable[int], options: Options = ALONE) -> list[list[Row]]:
    """Return the same of okld; where it has no frames, only the name."""
    with okld.symbols(path, options=options) as symbols:
        return [rows(found) for found in symbols.lookup_many(addresses)]


def rows(found: okld.Found | okld.Miss) -> list[Row]:
    if isinstance(found, okld.Miss):
        return [("", "", None, None)]
    return [(f.function, Path(f.file or "").name, f.line, f.column) for f in found.frames] or [
        (found.name, "", None, None)
    ]
