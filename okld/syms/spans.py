"""The innermost of many ranges, for every address at once."""

from __future__ import annotations

from _bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Spans:
    """
    Ranges of addresses, each with what it belongs to, and for every address the innermost.

    Positions are those in the ranges' order: by where they begin and, of one start, the longest
    first, so that equal ones lie beside each other.

    Attributes:
        owners: What the range at each position belongs to.
        starts, ends: Pieces of the address space, ascending, none over another but for equal ones.
        positions: For each piece the position of its innermost range; less than 0, it is the
            complement, as the piece may reach out of every segment.
        cut: The pieces that are of ranges that lie over one another; equals are not beside them.
    """

    __slots__ = ("_ends", "_starts", "cut", "ends", "owners", "positions", "starts")

    def __init__(self, starts: list[int], ends: list[int], owners: list[int]) -> None:
        """Take ranges in ascending order of *starts*, none empty."""
        self._starts = self.starts = starts
        self._ends = self.ends = ends
        self.owners = owners
        self.positions = list(range(len(starts)))
        self.cut: list[int] = []
        pairs = zip(starts, starts[1:], ends, ends[1:], strict=False)
        knots = [
            index
            for index, (start, after, end, its_end) in enumerate(pairs)
            if end > after and (start != after or end != its_end)
        ]
        if knots:
            self._untie(knots)

    def keep_inside(self, segments: list[tuple[int, int]]) -> None:
        """Mark the pieces that are not wholly in one of *segments*, given by start and end."""
        inside = bytearray(len(self.starts))
        for low, high in segments:
            first, last = bisect_left(self.starts, low), bisect_right(self.ends, high)
            inside[first:last] = b"\1" * (last - first)
        at = inside.find(0)
        while at >= 0:
            self.positions[at] = ~self.positions[at]
            at = inside.find(0, at + 1)

    def holds(self, address: int) -> bool:
        """Say whether any range holds *address*."""
        at = bisect_right(self.starts, address) - 1
        return at >= 0 and address < self.ends[at]

    def equals(self, position: int) -> list[int]:
        """Return the owners of all ranges equal to the one at *position*."""
        first, last = self._equals(position)
        return self.owners[first:last]

    def reaching(self, position: int) -> list[int]:
        """Return the owners of the ranges that begin with the one at *position* and are as long."""
        _, last = self._equals(position)
        return self.owners[bisect_left(self._starts, self._starts[position]) : last]

    def _equals(self, position: int) -> tuple[int, int]:
        starts, ends = self._starts, self._ends
        start, end = starts[position], ends[position]
        first, last = position, position + 1
        while first and starts[first - 1] == start and ends[first - 1] == end:
            first -= 1
        while last < len(starts) and starts[last] == start and ends[last] == end:
            last += 1
        return first, last

    def _untie(self, knots: list[int]) -> None:
        """Cut the ranges that lie over one another, each from one of *knots* on, into pieces."""
        starts: list[int] = []
        ends: list[int] = []
        positions: list[int] = []
        done = 0
        for knot in knots:
            if knot < done:
                continue
            first = bisect_left(self._starts, self._starts[knot])
            last = self._sort_knot(first)
            starts += self._starts[done:first]
            ends += self._ends[done:first]
            positions += range(done, first)
            bounds = self._starts[first:last], self._ends[first:last]
            knot_spans = zip(*bounds, range(first, last), strict=True)
            for start, end, position in flatten(knot_spans):
                self.cut.append(len(starts))
                starts.append(start)
                ends.append(end)
                positions.append(position)
            done = last
        self.starts = starts + self._starts[done:]
        self.ends = ends + self._ends[done:]
        self.positions = positions + list(range(done, len(self._starts)))

    def _sort_knot(self, first: int) -> int:
        """Bring the ranges from *first* on in order, up to one that lies over none; return that."""
        last, reach = first, self._starts[first] + 1
        while last < len(self._starts) and self._starts[last] < reach:
            reach = max(reach, self._ends[last])
            last += 1
        order = sorted(range(first, last), key=lambda at: (self._starts[at], -self._ends[at]))
        self._ends[first:last] = [self._ends[at] for at in order]
        self.owners[first:last] = [self.owners[at] for at in order]
        return last


def flatten(spans: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """
    Return the pieces (start, end, owner), ascending, in which the innermost span is the same.

    Args:
        spans: (start, end, owner), none empty, in ascending order of start; of one start, the
            longest first.

    Source: SYM-3, for all addresses at once.
    """
    pieces: list[tuple[int, int, int]] = []
    open_spans: list[tuple[int, int]] = []  # (end, owner), the one that began last on top
    at = 0

    def close_until(address: int) -> None:
        nonlocal at
        while open_spans and at < address:
            end, owner = open_spans[-1]
            if end > at:
                pieces.append((at, min(end, address), owner))
                at = min(end, address)
            if end <= address:
                open_spans.pop()

    for start, end, owner in spans:
        close_until(start)
        at = start
        open_spans.append((end, owner))
    close_until(max((end for end, _ in open_spans), default=0))
    return pieces
