"""Images that do real work, with the installed host and with one under sanitizers."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import build, command, run, sanitized_host  # noqa: F401 - fixtures


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return Path(__file__).parent / "src"
