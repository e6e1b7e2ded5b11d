"""The `okld` command in this process, and images to ask it about."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from okld.cli.main import main


class Ran(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(autouse=True)
def private_cache(tmp_path_factory, monkeypatch) -> None:
    """Let nothing that a test finds out be there for the next one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def okld(capsys):
    """Run `okld` with some arguments; give the status and what it wrote."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        return Ran(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def images() -> Path:
    return Path(__file__).parents[2] / "testdata" / "images"


@pytest.fixture
def app(okld, images, tmp_path, monkeypatch) -> Path:
    """A bundle of two images, in a directory where nothing else is."""
    monkeypatch.chdir(tmp_path)
    two = [images / f"names.{arch}.ok" for arch in ("x86_64", "aarch64")]
    assert okld("bundle", *two, "-o", "app.okb", "--version", "1.0") == (0, "", "")
    return tmp_path / "app.okb"


@pytest.fixture(scope="session")
def break_image() -> Callable[[Path, str], None]:
    """Return what changes a byte of an image in a bundle, which nothing but its digest tells."""

    def break_it(path: Path, arch: str) -> None:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(f"image/{arch}.ok")
        with path.open("r+b") as file:
            file.seek(entry.header_offset)
            names = struct.unpack("<HH", file.read(30)[26:])
            file.seek(entry.header_offset + 30 + sum(names) + entry.file_size - 1)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))

    return break_it
