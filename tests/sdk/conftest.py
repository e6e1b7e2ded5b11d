"""Sources, and the commands that make images of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Return a call that writes a source, and returns its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def okld() -> Callable[..., str]:
    """Return a call that runs the installed `okld`, and returns what it prints."""

    def okld(*arguments: str) -> str:
        words = [Path(sys.executable).with_name("okld"), *arguments]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return okld


@pytest.fixture(autouse=True)
def no_compiler_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """CC of whoever runs the tests does not choose their compiler."""
    monkeypatch.delenv("CC", raising=False)
