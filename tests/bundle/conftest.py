"""Good bundles to look at, and to break."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from okld.bundle.writer import write_bundle

IMAGES = Path(__file__).parents[2] / "testdata/images"


@pytest.fixture(scope="session")
def images() -> Path:
    return IMAGES


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Return what makes a bundle of some test images, for one processor or for two."""

    def made(*images: str | tuple[str, str], path: Path | None = None, **options) -> Path:
        words = [
            (i[0], str(IMAGES / i[1])) if isinstance(i, tuple) else str(IMAGES / i) for i in images
        ]
        path = path or tmp_path / "made.okb"
        write_bundle(words, str(path), **{"name": "hello", "version": "1.0", **options})
        return path

    return made


def good_bytes(place: Path, signature: bytes | None) -> bytes:
    paths = [str(IMAGES / f"hello.{arch}.ok") for arch in ("x86_64", "aarch64")]
    sign = None if signature is None else lambda _manifest: signature
    write_bundle(paths, str(place / "good.okb"), name="hello", version="1.0", sign=sign)
    return (place / "good.okb").read_bytes()


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A bundle of one image for each of two processors, not signed."""
    return good_bytes(tmp_path_factory.mktemp("good"), None)


@pytest.fixture(scope="session")
def signed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The same with bytes in the place of a signature: the archive does not ask what they are."""
    return good_bytes(tmp_path_factory.mktemp("signed"), b"a signature\n")
