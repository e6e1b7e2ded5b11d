"""What is measured in an image's own memory: its code, for perf, and its heap."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import (  # noqa: F401 - fixtures
    CLEAN,
    aarch64_host,
    build,
    command,
    one_line,
    run,
    run_on_each,
)


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return Path(__file__).parent / "src"


@dataclass(frozen=True)
class Inside:
    """
    Runs commands as root of a user namespace of their own, where file systems can be mounted.

    Attributes:
        words: The command that makes it.
    """

    words: tuple[str, ...]

    def __call__(self, script, *words, arguments=(), options=()):
        """Return the command for a shell script that ends by running *words*, as "$@"."""
        shift = f"shift {len(arguments)}; " if arguments else ""
        named = "".join(f"a{n}=${n}; " for n in range(1, len(arguments) + 1))
        script = f"set -e; {named}{shift}{script}"
        return [*self.words, *options, "sh", "-c", script, "sh", *arguments, *words]


@pytest.fixture(scope="session")
def inside():
    """Return Inside."""
    unshare = shutil.which("unshare")
    assert unshare is not None, "unshare is not installed"
    return Inside((unshare, "-rm"))


@pytest.fixture
def reports_in():
    """Return a function from a folder to the reports in it, in order of start."""

    def reports_in(folder):
        reports = [json.loads(file.read_text()) for file in folder.glob("okprof-*.json")]
        return sorted(reports, key=lambda report: report["started_ns"])

    return reports_in


@pytest.fixture
def map_of():
    """Return a function from a process to the path of its perf map, which is removed at the end."""
    paths = []

    def map_of(pid):
        paths.append(Path(f"/tmp/perf-{pid}.map"))
        return paths[-1]

    yield map_of
    for path in paths:
        if os.path.lexists(path):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
