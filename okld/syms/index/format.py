"""The form of everything in the index: sealed blocks of integer columns and strings.

A block is::

    8 bytes    checksum of all that follows
    u32        bytes of the payload, where it is compressed by zlib; 0: it is not
    payload

and its payload::

    u32        number of columns
    u32 u8     for each column: number of values, and the code of one (as in `struct`)
    ...        the values of each column, one column after the other
    ...        the strings, one after the other; where each ends is in the last column

Numbers are in the byte order of the machine: an index stays where it is made. A column is as wide
as its largest value; it is read in place, by `memoryview.cast`, and nothing is decoded that is not
asked for.

The checksum is there for what is torn or rots: who can write a block can also sum it up.

Source: IDX-5.
"""

from __future__ import annotations

from _imp import source_hash  # SipHash; another digest would have to be loaded: docs/decisions/0007
from _struct import unpack_from
from sys import byteorder

VERSION = 2
"""Of this form, and of everything that is kept in it; another's is not read."""

MAX_PAYLOAD = 1 << 28  # bytes; the tables of the largest unit take a hundredth of it
WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "b": 1, "h": 2, "i": 4, "q": 8}

_HEAD = 12


class Unusable(Exception):
    """What is in the cache cannot be gone by; the text says why, in a few words."""


class Strings:
    """
    The strings of a block, decoded one by one; bytes that are not UTF-8 are surrogates.

    Names of programs may have any bytes, as in `os.fsdecode`.
    """

    __slots__ = ("_blob", "_decoded", "_ends", "_text")

    def __init__(self, ends: memoryview, blob: memoryview) -> None:
        """Take where each string ends, and their bytes."""
        self._ends = ends
        self._blob = blob
        self._decoded: dict[int, str] = {}
        self._text: str | None = None

    def decode(self) -> str | None:
        """Decode all of them at once, where all are ASCII, and return them one after the other."""
        if self._text is None:
            text = str(self._blob, "ascii", "replace")
            self._text = text if text.isascii() else ""
        return self._text or None

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        """Return the string at *index*, which is not less than 0."""
        if self._text:
            return self._text[self._ends[index - 1] if index else 0 : self._ends[index]]
        text = self._decoded.get(index)
        if text is None:
            start = self._ends[index - 1] if index else 0
            text = str(self._blob[start : self._ends[index]], "utf-8", "surrogateescape")
            self._decoded[index] = text
        return text

    def several(self, indices: list[int]) -> list[str]:
        """Return the strings at *indices*."""
        text, ends = self._text, self._ends
        if not text:
            return [self[index] for index in indices]
        return [text[ends[index - 1] if index else 0 : ends[index]] for index in indices]


def checksum(data: bytes | memoryview) -> bytes:
    """Return 8 bytes that differ where the data does, but for accidents of one in 2^64."""
    return source_hash(VERSION, data)


def unseal(block: bytes) -> memoryview:
    """
    Return the payload of a block.

    Raises:
        Unusable: If it is none.
    """
    if len(block) < _HEAD or checksum(memoryview(block)[8:]) != block[:8]:
        raise Unusable("the checksum differs")
    payload = memoryview(block)[_HEAD:]
    size = int.from_bytes(block[8:_HEAD], byteorder)
    return _inflated(payload, size) if size else payload


def _inflated(payload: memoryview, size: int) -> memoryview:
    from zlib import decompressobj, error

    if size > MAX_PAYLOAD:
        raise Unusable("the payload is too long")
    try:
        data = decompressobj().decompress(payload, size)
    except error:
        raise Unusable("the payload is not compressed") from None
    if len(data) != size:
        raise Unusable("the payload is cut")
    return memoryview(data)


def columns_of(payload: memoryview) -> tuple[list[memoryview], Strings]:
    """
    Return the columns of a payload but the last, and its strings.

    Raises:
        Unusable: If it is malformed.
    """
    count = int.from_bytes(payload[:4], byteorder)
    at = 4 + 5 * count
    if count < 1 or at > len(payload):
        raise Unusable("a block is malformed")
    shapes = unpack_from("=" + count * "IB", payload, 4)
    columns = []
    for length, code in zip(shapes[::2], shapes[1::2], strict=True):
        end = at + length * WIDTHS.get(chr(code), 0)
        part = payload[at:end]
        if not at + length <= end <= len(payload):
            raise Unusable("a column is cut")
        columns.append(_cast(part, chr(code)) if length else part)
        at = end
    return columns[:-1], Strings(columns[-1], payload[at:])


def _cast(part: memoryview, code: str) -> memoryview:
    return part.cast(code)  # type: ignore[call-overload, no-any-return]
