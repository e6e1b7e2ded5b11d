"""Blocks of `okld.syms.index.format`, made."""

from __future__ import annotations

from _struct import pack

from okld.syms.index.format import MAX_PAYLOAD, WIDTHS, checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_UNSIGNED, _SIGNED = "BHIQ", "bhiq"
_WORTH = 0.9  # of its size: what a compressed payload may have at most, to pay for inflating it
_LEVEL = 6  # of zlib; 9 takes twice as long for a hundredth less


class Pool:
    """Strings, each kept once."""

    __slots__ = ("_indices",)

    def __init__(self) -> None:
        """Begin with none."""
        self._indices: dict[str, int] = {}

    def index(self, text: str) -> int:
        """Return the index of *text* among the strings."""
        return self._indices.setdefault(text, len(self._indices))

    def strings(self) -> list[bytes]:
        """Return the strings in the order of their indices."""
        return [text.encode("utf-8", "surrogateescape") for text in self._indices]


def payload_of(columns: Iterable[Sequence[int]], strings: Sequence[bytes]) -> bytes:
    """
    Return a payload.

    Raises:
        OverflowError: If a column has numbers below -2^63 or above 2^64, or negative ones and such
            of 64 bits: no file has those.
    """
    ends = []
    at = 0
    for text in strings:
        at += len(text)
        ends.append(at)
    every = [*columns, ends]
    codes = [_code(column) for column in every]
    shapes = b"".join(pack("=IB", len(c), ord(code)) for c, code in zip(every, codes, strict=True))
    values = [pack(f"={len(c)}{code}", *c) for c, code in zip(every, codes, strict=True)]
    return b"".join([pack("=I", len(every)), shapes, *values, *strings])


def seal(payload: bytes, *, compressed: bool = True) -> bytes:
    """
    Return the block of a payload, compressed where that pays and is wanted.

    Raises:
        OverflowError: If it is too long to be a block.
    """
    if len(payload) > MAX_PAYLOAD:
        raise OverflowError
    size = 0
    if compressed:
        from zlib import compress

        smaller = compress(payload, _LEVEL)
        if len(smaller) < _WORTH * len(payload):
            size, payload = len(payload), smaller
    body = pack("=I", size) + payload
    return checksum(body) + body


def _code(column: Sequence[int]) -> str:
    """Return the code of the narrowest integers that hold all of a column."""
    low, high = min(column, default=0), max(column, default=0)
    for code in _SIGNED if low < 0 else _UNSIGNED:
        bits = 8 * WIDTHS[code] - (low < 0)
        if high < 1 << bits and low >= -(1 << bits):
            return code
    raise OverflowError
