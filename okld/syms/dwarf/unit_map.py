"""Which unit has an address: by `.debug_aranges` where it says so, else by the units' entries."""

from __future__ import annotations

from _bisect import bisect_right

from okld.base.errors import OkError
from okld.syms.dwarf.aranges import arange_sets
from okld.syms.dwarf.codes import DW_UT_COMPILE, DW_UT_SKELETON
from okld.syms.dwarf.leb import PAST_THE_END, damage
from okld.syms.dwarf.ranges import covers, ranges_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from okld.syms.dwarf.ranges import Ranges
    from okld.syms.dwarf.unit import Unit
    from okld.syms.dwarf.units import Units


LOOK = 60  # steps of work for a unit's first entry
FEW = 3  # answers that are quicker without a list of all units


class UnitHead:
    """
    A unit that has code.

    Attributes:
        offset: Of its header in `.debug_info`.
        size: In bytes, with the header.
        ranges: Its (low, high) link addresses.
    """

    __slots__ = ("offset", "ranges", "size")

    def __init__(self, offset: int, size: int, ranges: Ranges) -> None:
        """State them."""
        self.offset = offset
        self.size = size
        self.ranges = ranges


class UnitMap:
    """
    Which unit has which address: read on the way to the first answers, and kept from then on.

    Attributes:
        damage: Why not all units are known, or "".
    """

    __slots__ = ("_asked", "_known", "_latest", "_units", "damage")

    def __init__(self, units: Units) -> None:
        """Stand before *units*; nothing is read yet."""
        self._units = units
        self._asked = 0
        self._known: tuple[list[int], list[int], list[UnitHead]] | None = None
        self._latest: Unit | None = None
        self.damage = ""

    def find(self, address: int) -> Unit | None:
        """Return the unit that has a link address, the first of several, or None."""
        if not self._units.code.holds(address):
            return None
        self._asked += 1
        if self._asked <= FEW and self._known is None:
            return self._search(address)
        head = self.head(address)
        if head is None:
            return None
        if self._latest is None or self._latest.offset != head.offset:
            self._latest = self._units.unit(head.offset)
        return self._latest

    def head(self, address: int) -> UnitHead | None:
        """Return the same as `find`, without opening the unit; all units are looked at."""
        starts, owners, heads = self._all()
        at = bisect_right(starts, address) - 1
        owner = owners[at] if at >= 0 else -1
        return heads[owner] if owner >= 0 else None

    def heads(self) -> list[UnitHead]:
        """Return all units that have code."""
        return self._all()[2]

    def _all(self) -> tuple[list[int], list[int], list[UnitHead]]:
        if self._known is None:
            from okld.syms.dwarf.stretches import flatten

            heads = self._read_heads()
            spans = [(low, high, n, n) for n, head in enumerate(heads) for low, high in head.ranges]
            self._known = *flatten(spans), heads
        return self._known

    def _search(self, address: int) -> Unit | None:
        holds = self._units.code.holds
        named = set()
        for offset, words in self._aranges():
            for at in range(0, len(words), 2):
                low = words[at]
                if low <= address < low + words[at + 1] and holds(low):
                    return self._units.unit(offset)
            named.add(offset)
        for unit in self._others(named):
            try:
                abbrev, values, _ = unit.root()
                if covers(unit, abbrev, values, address):
                    return unit
            except (OkError, *PAST_THE_END) as error:
                self.damage = damage("a unit", error)
        return None

    def _read_heads(self) -> list[UnitHead]:
        holds = self._units.code.holds
        named: dict[int, Ranges] = {}
        for offset, words in self._aranges():
            pairs = zip(words[::2], words[1::2], strict=True)
            live = [(low, low + size) for low, size in pairs if size and holds(low)]
            named.setdefault(offset, []).extend(live)
        heads = []
        for unit in self._others(named.keys()):
            try:
                ranges = ranges_of(unit, *unit.root()[:2])
            except (OkError, *PAST_THE_END) as error:
                self.damage = damage("a unit", error)
                continue
            if ranges:
                heads.append(UnitHead(unit.offset, unit.size, ranges))
        for offset, ranges in named.items():
            if ranges:
                try:
                    heads.append(UnitHead(offset, self._units.unit(offset).size, ranges))
                except (OkError, *PAST_THE_END) as error:
                    self.damage = damage("a unit", error)
        heads.sort(key=lambda head: head.offset)
        return heads

    def _aranges(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        try:
            yield from arange_sets(self._units)
        except OkError as error:
            self.damage = damage("aranges", error)

    def _others(self, named: Container[int]) -> Iterator[Unit]:
        """Yield the units that may have code and are not among those *named*."""
        units = self._units
        try:
            for offset in units.starts():
                if offset not in named:
                    units.source.spend(LOOK)
                    try:
                        unit = units.unit(offset)
                    except (OkError, *PAST_THE_END) as error:
                        self.damage = damage("a unit", error)
                        continue
                    if unit.kind in (DW_UT_COMPILE, DW_UT_SKELETON):
                        yield unit
        except (OkError, *PAST_THE_END) as error:
            self.damage = damage("units", error)
