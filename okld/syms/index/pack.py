"""
A pack: many blocks in one file, and which of them an address is to be looked up in.

A pack is::

    8 bytes    "okldpack"
    u32 u32    version of the form, layer (names or lines)
    u64 u64    where the directory is in the file, and its size
    8 bytes    checksum of all before
    blocks
    directory: a block whose columns are: the least address of the directory; where another part
               begins, in bytes from there; for each part UNKNOWN, NOTHING or 2 + the number of its
               block; where each block is in the file; how long each is

What a pack was made of stands in its name: `okld.syms.index.head`. Source: IDX-5, IDX-6.
"""

from __future__ import annotations

import os
from _bisect import bisect_right
from _struct import unpack

from okld.syms.index.format import VERSION, Unusable, checksum, columns_of, unseal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"okldpack"
NAMES, LINES = 1, 2
UNKNOWN, NOTHING, FIRST = 0, 1, 2
"""What the directory says of a part: not looked up yet, known to be empty, else a block."""

END = 1 << 64
"""Where the address space ends."""

HEADER_SIZE = 40
MAX_BLOCK = 1 << 28  # bytes in the file

LAYOUT = "=8sIIQQ"


class Pack:
    """
    An open pack.

    Attributes:
        starts: Where another part begins, ascending link addresses less `base`.
        parts: What the directory says of each part.
        base: The least address of the directory.
    """

    __slots__ = ("_fd", "_offsets", "_sizes", "base", "parts", "starts")

    def __init__(self, fd: int, layer: int) -> None:
        """
        Read the directory of the pack that is open as *fd*, and take *fd* over.

        Raises:
            Unusable: If it is none.
            OSError: If the system refuses to read it.
        """
        self._fd = fd
        head = os.pread(fd, HEADER_SIZE, 0)
        if len(head) != HEADER_SIZE:
            raise Unusable("a pack is cut")
        magic, version, kind, offset, size = unpack(LAYOUT, head[:-8])
        if (magic, version, kind) != (MAGIC, VERSION, layer) or checksum(head[:-8]) != head[-8:]:
            raise Unusable("a pack is of another form")
        columns, _ = columns_of(unseal(self._read(offset, size)))
        if len(columns) != 5 or len(columns[0]) != 1 or len(columns[1]) != len(columns[2]):
            raise Unusable("a directory is malformed")
        (self.base,), self.starts, self.parts, self._offsets, self._sizes = columns

    def part_at(self, address: int) -> tuple[int, int]:
        """Return what the directory says of a link address, and up to which address it does."""
        starts, base = self.starts, self.base
        after = bisect_right(starts, address - base)
        end = starts[after] + base if after < len(starts) else END
        return (self.parts[after - 1] if after else UNKNOWN), end

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """Give the parts that are not UNKNOWN: where each begins and ends, and what it is."""
        ends = [*self.starts[1:], END - self.base]
        for start, end, part in zip(self.starts, ends, self.parts, strict=False):
            if part != UNKNOWN:
                yield self.base + start, self.base + end, part

    def block(self, part: int) -> bytes:
        """
        Return the block of a part, which is not UNKNOWN or NOTHING, as it stands.

        Raises:
            Unusable: If there is no such block.
            OSError: If the system refuses to read it.
        """
        if part - FIRST >= len(self._offsets):
            raise Unusable("a directory is malformed")
        return self._read(self._offsets[part - FIRST], self._sizes[part - FIRST])

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _read(self, offset: int, size: int) -> bytes:
        if size > MAX_BLOCK:
            raise Unusable("a block is too long")
        try:
            data = os.pread(self._fd, size, offset)
        except OverflowError:
            raise Unusable("a block is nowhere") from None
        if len(data) != size:
            raise Unusable("a pack is cut")
        return data
