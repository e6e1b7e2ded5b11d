"""Many addresses in one table: ranges that are sorted once, and then halved for every address."""

from __future__ import annotations

from _bisect import bisect_right

from okld.base.limits import MAX_ALIASES
from okld.elf.tables import STT_NOTYPE
from okld.syms.choose import INFO_RANKS, leading_underscores
from okld.syms.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from okld.syms.part import Part
    from okld.syms.plt import Stubs

BETWEEN, OUTSIDE, NO_TABLE = -1, -2, -3
"""What stands for a symbol's index, or its group, where there is none."""


class Bulk:
    """
    The symbols of some tables, as ranges; equal ones are a group.

    A symbol's index counts through all tables.
    """

    def __init__(self, parts: Sequence[Part | Stubs], segments: list[tuple[int, int]]) -> None:
        """Sort the symbols of *parts*; an address can only be in *segments*, by start and end."""
        self._parts = parts
        self._segments = segments
        self._nothing = BETWEEN if any(len(part) > 1 for part in parts if part.source) else NO_TABLE
        self._info = b"".join(part.info for part in parts)
        self._values, self._sizes = parts[0].values, parts[0].sizes
        answers = parts[0].all_answers()
        for part in parts[1:]:
            first = len(self._values)
            answers += [first + index for index in part.all_answers()]
            self._values = self._values + part.values
            self._sizes = self._sizes + part.sizes
        answers.sort(key=self._values.__getitem__)
        self._answers = answers
        self._sized = self._sized_spans(answers)
        self._unsized: Spans | None = None
        self._sized.keep_inside(segments)
        self._groups: dict[int, tuple[int, ...]] = {}
        self._ends: list[int] = []
        self._alone: list[int] = []

    def boundaries(self) -> list[int]:
        """Return every address from which on the answer can be another, ascending."""
        places = {edge for segment in self._segments for edge in segment}
        for spans in (self._sized, self._unsized_spans()):
            places.update(spans.starts)
            places.update(spans.ends)
        return sorted(places)

    def finder(self) -> Callable[[int], int]:
        """
        Return what gives for a link address the number of its group, or why there is none.

        The number of a symbol without equals is its index.
        """
        if not self._ends:
            self._ends, self._alone = self._lonely()
        starts, ends, alone = self._sized.starts, self._ends, self._alone
        with_care = self._with_care

        def find(address: int) -> int:
            at = bisect_right(starts, address)
            if address < ends[at] and alone[at] >= 0:
                return alone[at]
            return with_care(address, at - 1)

        return find

    def group(self, number: int) -> tuple[int, ...]:
        """Return the answer of a group and its first equals, in the order of SYM-5."""
        if number < len(self._values):
            return (number,)
        group = self._groups.get(number)
        if group is None:
            position = number - len(self._values)
            if position < len(self._sized.owners):
                members = self._sized.equals(position)
            else:
                members = self._unsized_spans().reaching(position - len(self._sized.owners))
            members = sorted(members, key=self._rank)[: 1 + MAX_ALIASES]
            group = self._groups[number] = tuple(members)
        return group

    def owners(self, addresses: Iterable[int]) -> list[int]:
        """Return for each of *addresses* the index of its symbol, or why there is none."""
        count, group = len(self._values), self.group
        found = map(self.finder(), addresses)
        return [number if number < count else group(number)[0] for number in found]

    def _lonely(self) -> tuple[list[int], list[int]]:
        """
        Return for every count of pieces that begin up to an address where the last of them ends,
        and whose it is: -1, if it may have equals or has to be looked at with care.
        """
        spans = self._sized
        owners = [spans.owners[at] if at >= 0 else -1 for at in spans.positions]
        pairs = zip(spans.starts, spans.starts[1:], strict=False)
        for at in [at for at, (start, after) in enumerate(pairs) if start == after]:
            owners[at] = owners[at + 1] = -1
        for at in spans.cut:
            owners[at] = -1
        return [-1, *spans.ends], [-1, *owners]

    def _with_care(self, address: int, at: int) -> int:
        """Return the group of an address; the last sized piece that begins up to it is *at*."""
        if self._segments and not any(low <= address < high for low, high in self._segments):
            return OUTSIDE if self._nothing == BETWEEN else NO_TABLE
        sized, unsized = self._sized, self._unsized
        if at >= 0 and address < sized.ends[at]:
            position = sized.positions[at]
            return len(self._values) + max(position, ~position)
        if unsized is None:
            unsized = self._unsized_spans()
        at = bisect_right(unsized.starts, address) - 1
        if at < 0 or address >= unsized.ends[at]:
            return self._nothing
        return len(self._values) + len(sized.owners) + unsized.positions[at]

    def _rank(self, index: int) -> tuple[int, int, int]:
        part, local = self._part(index)
        return INFO_RANKS[self._info[index]], leading_underscores(part.head(local)), index

    def _part(self, index: int) -> tuple[Part | Stubs, int]:
        for part in self._parts:
            if index < len(part):
                break
            index -= len(part)
        return part, index

    def _sized_spans(self, answers: list[int]) -> Spans:
        values, sizes = self._values, self._sizes
        sized = [index for index in answers if sizes[index]]
        starts = [values[index] for index in sized]
        return Spans(starts, [values[index] + sizes[index] for index in sized], sized)

    def _unsized_spans(self) -> Spans:
        """Return how far symbols of size 0 reach, labels inside others left out. Source: SYM-4."""
        if self._unsized is not None:
            return self._unsized
        values, info = self._values, self._info
        unsized = [index for index in self._answers if not self._sizes[index]]
        limits = self._limits(unsized)
        ordered = [values[index] for index in self._answers]
        ordered.append(1 << 65)
        rows: list[tuple[int, int, int]] = []
        for index, limit in zip(unsized, limits, strict=True):
            value = values[index]
            end = min(limit, ordered[bisect_right(ordered, value)])
            if end <= value or (info[index] & 15 == STT_NOTYPE and self._sized.holds(value)):
                continue
            rows.append((value, end, index))
        starts, ends, owners = (
            (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
        )
        self._unsized = Spans(starts, ends, owners)
        return self._unsized

    def _limits(self, indices: list[int]) -> list[int]:
        """Return what `Part.limits` says of *indices*, which count through all parts."""
        limits: dict[int, int] = {}
        first = 0
        for part in self._parts:
            own = [i - first for i in indices if first <= i < first + len(part)]
            limits.update(zip((first + i for i in own), part.limits(own), strict=True))
            first += len(part)
        return [limits[index] for index in indices]
