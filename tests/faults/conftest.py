"""What goes wrong around an image, and what it is told of it."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import (  # noqa: F401 - fixtures
    CLEAN,
    build,
    command,
    interrupted_host,
    run,
    sanitized_host,
)

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return Path(__file__).parent / "src"


@pytest.fixture(scope="session")
def image_of(command, tmp_path_factory):  # noqa: F811 - it is a fixture
    """Return a function from another room of the tests and a name to an image of that room."""
    folder = tmp_path_factory.mktemp("images-of-other-rooms")

    def image_of(room, name):
        image = folder / f"{room}-{name}.ok"
        if not image.exists():
            source = TESTS / room / "src" / f"{name}.c"
            subprocess.run([command("okld"), "build", source, "-o", image], check=True, env=CLEAN)
        return image

    return image_of


@pytest.fixture(params=["installed", "sanitized"])
def options(request):
    """Return the options of a run with the installed host, and with one under sanitizers."""
    if request.param == "installed":
        return []
    return ["--host", request.getfixturevalue("sanitized_host")]
