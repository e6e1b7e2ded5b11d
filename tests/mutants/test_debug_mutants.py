"""Whatever debug information says, there is an answer, soon and in little memory."""

from __future__ import annotations

import json
import lzma
import shutil
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import okld
from okld.base.units import SectionOffset
from okld.syms.options import Options

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "traps")]

from debug_cases import MEBIBYTES, SECONDS  # noqa: E402
from debug_mutator import SHF_COMPRESSED  # noqa: E402
from debug_shapes import CODE, SHAPES, write  # noqa: E402
from trap_question import Question  # noqa: E402
from trap_shop import Shop  # noqa: E402
from trap_table import TRAPS  # noqa: E402

FILES = (18, 19, 20, 21, 23, 27, 31, 32, 33, 34, 38, 39, 45)
"""The traps whose files are good ones to spoil: every version, class and way to keep apart."""

LARGEST = 1 << 17
COMPANIONS = ("*.dwo", "*.dwp", "*.debug", ".debug/*")
BOMB = 1 << 28


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory of programs with their companions, and what is asked of each."""
    shop = Shop(tmp_path_factory.mktemp("debug_shop"))
    place = tmp_path_factory.mktemp("debug_bases")
    for number in FILES:
        for question in TRAPS[number].build(shop):
            keep(place, question)
    return place


def keep(place: Path, question: Question) -> None:
    """Put a question's program and companions into a directory of their own, and its address."""
    path, address = question.path, question.address
    section = address.section if isinstance(address, SectionOffset) else ""
    if path.stat().st_size > LARGEST or bool(section) != path.name.endswith(".o"):
        return
    here = place / path.name
    here.mkdir(exist_ok=True)
    for file in (path, *(f for kind in COMPANIONS for f in path.parent.glob(kind))):
        if file.is_file():
            shutil.copy(file, here / file.name)
    told = here / "question"
    asked = json.loads(told.read_text())["addresses"] if told.exists() else []
    asked = {"program": path.name, "section": section, "addresses": [*asked, int(address)]}
    told.write_text(json.dumps(asked))


@pytest.mark.spec("LIN-37", "ERR-1")
def test_a_mutant_is_answered_soon_and_in_little_memory(bases: Path, debug_block: range) -> None:
    """An answer, a miss or a refusal, within a second and 500 MiB, in a process of its own."""
    words = [
        sys.executable,
        HERE / "debug_cases.py",
        bases,
        str(debug_block.start),
        str(debug_block.stop),
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["faults"] == []
    counts = Counter(told["counts"])
    assert counts.total() == len(debug_block)
    assert counts["lines"] > len(debug_block) // 4
    assert counts["lines"] < len(debug_block)


@pytest.mark.spec("LIN-14", "LIN-37")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_that_no_compiler_makes_costs_little(tmp_path: Path, shape: str) -> None:
    """However much there is to be read, an answer takes a second at most, and 500 MiB."""
    program = tmp_path / shape
    write(program, SHAPES[shape]())
    assert_cheap(program)
    program.unlink()


def assert_cheap(program: Path) -> None:
    """Check what one question costs a process of its own."""
    words = [sys.executable, HERE / "debug_cost.py", program, str(CODE + 1)]
    cost = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert cost["seconds"] < SECONDS
    assert cost["mebibytes"] < MEBIBYTES


def zeros(compressor: Any) -> bytes:
    """Return BOMB zeros, in few bytes."""
    block = bytes(1 << 20)
    packed = b"".join(compressor.compress(block) for _ in range(BOMB >> 20))
    return packed + compressor.flush()


def bomb(kind: str) -> tuple[str, bytes, int]:
    """Return the name, the bytes and the flags of a section that inflates to BOMB bytes."""
    if kind == "xz":
        return ".gnu_debugdata", zeros(lzma.LZMACompressor()), 0
    packed = zeros(zlib.compressobj())
    if kind == "old":
        return ".zdebug_info", b"ZLIB" + struct.pack(">Q", BOMB) + packed, 0
    return ".debug_info", struct.pack("<IIQQ", 1, 0, BOMB, 1) + packed, SHF_COMPRESSED


@pytest.mark.spec("DBG-2", "DBG-7")
@pytest.mark.parametrize(("kind", "rule"), [("new", "DBG-2"), ("old", "DBG-2"), ("xz", "DBG-7")])
def test_a_bomb_is_refused_by_a_named_limit(tmp_path: Path, kind: str, rule: str) -> None:
    """It is told, and takes neither time nor memory."""
    program = tmp_path / "bomb"
    name, data, flags = bomb(kind)
    write(program, {name: data}, flags)
    with okld.symbols(program, options=Options(debug_dirs=(), cache=False)) as symbols:
        found = symbols.lookup(CODE + 1)
        assert any(f"[{rule}]" in note for note in (*symbols.notes, *getattr(found, "notes", ())))
    assert_cheap(program)
