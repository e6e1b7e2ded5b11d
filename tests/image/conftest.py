"""Good images to break."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from full_image import build


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """Return `build`, which builds only once what it is asked for twice."""
    return functools.cache(lambda which: build(which, tmp_path_factory.mktemp(which)))
