"""Which unit the addresses of a file's code are in, all at once."""

from __future__ import annotations

from _bisect import bisect_right

from okld.syms.dwarf.stretches import flatten
from okld.syms.index.pack import END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.reader import Dwarf
    from okld.syms.dwarf.unit_map import UnitHead


class Owners:
    """
    The units of a file that have code.

    Attributes:
        heads: They, in the order of the file.
        ranges: Where the addresses of each are, ascending: none is in two. Source: LIN-3.
    """

    __slots__ = ("_owners", "_starts", "heads", "ranges")

    def __init__(self, dwarf: Dwarf) -> None:
        """
        Ask every unit of *dwarf* which addresses it has.

        Raises:
            FormatError: If units cannot be told apart.
        """
        self.heads: list[UnitHead] = dwarf.units()
        spans = [
            (low, high, n, n) for n, head in enumerate(self.heads) for low, high in head.ranges
        ]
        self._starts, self._owners = flatten(spans)
        self.ranges: list[list[tuple[int, int]]] = [[] for _ in self.heads]
        ends = [*self._starts[1:], 0]
        for start, end, owner in zip(self._starts, ends, self._owners, strict=True):
            if owner >= 0:
                self.ranges[owner].append((start, end))

    def at(self, address: int) -> int:
        """Return the number of the unit that has a link address, or -1."""
        at = bisect_right(self._starts, address) - 1
        return self._owners[at] if at >= 0 else -1

    def nobodys(self) -> list[tuple[int, int]]:
        """Return the ranges that no unit has."""
        places = zip([0, *self._starts], [*self._starts, END], [-1, *self._owners], strict=True)
        return [(start, end) for start, end, owner in places if owner < 0 and start < end]
