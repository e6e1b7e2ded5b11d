"""Sources made into files whose addresses are known before they exist."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Protocol

import pytest


class Make(Protocol):
    def __call__(self, source: str, *options: str, cc: str = ..., suffix: str = ...) -> Path: ...


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Compile and link a source with no C library; the text segment is at 0x400000."""

    def run(source: str, *options: str, cc: str = "gcc", suffix: str = ".s") -> Path:
        path = tmp_path / f"source{suffix}"
        path.write_text(source)
        output = tmp_path / "a.elf"
        fixed = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"]
        command = [cc, *fixed, *options, str(path), "-o", str(output)]
        subprocess.run(command, check=True, capture_output=True)
        return output

    return run


@pytest.fixture
def yaml2obj(tmp_path: Path):
    """Write the object that a YAML text describes, field by field."""

    def run(text: str) -> Path:
        output = tmp_path / "from.yaml"
        subprocess.run(["yaml2obj", "-o", output, "-"], input=text.encode(), check=True)
        return output

    return run
