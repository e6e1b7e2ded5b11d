"""Overlapping ranges to a sorted list in which each address has one owner."""

from __future__ import annotations

from heapq import heappop, heappush

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, int, int]
    """low, high, rank, owner; where spans overlap, the least rank owns."""


def flatten(spans: list[Span]) -> tuple[list[int], list[int]]:
    """Return where another owner begins, ascending, and who: -1 for nobody. Sorts *spans*."""
    spans.sort()
    starts: list[int] = []
    owners: list[int] = []
    active: list[tuple[int, int, int]] = []
    count = len(spans)
    taken = at = 0
    last = -1
    while taken < count or active:
        if not active and spans[taken][0] > at:
            at = spans[taken][0]
        while taken < count and spans[taken][0] <= at:
            _, high, rank, owner = spans[taken]
            heappush(active, (rank, high, owner))
            taken += 1
        while active and active[0][1] <= at:
            heappop(active)
        owner = active[0][2] if active else -1
        if owner != last:
            starts.append(at)
            owners.append(owner)
            last = owner
        if active:
            at = active[0][1]
            if taken < count and spans[taken][0] < at:
                at = spans[taken][0]
    return starts, owners
