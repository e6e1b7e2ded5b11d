"""Numbers and lengths that vary in size, and what reading past the end of a window looks like.

Decoders here take bytes and a position, and return a value and the next position. They do not
check for the end: `bytes` does, with one of `PAST_THE_END`, which `Dwarf` turns into an error.
"""

from __future__ import annotations

from _struct import Struct
from _struct import error as StructError  # type: ignore[attr-defined]  # missing in typeshed

from okld.base.errors import FormatError, OkError

RULE = "LIN-1"
PAST_THE_END = (IndexError, OverflowError, StructError)
WORDS = {order: Struct(order + "I").unpack_from for order in "<>"}
MAX_SHIFT = 70
"""Bits of the longest number: 64, of seven bits a byte; a longer one would take long to add up."""


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """
    Decode an unsigned number.

    Raises:
        FormatError: If it takes more than ten bytes (LIN-1).
    """
    byte = data[at]
    at += 1
    value = byte & 0x7F
    shift = 7
    while byte > 0x7F:
        if shift >= MAX_SHIFT:
            raise FormatError(RULE, "a LEB128 number does not end", at=at)
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, at


def sleb(data: bytes, at: int) -> tuple[int, int]:
    """
    Decode a signed number.

    Raises:
        FormatError: If it takes more than ten bytes (LIN-1).
    """
    start = at
    value, at = uleb(data, at)
    if data[at - 1] & 0x40:
        value -= 1 << 7 * (at - start)
    return value, at


def unit_length(data: bytes, order: str, at: int = 0) -> tuple[int, int]:
    """
    Return a unit's bytes with the length field, which is at *at*, and its bytes of an offset.

    Raises:
        FormatError: If the length is one of those that are reserved (LIN-1).
    """
    (length,) = WORDS[order](data, at)
    if length < 0xFFFFFFF0:
        return length + 4, 4
    if length != 0xFFFFFFFF:
        raise FormatError(RULE, "length of a unit", got=length)
    (length,) = Struct(order + "Q").unpack_from(data, at + 4)
    return length + 12, 8


def damage(what: str, error: Exception) -> str:
    """Return the note that says what an error made unreadable."""
    return f"{what} cannot be read: {error}" if isinstance(error, OkError) else f"{what} are cut"
