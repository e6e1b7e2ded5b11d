"""The gate: a small image, and what a relocation and a symbol add."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from images import hello, pointers
from rows import Row, in_turn

from okld.base.view import View
from okld.image.shape import Shape, read_shape

TIMES = 100
MANY = 100_000


def run(work: Path) -> Iterator[Row]:
    small, many = (path.read_bytes() for path in (hello(work), pointers(work, MANY)))
    names = {each.name for each in _shape(small).imports}
    assert {"kal_stdout", "kal_stream_write"} <= names
    assert _shape(many).rela[1] == MANY
    ours, large = in_turn([lambda: _drop(small), lambda: _drop(many)], TIMES)
    yield Row(what=f"gate, {len(small) >> 10} KiB image", ours=ours, budget=1.0)
    each = [(t - min(ours)) * 1e6 / MANY for t in large]
    yield Row(what="gate, a relocation", ours=each, unit="ns", budget=60)


def _shape(data: bytes) -> Shape:
    return read_shape(View.of_bytes(data))


def _drop(data: bytes) -> None:
    _shape(data)
