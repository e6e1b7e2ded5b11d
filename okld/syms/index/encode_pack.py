"""Packs of `okld.syms.index.pack`, made of blocks, and of other packs."""

from __future__ import annotations

from _bisect import bisect_right
from _struct import pack as packed

from okld.syms.index.encode import payload_of, seal
from okld.syms.index.format import VERSION, checksum, unseal
from okld.syms.index.pack import END, FIRST, HEADER_SIZE, LAYOUT, MAGIC, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from okld.syms.index.pack import Pack

    Range = tuple[int, int, int]
    """Where a part begins and ends, and what the directory says of it."""


def pack_bytes(kind: int, ranges: Sequence[Range], blocks: Sequence[bytes]) -> Iterator[bytes]:
    """
    Give the bytes of a pack, piece by piece.

    Args:
        kind: NAMES or LINES.
        ranges: Its parts, ascending, none over another; what lies between is UNKNOWN.
        blocks: Its blocks: of a part FIRST + n the one at n.

    Raises:
        OverflowError: If there are addresses or sizes that no file has.
    """
    base = ranges[0][0] if ranges else 0
    starts, parts = _stepped(ranges)
    offsets = []
    at = HEADER_SIZE
    for block in blocks:
        offsets.append(at)
        at += len(block)
    columns = [
        [base],
        [start - base for start in starts],
        parts,
        offsets,
        [len(block) for block in blocks],
    ]
    directory = seal(payload_of(columns, []))
    head = packed(LAYOUT, MAGIC, VERSION, kind, at, len(directory))
    yield head + checksum(head)
    yield from blocks
    yield directory


def together(packs: Sequence[Pack]) -> tuple[list[Range], list[bytes]]:
    """
    Return the parts and the blocks of several packs of one kind as those of one.

    Where two know an address, the first one's answer is kept: both are right.

    Raises:
        Unusable: If a block is broken.
        OSError: If the system refuses to read one.
    """
    ranges: list[Range] = []
    blocks: list[bytes] = []
    for pack in packs:
        numbers: dict[int, int] = {}
        added = []
        for low, high, part in pack.ranges():
            for first, last in _gaps(ranges, low, high):
                if part >= FIRST and part not in numbers:
                    block = pack.block(part)
                    unseal(block)
                    numbers[part] = FIRST + len(blocks)
                    blocks.append(block)
                added.append((first, last, numbers.get(part, part)))
        ranges = sorted(ranges + added)
    return ranges, blocks


def _gaps(ranges: list[Range], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Give what of [low, high) is in none of *ranges*, which are ascending."""
    at = max(0, bisect_right(ranges, (low, END, 0)) - 1)
    while low < high and at < len(ranges) and ranges[at][0] < high:
        first, last, _ = ranges[at]
        if first > low:
            yield low, first
        low = max(low, last)
        at += 1
    if low < high:
        yield low, high


def _stepped(ranges: Sequence[Range]) -> tuple[list[int], list[int]]:
    """Return where another part begins, UNKNOWN between those of *ranges* included, and which."""
    starts: list[int] = []
    parts: list[int] = []
    end = None
    for low, high, part in ranges:
        if end is not None and low > end:
            starts.append(end)
            parts.append(UNKNOWN)
        if not parts or parts[-1] != part:
            starts.append(low)
            parts.append(part)
        end = high
    if end is not None and end < END:
        starts.append(end)
        parts.append(UNKNOWN)
    return starts, parts
