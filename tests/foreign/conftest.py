"""Programs of other formats, built once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from foreign_programs import Shop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Return what builds programs, each only once."""
    return Shop(tmp_path_factory.mktemp("foreign"))
