"""The commands together: what a user does with them."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import (  # noqa: F401 - fixtures
    aarch64_host,
    build,
    command,
    one_line,
    run,
    run_on_each,
    small_host,
)


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return Path(__file__).parent / "src"
