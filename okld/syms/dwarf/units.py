"""The units of a file: how one follows the other, and what they have in common."""

from __future__ import annotations

from _bisect import bisect_right, insort_right

from okld.base.errors import FormatError
from okld.base.limits import MAX_UNITS
from okld.syms.dwarf.abbrev import Abbrevs
from okld.syms.dwarf.forms import Encoding
from okld.syms.dwarf.leb import PAST_THE_END, RULE, unit_length
from okld.syms.dwarf.source import Budget, Source
from okld.syms.dwarf.unit import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from okld.syms.dwarf.ranges import Code
    from okld.syms.dwarf.source import DebugBytes

    class Split(Protocol):
        """
        A split unit that was found.

        Attributes:
            sections: Those that hold it.
            offset: Of its header in their "info".
        """

        sections: DebugBytes
        offset: int

    class Companions(Protocol):
        """Where debug information lies that was moved out of the linked file."""

        def alt(self) -> DebugBytes | str:
            """Return the alternate file's sections, or why there are none."""

        def dwo(self, name: str, comp_dir: str, dwo_id: int) -> Split | str:
            """Return where the entries of a skeleton unit are, or why there are none."""


HOP = 10  # steps of work for a header that is only hopped over
KEPT = 64  # tables of abbreviations that are kept


class Units:
    """
    The units of one file.

    Attributes:
        sections: The file's.
        source: The same, by blocks.
        code: Where in the linked file code can lie.
        companions: Where to find what was moved out of the file, or None.
        names: Names of functions by their offset, as far as they were asked for.
    """

    __slots__ = (
        "_abbrevs",
        "_alternate",
        "_encodings",
        "_sizes",
        "_starts",
        "code",
        "companions",
        "names",
        "sections",
        "source",
    )

    def __init__(
        self,
        sections: DebugBytes,
        code: Code,
        companions: Companions | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Stand before the units in *sections*; nothing is read yet. *budget*: as `Source` has."""
        self.sections = sections
        self.source = Source(sections, budget)
        self.code = code
        self.companions = companions
        self._alternate: Units | str | None = None
        self.names: dict[int, str] = {}
        self._encodings: dict[tuple[int, int, int], Encoding] = {}
        self._abbrevs: dict[tuple[int, Encoding], Abbrevs] = {}
        self._starts = [0]
        self._sizes: dict[int, int] = {}

    def encoding(self, version: int, offset_size: int, address_size: int) -> Encoding:
        """
        Return how units with these in their header are encoded.

        Raises:
            FormatError: If no processor has addresses of that size (LIN-1).
        """
        key = version, offset_size, address_size
        found = self._encodings.get(key)
        if found is None:
            found = self._encodings[key] = Encoding(self.sections.order, *key)
        return found

    @property
    def alternate(self) -> Units | str:
        """The units of the file that dwz moved what files share to; or why there are none."""
        if self._alternate is None:
            found = self.companions.alt() if self.companions else "no alternate file is known"
            self._alternate = (
                found
                if isinstance(found, str)
                else Units(found, self.code, budget=self.source.budget)
            )
        return self._alternate

    def abbrevs(self, offset: int, encoding: Encoding) -> Abbrevs:
        """Return the table of abbreviations at *offset*."""
        found = self._abbrevs.get((offset, encoding))
        if found is None:
            if len(self._abbrevs) >= KEPT:
                self._abbrevs.clear()
            found = self._abbrevs[offset, encoding] = Abbrevs(self.source, offset, encoding)
        return found

    def unit(self, offset: int) -> Unit:
        """
        Return the unit whose header is at *offset* of `.debug_info`.

        Raises:
            FormatError: If there is none (LIN-1).
        """
        unit = Unit(self, "info", offset)
        if offset not in self._sizes:
            self._sizes[offset] = unit.size
            if offset:
                insort_right(self._starts, offset)
        return unit

    def holding(self, offset: int) -> Unit:
        """
        Return the unit that has an entry at *offset* of `.debug_info`.

        Raises:
            FormatError: If none has (LIN-1).
        """
        start = self._starts[bisect_right(self._starts, offset) - 1]
        while start + self._size(start) <= offset:
            start += self._size(start)
        return self.unit(start)

    def starts(self) -> Iterator[int]:
        """
        Yield where each unit of `.debug_info` begins, as far as one follows the other.

        Raises:
            FormatError: If there are more than MAX_UNITS (LIN-1).
        """
        total = self.source.size("info")
        start = count = 0
        while start < total:
            count += 1
            if count > MAX_UNITS:
                raise FormatError("LIN-14", "units", got=count, limit=MAX_UNITS)
            size = self._size(start)
            yield start
            start += size

    def _size(self, start: int) -> int:
        size = self._sizes.get(start)
        if size is None:
            rest = self.source.size("info") - start
            head = self.source.exact("info", start, max(0, min(12, rest)))
            try:
                size, _ = unit_length(head, self.sections.order)
            except PAST_THE_END:
                raise FormatError(RULE, "header of a unit is cut", at=start) from None
            self.source.spend(HOP)
            self._sizes[start] = size
            if start > self._starts[-1]:
                self._starts.append(start)
            elif start and self._starts[bisect_right(self._starts, start) - 1] != start:
                insort_right(self._starts, start)
        return size
