"""The public contract as transcribed by hand, and images with edits applied in memory."""

from __future__ import annotations

import struct
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from okld.base.view import View
from okld.image.shape import Shape, read_shape

ROOT = Path(__file__).parents[2]
NOTE_HEAD = struct.pack("<III8s", 8, 40, 1, b"openkal")


@pytest.fixture(scope="session")
def contract() -> dict[str, tuple[str, ...]]:
    """The functions of each interface, in order of position; those of none under ""."""
    text = tomllib.loads(Path(__file__).with_name("contract.toml").read_text())
    named = {entry["name"]: tuple(entry["functions"]) for entry in text["interface"]}
    return {"": tuple(text["none"])} | named


@pytest.fixture
def image() -> Callable[[str], bytearray]:
    """Return a call that gives the bytes of an image of the tests."""
    return lambda name: bytearray((ROOT / f"testdata/images/{name}.x86_64.ok").read_bytes())


@pytest.fixture
def shape() -> Callable[[bytes], Shape]:
    """Return a call that gives the shape of an image's bytes."""
    return lambda data: read_shape(View.of_bytes(data))


@pytest.fixture
def edit_note() -> Callable[..., bytearray]:
    """Return a call that puts a number into an image's note, *at* bytes into the descriptor."""

    def edit_note(data: bytearray, at: int, form: str, number: int) -> bytearray:
        assert data.count(NOTE_HEAD) == 1
        struct.pack_into(form, data, data.index(NOTE_HEAD) + len(NOTE_HEAD) + at, number)
        return data

    return edit_note
