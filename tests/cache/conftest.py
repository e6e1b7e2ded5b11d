"""Bundles to start again and again, in a process whose clock the test moves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from starts import NOTHING, SECOND, finish, hello

import okrun.bundled
from okrun.admission.cache import FOLDER
from okrun.admission.identity import FILE_SYSTEMS, file_system
from okrun.launch import Start, prepare


class Clock:
    """The time that a start sees: the system's, some nanoseconds ahead of it."""

    def __init__(self) -> None:
        self.ahead = 10 * SECOND  # what a test has just made is old enough

    def __call__(self) -> int:
        return time.time_ns() + self.ahead


class Cache:
    """The cache of one test."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / FOLDER

    def records(self) -> list[Path]:
        return sorted(self.folder.glob("[!.]*")) if self.folder.exists() else []

    def record(self) -> Path:
        (path,) = self.records()
        return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory where admissions are remembered."""
    fd = os.open(tmp_path, os.O_RDONLY)
    kind = file_system(fd)
    os.close(fd)
    wanted = b", ".join(sorted(FILE_SYSTEMS)).decode()
    assert kind in FILE_SYSTEMS, f"{tmp_path} is on {kind!r}; set TMPDIR to a place on {wanted}"
    return tmp_path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    for name in ("OKRUN_POLICY", "OKRUN_PROF", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("OKRUN_CACHE_DIR", str(tmp_path / "cache"))
    return Cache(tmp_path / "cache")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(okrun.bundled, "time_ns", clock)
    return clock


@pytest.fixture
def bundle(place: Path) -> Path:
    """A bundle that prints "hello"."""
    return hello(place)


@pytest.fixture
def starter() -> Iterator[Callable[..., Start]]:
    """Return what prepares a start; what is not finished is closed."""
    begun: list[Start] = []

    def starter(path: Path | str, **options) -> Start:
        begun.append(prepare(str(path), NOTHING, **options))
        return begun[-1]

    yield starter
    for start in begun:
        for fd in start.fds:
            try:
                os.close(fd)
            except OSError:
                continue


@pytest.fixture
def run() -> Callable[..., str]:
    """Return what starts a bundle, sees it say what it was built to say, and says hit or miss."""

    def run(path: Path | str, says: bytes = b"hello\n", **options) -> str:
        start = prepare(str(path), NOTHING, **options)
        cache = start.cache
        assert finish(start) == (0, says, b"")
        return cache

    return run
