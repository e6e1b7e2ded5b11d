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
        self._keys = [keys[index] for index in self._order]
        self._starts, self._owners = flatten(
            (values[index], values[index] + sizes[index], index)
            for index in self._order
            if sizes[index]
        )

    def owner(self, address: int) -> int:
        """Return the index of the innermost sized symbol that holds *address*, or -1."""
        at = bisect_right(self._starts, address) - 1
        return self._owners[at] if at >= 0 else -1

    def equals(self, value: int, size: int) -> list[int]:
        """Return the indices of all symbols of this *value* and *size*."""
        key = (value << 64) - size
        return self._order[bisect_left(self._keys, key) : bisect_right(self._keys, key)]

    def unsized(self, value: int) -> list[int]:
        """Return the indices of all symbols of size 0 at *value*, and of one that holds it."""
        owner = self.owner(value)
        return self.equals(value, 0) + ([owner] if owner >= 0 else [])

    def last(self, address: int) -> int:
        """Return the greatest value of a symbol up to *address*, or -1."""
        at = bisect_right(self._keys, address << 64) - 1
        return -(-self._keys[at] >> 64) if at >= 0 else -1


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
