"""The test images, and what images.toml says that their sources say."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

TESTDATA = Path(__file__).parents[2] / "testdata"
IMAGES = tomllib.loads((TESTDATA / "images.toml").read_text())["images"]


def committed(*, bad: bool) -> list[object]:
    """Return the (path, description) of each image that the gate is to admit, or to refuse."""
    return [
        pytest.param(TESTDATA / f"images/{name}.{arch}.ok", image, id=f"{name}-{arch}")
        for name, image in IMAGES.items()
        if image.get("committed", True)
        for arch in image.get("arches", ("x86_64", "aarch64"))
        if image.get("rule", "").startswith("IMG") == bad
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for `path` and `image` on each image."""
    if "image" in metafunc.fixturenames:
        bad = "bad_images" in metafunc.fixturenames
        metafunc.parametrize(("path", "image"), committed(bad=bad))


@pytest.fixture
def bad_images() -> None:
    """Ask for the images that the gate refuses instead of those that it admits."""
