"""A cache of its own for each test, which takes what a test has just made for old."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from programs import compile_all

from okld.syms.index import grow, writer

SECOND = 10**9


class Clock:
    """The time that whoever writes sees: the system's, some nanoseconds ahead of it."""

    def __init__(self) -> None:
        self.ahead = 10 * SECOND

    def __call__(self) -> int:
        return time.time_ns() + self.ahead


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (writer, grow):
        monkeypatch.setattr(module, "time_ns", clock)
    return clock


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where indexes are in this test."""
    monkeypatch.setenv("OKLD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "symbols"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of two units."""
    return compile_all(tmp_path)
