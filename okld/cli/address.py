"""The words that an address can be written as. Source: SPEC ADR-3."""

from __future__ import annotations

from okld.base.errors import OkError

MAX_DIGITS = 16
MAX_SHOWN = 80  # characters of what is no address
_HEX = frozenset("0123456789abcdefABCDEF")
_PREFIXES = ("0x", "0X")
_OF_NUMBERS = b"0123456789abcdefABCDEFxX\r\n"


def number(word: str) -> int | None:
    """Return what *word* says as a hexadecimal number of at most 64 bits, or None."""
    digits = word[2:] if word[:2] in _PREFIXES else word
    if not digits or not _HEX.issuperset(digits) or len(digits.lstrip("0")) > MAX_DIGITS:
        return None
    return int(digits, 16)


def numbers(text: bytes) -> list[int] | None:
    """Return the number on each line of *text*, or None where a line is anything else."""
    if text.translate(None, _OF_NUMBERS) or text.count(b"\r") != text.count(b"\r\n"):
        return None  # a carriage return alone ends no line
    from itertools import repeat  # one address does without

    try:
        found = list(map(int, text.splitlines(), repeat(16)))
    except ValueError:  # an empty line, or an "x" where none belongs
        return None
    return found if max(found, default=0) < 1 << 4 * MAX_DIGITS else None


def named(word: str) -> tuple[str, int, int] | None:
    """Return the name, the offset and the size of ``NAME+0xOFFSET[/0xSIZE]``, or None."""
    name, plus, rest = word.rpartition("+")
    offset, slash, size = rest.partition("/")
    if not name or not plus or offset[:2] not in _PREFIXES:
        return None
    if slash and size[:2] not in _PREFIXES:
        return None
    parts = number(offset), number(size) if slash else 0
    if parts[0] is None or parts[1] is None:
        return None
    return name, parts[0], parts[1]


def wrong(word: str) -> OkError:
    """Return the error for a *word* that is no address, with so much of it as is worth reading."""
    shown = word if len(word) <= MAX_SHOWN else f"{word[:MAX_SHOWN]}..."
    shown = shown if shown == shown.strip() != "" else f"'{shown}'"
    return OkError(f"no address: {shown} (hexadecimal, at most 64 bits, or NAME+0xOFFSET)")
