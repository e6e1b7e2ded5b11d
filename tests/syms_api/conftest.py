"""Programs made from sources, with and without what names their addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Protocol

import pytest

SOURCE = """\
static inline __attribute__((always_inline)) int inner(int x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) int middle(volatile int *x)
{
    *x = inner(*x);
    return *x;
}

int _start(void)
{
    volatile int x = 1;
    return middle(&x) + 1;
}
"""
STATIC = ("-nostdlib", "-static", "-no-pie", "-O1", "-fcf-protection=none")


class Make(Protocol):
    def __call__(self, *options: str, source: str = ..., name: str = ...) -> Path: ...


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Compile a source; the program is at 0x400000 unless options say otherwise."""

    def run(*options: str, source: str = SOURCE, name: str = "program") -> Path:
        (tmp_path / f"{name}.c").write_text(source)
        command = ["gcc", *STATIC, *options, f"{name}.c", "-o", name]
        subprocess.run(command, check=True, cwd=tmp_path)
        return tmp_path / name

    return run
