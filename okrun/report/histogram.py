"""
Histograms by powers of two: of a report's ``log2_ns``, exactly as SPEC 12.4 defines it.

Entry i counts what took at least 2^i ns and less than twice that, entry 0 what took 0 or 1 ns;
entries after the last are 0.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Histogram = tuple[int, ...]


def added(histograms: Iterable[Histogram]) -> Histogram:
    """Return the sum of *histograms*."""
    return tuple(map(sum, zip_longest(*histograms, fillvalue=0)))


def less(whole: Histogram, part: Histogram) -> Histogram:
    """Return *whole* without *part* of it."""
    return tuple(a - b for a, b in zip_longest(whole, part, fillvalue=0))


def percentile(histogram: Sequence[int], max_ns: int, percent: int) -> int | None:
    """
    Return the time in nanoseconds that *percent* of the calls did not exceed, or None of no call.

    Of n calls it is that of the one at place ceil(n * percent / 100), counted from the shortest.
    The calls of an entry are taken to be spread evenly over it. The true time is in the same entry,
    so this is at most twice it and at least half, or 2 ns from it; it is never above *max_ns*.

    Source: RPT-6.
    """
    place = -(-sum(histogram) * percent // 100)
    for entry, calls in enumerate(histogram):
        if 0 < place <= calls:
            low = min(1 << entry if entry else 0, max_ns)
            high = min(2 << entry, max_ns)
            return low + (high - low) * place // calls
        place -= calls
    return None
