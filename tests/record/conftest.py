"""Commands that are recorded, and what stands in for images where theirs is not the point."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOM = Path(__file__).parent
sys.path += [str(ROOM.parent), str(ROOM)]

from reporting import begin_report, write_report  # noqa: E402, F401 - fixtures
from running import CLEAN, build, command  # noqa: E402, F401 - fixtures


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of these images are: another room has what this one needs."""
    return ROOM.parent / "e2e/src"


@pytest.fixture
def okprof(command):  # noqa: F811
    """Return the words of ``okprof record`` with a command."""

    def okprof(*words):
        return [command("okprof"), "record", *map(os.fspath, words)]

    return okprof


@pytest.fixture
def record(okprof, tmp_path):
    """Return a function that records a command to its end, in a directory of its own."""

    def record(*words, **more):
        more = {"cwd": tmp_path, "env": CLEAN, "stdin": subprocess.DEVNULL} | more
        captured = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        return subprocess.run(okprof(*words), timeout=60, check=False, **captured)

    return record


@pytest.fixture
def script():
    """Return the words that run a script of this room."""

    def script(name, *args):
        return [sys.executable, ROOM / f"{name}.py", *args]

    return script


@pytest.fixture
def lines():
    """Return the lines of bytes, each of which ends."""

    def lines(data):
        assert data.endswith(b"\n"), data
        return data.decode().splitlines()

    return lines


@pytest.fixture
def reports(tmp_path):
    """Return what the reports in a directory say, by image."""

    def reports(folder="out"):
        found = (tmp_path / folder).glob("okprof-*.json")
        values = (json.loads(path.read_text()) for path in found)
        return {value["image"]["path"]: value for value in values}

    return reports
