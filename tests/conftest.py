"""Where the tests put what they make, and that none is judged by its time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from okrun.admission.identity import FILE_SYSTEMS, file_system

PLACES = (tempfile.gettempdir(), "/var/tmp", str(Path(__file__).parents[1]))


settings.register_profile("untimed", deadline=None)  # machines are noisy
settings.load_profile("untimed")


def tells(place: str) -> bool:
    """Say whether admissions are remembered of files in *place*."""
    try:
        fd = os.open(place, os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.access(place, os.W_OK) and file_system(fd) in FILE_SYSTEMS
    finally:
        os.close(fd)


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Where /tmp is in memory, use another place: nothing is remembered of files there."""
    if "TMPDIR" not in os.environ and not tells(PLACES[0]):
        os.environ["TMPDIR"] = tempfile.tempdir = next(filter(tells, PLACES), PLACES[0])
