"""A C++ program of three units, whose debug information is to lie elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "traps")]

from far_program import UNITS, run  # noqa: E402

FLAGS = ("-O2", "-ffreestanding", "-fno-exceptions")
LINK = ("-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none")


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Compile and link the program in a directory of its own."""

    def make(name: str, compiler: str, *options: str) -> Path:
        here = tmp_path / name
        shutil.copytree(HERE / "src", here)
        for unit in UNITS:
            run(compiler, "-c", *FLAGS, *options, f"{unit}.cc", "-o", f"{unit}.o", cwd=here)
        run("g++", *LINK, *(f"{unit}.o" for unit in UNITS), "-o", "program", cwd=here)
        return here / "program"

    return make
