"""The `okld` command in this process, and images to ask it about."""

from __future__ import annotations

import json
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
