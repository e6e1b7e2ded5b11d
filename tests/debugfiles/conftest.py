"""Files with debug information, made from sources, and read by other tools for comparison."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from made import SOURCE

from okld.image.open import open_file
from okld.syms.elf_file import ElfFile

Run = Callable[..., bytes]
Opened = Callable[[Path], ElfFile]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a tool in the test's directory; it must succeed."""

    def ran(*command: str | Path) -> bytes:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    return ran


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open ELF files, and close them after the test."""
    files = []

    def read(path: Path) -> ElfFile:
        files.append(open_file(path))
        return ElfFile(files[-1].view, str(path))

    yield read
    for file in files:
        file.close()


@pytest.fixture
def contents(run: Run, tmp_path: Path) -> Callable[[Path, str], bytes]:
    """Return a section's bytes as objcopy takes them out of a file, of any processor."""

    def dumped(path: Path, section: str) -> bytes:
        out = tmp_path / "dumped"
        run("llvm-objcopy-19", f"--dump-section={section}={out}", path, tmp_path / "copy")
        return out.read_bytes()

    return dumped


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a linked program with debug information and a build id."""
    directory = tmp_path_factory.mktemp("whole")
    (directory / "a.c").write_text(SOURCE)
    command = ["gcc", "-g", "-O1", "-Wl,--build-id=sha1", "a.c", "-o", "program"]
    subprocess.run(command, cwd=directory, check=True)
    return directory / "program"


class Stripped:
    """A program without debug information, and the file that holds it."""

    def __init__(self, program: Path, debug: Path, build_id: str) -> None:
        self.program = program
        self.debug = debug
        self.build_id = build_id

    def in_tree(self, tree: Path) -> Path:
        """Put the debug file where its build id says, below *tree*."""
        path = tree / ".build-id" / self.build_id[:2] / f"{self.build_id[2:]}.debug"
        path.parent.mkdir(parents=True)
        shutil.copy(self.debug, path)
        return path


@pytest.fixture
def stripped(whole: Path, tmp_path: Path, run: Run) -> Stripped:
    """Return a program of which no debug file lies near it, and the debug file elsewhere."""
    (tmp_path / "made").mkdir()
    (tmp_path / "bin").mkdir()
    debug, program = tmp_path / "made/program.debug", tmp_path / "bin/program"
    run("objcopy", "--only-keep-debug", whole, debug)
    run("strip", whole, "-o", program)
    text = run("readelf", "-n", whole).decode()
    return Stripped(program, debug, text.partition("Build ID: ")[2].split()[0])
