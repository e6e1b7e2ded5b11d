"""The second process of a batch, which answers the upper half of its addresses.

It is made of the first one and ends with it. Each has its own half of the blocks.
"""

from __future__ import annotations

import os
from _struct import pack

from okld.syms.index.bulk import ascending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from okld.syms.index.bulk import Teller
    from okld.syms.index.reader import Index

SIGKILL = 9  # signal.SIGKILL, whose module takes a millisecond to import
PIECE = 1 << 20  # bytes that are read at a time


def second_of(index: Index, teller: Teller, pivot: int, *, lines: bool) -> Second | None:
    """Return the second process of *index*, which begins with the first batch; None: it failed."""
    if index.second is None:
        try:
            index.second = Second(index, teller, pivot, lines=lines)
        except OSError:
            index.processes = 1
    return index.second


class Second:
    """
    The second process, as the first one sees it.

    Attributes:
        pivot: The least address that it answers.
    """

    __slots__ = ("_child", "_count", "_from", "_to", "pivot")

    def __init__(self, index: Index, teller: Teller, pivot: int, *, lines: bool) -> None:
        """
        Begin it.

        Raises:
            OSError: If the system has no process or pipe left.
        """
        self.pivot = pivot
        self._count = 0
        told, self._to = os.pipe()
        self._from, tell = os.pipe()
        self._child = os.fork()
        if not self._child:
            try:
                os.close(self._to)
                os.close(self._from)
                _serve(told, tell, index, teller, lines=lines)
            finally:
                os._exit(0)
        os.close(told)
        os.close(tell)

    def ask(self, links: Sequence[int], asked: Sequence[int]) -> None:
        """Hand it ascending addresses, with what they are called."""
        self._count = count = len(links)
        try:
            _write(self._to, pack(f"={1 + 2 * count}Q", count, *links, *asked))
        except (OSError, OverflowError):
            self.close()

    def answers(self) -> list[Any]:
        """Return the lines of what it was asked last, None where it has none."""
        if self._child:
            size = int.from_bytes(_read(self._from, 8), "little")
            data = _read(self._from, size)
            texts = data.decode("utf-8", "surrogateescape").split("\0")
            if len(texts) == self._count + 1:
                return [text or None for text in texts[:-1]]
            self.close()
        return [None] * self._count

    def close(self) -> None:
        """End it, whoever else of this program holds its pipes."""
        if self._child:
            os.close(self._to)
            os.close(self._from)
            os.kill(self._child, SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0


def _serve(told: int, tell: int, index: Index, teller: Teller, *, lines: bool) -> None:
    """Answer what comes, until nobody is there any more to ask."""
    while head := _read(told, 8):
        (count,) = memoryview(head).cast("Q")
        numbers = memoryview(_read(told, 16 * count)).cast("Q").tolist()
        links, asked = numbers[:count], numbers[count:]
        found = ascending(index, links, asked, teller, lines=lines, plain=True)
        data = "".join([f"{text or ''}\0" for text in found]).encode("utf-8", "surrogateescape")
        _write(tell, len(data).to_bytes(8, "little") + data)


def _read(fd: int, size: int) -> bytes:
    """Return *size* bytes, fewer where the writer has gone."""
    pieces = []
    while size:
        piece = os.read(fd, min(size, PIECE))
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _write(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
