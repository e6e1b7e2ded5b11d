"""The workshop: small sources made into files, and what their own text says of them.

Addresses come from `nm`, lines from the sources: a macro `MARK(here)` leaves a label of that name
at its line, so that both are known before anybody is asked.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

SOURCES = Path(__file__).parent / "src"
CROSS = {
    f"{machine}-gcc": f"{machine}-"
    for machine in (
        "arm-linux-gnueabihf",
        "mips-linux-gnu",
        "powerpc64-linux-gnu",
        "s390x-linux-gnu",
        "x86_64-w64-mingw32",
    )
}
FIXED = ("-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-Wl,-Ttext=0x401000")


class Shop:
    """A directory in which files are built, each once, from copies of the sources."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.src = directory / "src"
        shutil.copytree(SOURCES, self.src)
        self._made: dict[str, Path] = {}

    def run(self, *command: str | Path, cwd: Path | None = None, stdin: bytes = b"") -> bytes:
        """Run a command and return what it prints; a failure is the test's."""
        words = [str(word) for word in command]
        done = subprocess.run(
            words, cwd=cwd or self.src, input=stdin, capture_output=True, timeout=120
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def make(self, name: str, how: Callable[[Path], object]) -> Path:
        """Return the path of *name*, in a directory of its own, made by *how* at the first time."""
        if name not in self._made:
            path = self.directory / f"{name}.made" / name
            path.parent.mkdir()
            how(path)
            self._made[name] = path
        return self._made[name]

    def cc(self, name: str, *words: str | Path, cc: str = "gcc") -> Path:
        """
        Compile with *words*.

        The labels of MARK are taken out again, since a label is a trap of its own (2).
        """

        def build(path: Path) -> None:
            self.run(cc, *words, "-o", path)
            self.unmark(path, cc)

        return self.make(name, build)

    def unmark(self, path: Path, cc: str = "gcc") -> None:
        """Take the labels of MARK out of a file; `mark` finds them in a copy."""
        shutil.copy(path, f"{path}.marked")
        if any(name.startswith("in_") for name in addresses(path)):
            tool = "llvm-objcopy-19" if cc.startswith("clang") else CROSS.get(cc, "") + "objcopy"
            self.run(tool, "--wildcard", "--strip-symbol=in_*", path)

    def copy(self, name: str, good: Path, *words: str | Path) -> Path:
        """Return what a command like objcopy makes of *good*, which stays as it is."""

        def build(path: Path) -> None:
            self.run(*words, good, path)
            marked = Path(f"{good}.marked")
            if marked.exists():
                shutil.copy(marked, f"{path}.marked")

        return self.make(name, build)

    def edit(self, name: str, good: Path, change: Callable[[bytearray], None]) -> Path:
        """Return a copy of *good* with a change to its bytes."""

        def write(path: Path) -> None:
            data = bytearray(good.read_bytes())
            change(data)
            path.write_bytes(data)

        return self.make(name, write)


@functools.cache
def addresses(path: Path) -> dict[str, int]:
    """Return the symbols' values, as nm prints them, by name."""
    tool = "x86_64-w64-mingw32-nm" if ".dll" in path.name else "llvm-nm-19"
    text = subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def at(path: Path, name: str, plus: int = 0) -> int:
    """Return the address of a symbol, and *plus*."""
    return addresses(path)[name] + plus


def mark(path: Path, name: str) -> int:
    """Return the address of a MARK."""
    return addresses(Path(f"{path}.marked"))[name]


def line(source: str, text: str) -> int:
    """Return the number of the one line of *source* that holds *text*."""
    rows = (SOURCES / source).read_text().splitlines()
    found = [number for number, row in enumerate(rows, 1) if text in row]
    assert len(found) == 1, (source, text, found)
    return found[0]


def place(source: str, text: str) -> tuple[str, int]:
    """Return the file's name and the number of the line that holds *text*."""
    return Path(source).name, line(source, text)


def section(path: Path, name: str) -> tuple[int, int, int]:
    """Return a section's address, file offset and size, as readelf prints them."""
    text = subprocess.run(
        ["readelf", "-SW", path], check=True, capture_output=True, text=True
    ).stdout
    row = re.search(rf" {re.escape(name)} +\S+ +(\w+) +(\w+) +(\w+)", text)
    assert row, (path, name)
    return int(row[1], 16), int(row[2], 16), int(row[3], 16)
