"""The innermost of many ranges, for every address at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Spans:
    """Symbols sorted by where they begin, and for every address the one that SYM-3 gives."""

    def __init__(self, indices: list[int], values: list[int], sizes: list[int]) -> None:
        """Sort the symbols *indices* of the columns *values* and *sizes* of a table."""
        # One number sorts by value and then by size, the longest first; sizes have 64 bits.
        keys = {index: (values[index] << 64) - sizes[index] for index in indices}
        self._order = sorted(indices, key=keys.__getitem__)
        self._values = [values[index] for index in self._order]
        self._starts, self._owners = flatten(
            (values[index], values[index] + sizes[index], index)
            for index in self._order
            if sizes[index]
        )

    def owner(self, address: int) -> int:
        """Return the index of the innermost sized symbol that holds *address*, or -1."""
        at = bisect_right(self._starts, address) - 1
        return self._owners[at] if at >= 0 else -1

    def beginning(self, value: int) -> list[int]:
        """Return the indices of all symbols that begin at *value*."""
        first, last = bisect_left(self._values, value), bisect_right(self._values, value)
        return self._order[first:last]

    def nearest(self, address: int) -> list[int]:
        """Return the symbols that begin last up to *address*, and one that holds their begin."""
        at = bisect_right(self._values, address) - 1
        if at < 0:
            return []
        value = self._values[at]
        owner = self.owner(value)
        return self.beginning(value) + ([owner] if owner >= 0 else [])


def flatten(spans: Iterable[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """
    Return where the innermost span changes: ascending addresses, and the owner from each on (-1:
    nobody's).

    Args:
        spans: (start, end, owner), none empty, in ascending order of start; of one start, the
            longest first.

    Source: SYM-3, for all addresses at once.
    """
    starts: list[int] = []
    owners: list[int] = []
    open_spans: list[tuple[int, int]] = []  # (end, owner), the one that began last on top

    def mark(address: int, owner: int) -> None:
        if starts and starts[-1] == address:
            owners[-1] = owner
        else:
            starts.append(address)
            owners.append(owner)

    def close() -> None:
        end, _ = open_spans.pop()
        while open_spans and open_spans[-1][0] <= end:
            open_spans.pop()
        mark(end, open_spans[-1][1] if open_spans else -1)

    for start, end, owner in spans:
        while open_spans and open_spans[-1][0] <= start:
            close()
        open_spans.append((end, owner))
        mark(start, owner)
    while open_spans:
        close()
    return starts, owners
