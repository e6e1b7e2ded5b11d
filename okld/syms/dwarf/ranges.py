"""Ranges of addresses: of a unit, a function, an inlined call.

Source: DWARF 5, 2.17 and 7.28; DWARF 2 to 4, 2.17.3 and 7.23.
"""

from __future__ import annotations

from _bisect import bisect_right
from _struct import Struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_WORK
from okld.syms.dwarf.codes import (
    AT_GNU_RANGES_BASE,
    AT_HIGH_PC,
    AT_LOW_PC,
    AT_RANGES,
    AT_RNGLISTS_BASE,
    RLE_BASE_ADDRESS,
    RLE_BASE_ADDRESSX,
    RLE_END_OF_LIST,
    RLE_OFFSET_PAIR,
    RLE_START_END,
    RLE_START_LENGTH,
    RLE_STARTX_ENDX,
    RLE_STARTX_LENGTH,
)
from okld.syms.dwarf.forms import ADDRESS, ADDRESS_INDEX, LETTERS, LIST_INDEX
from okld.syms.dwarf.leb import PAST_THE_END, RULE, uleb
from okld.syms.dwarf.values import address, addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.unit import Unit

    Ranges = list[tuple[int, int]]

FIRST_READ = 1 << 12  # bytes of a list; few are longer


class Code:
    """Where code can lie: a range that begins elsewhere belongs to code the linker dropped."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, places: Sequence[tuple[int, int]]) -> None:
        """State the places as (start, end) link addresses, in any order."""
        starts: list[int] = []
        ends: list[int] = []
        for start, end in sorted(places):
            if ends and start <= ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        self._starts = starts
        self._ends = ends

    def holds(self, place: int) -> bool:
        """Say whether code can lie at a link address."""
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]


def ranges_of(unit: Unit, abbrev: Abbrev, values: Values) -> Ranges:
    """
    Return the (low, high) link addresses that an entry states, without dropped and empty ones.

    Raises:
        FormatError: If they are not where the entry says (LIN-1).
    """
    holds = unit.units.code.holds
    limit = unit.encoding.address_limit
    found = _stated(unit, abbrev, values)
    return [(low, high) for low, high in found if low < high <= limit and holds(low)]


def covers(unit: Unit, abbrev: Abbrev, values: Values, place: int) -> bool:
    """
    Say whether one of the ranges that `ranges_of` returns has a link address.

    Raises:
        FormatError: As `ranges_of` does.
    """
    holds = unit.units.code.holds
    limit = unit.encoding.address_limit
    found = _stated(unit, abbrev, values)
    return any(low <= place < high <= limit and holds(low) for low, high in found)


def _stated(unit: Unit, abbrev: Abbrev, values: Values) -> Ranges:
    if abbrev.low_and_size:
        low, size = values[AT_LOW_PC], values[AT_HIGH_PC]
        assert isinstance(low, int)
        assert isinstance(size, int)
        return [(low, low + size)]
    if AT_RANGES in values:
        return _listed(unit, abbrev, values)
    if AT_HIGH_PC not in values:
        return []
    kind, low = abbrev.typed(values, AT_LOW_PC)
    if kind == ADDRESS_INDEX:
        low = address(unit, low)
    elif not kind:
        return []
    kind, high = abbrev.typed(values, AT_HIGH_PC)
    if kind == ADDRESS_INDEX:
        high = address(unit, high)
    elif kind != ADDRESS:
        high += low
    return [(low, high)]


def _listed(unit: Unit, abbrev: Abbrev, values: Values) -> Ranges:
    kind, number = abbrev.typed(values, AT_RANGES)
    version = unit.encoding.version
    if version >= 5:
        owner, name = unit, "rnglists"
        if kind == LIST_INDEX:
            number = _list_offset(unit, number)
    else:
        owner, name = unit.skeleton or unit, "ranges"
        if unit.skeleton:
            number += unit.skeleton.number(AT_GNU_RANGES_BASE) or 0
    size = FIRST_READ
    while True:
        data = owner.units.source.ahead(name, number, size)
        try:
            return _range_list(unit, data) if version >= 5 else _range_pairs(unit, data)
        except PAST_THE_END:
            unit.units.source.spend(len(data))
            if len(data) < size:
                raise FormatError(RULE, "a list of ranges does not end", at=number) from None
        if size > MAX_WORK:
            raise FormatError("LIN-14", "bytes of a list of ranges", got=size, limit=MAX_WORK)
        size *= 8


def _list_offset(unit: Unit, index: int) -> int:
    size = unit.encoding.offset_size
    base = unit.number(AT_RNGLISTS_BASE)
    if base is None:
        base = 12 if size == 4 else 20
    entry = unit.units.source.ahead("rnglists", base + index * size, size)
    return base + int(unit.encoding.word(entry, 0)[0])


def _base(unit: Unit) -> int:
    """Return the address that a list's offsets count from, as far as the list states none."""
    base = unit.bases.get(AT_LOW_PC)
    if base is None:
        holder = unit.skeleton or unit
        abbrev, values, _ = holder.root()
        kind, base = abbrev.typed(values, AT_LOW_PC)
        if kind == ADDRESS_INDEX:
            base = address(holder, base)
        unit.bases[AT_LOW_PC] = base
    return base


def _range_pairs(unit: Unit, data: bytes) -> Ranges:
    """Decode a list of DWARF 2 to 4."""
    size = unit.encoding.address_size
    pair = Struct(unit.encoding.order + 2 * LETTERS[size]).unpack_from
    highest = unit.encoding.address_limit - 1
    base = _base(unit)
    found: Ranges = []
    at = 0
    while True:
        low, high = pair(data, at)
        at += 2 * size
        if not low and not high:
            unit.units.source.spend(at // size)
            return found
        if low == highest:
            base = high
        elif low != high:
            found.append((base + low & highest, base + high & highest))


def _range_list(unit: Unit, data: bytes) -> Ranges:
    """Decode a list of DWARF 5, in one loop: a kernel's units have a million entries of lists."""
    encoding = unit.encoding
    size = encoding.address_size
    highest = unit.encoding.address_limit - 1
    base = -1
    number = encoding.address
    first_of: bytes | None = None
    found: Ranges = []
    at = 0
    while True:
        kind = data[at]
        at += 1
        if kind == RLE_STARTX_LENGTH:
            index, high = data[at], data[at + 1]
            at += 2
            if index > 0x7F:
                index, at = uleb(data, at - 2)
                high = data[at]
                at += 1
            if high > 0x7F:
                high, at = uleb(data, at - 1)
            if first_of is None:
                first_of = addresses(unit.skeleton or unit)
            place = index * size
            known = place + size <= len(first_of)
            low = number(first_of, place)[0] if known else address(unit, index)
            found.append((low, low + high))
        elif kind == RLE_OFFSET_PAIR:
            low, at = uleb(data, at)
            high, at = uleb(data, at)
            if base < 0:
                base = _base(unit)
            found.append((base + low & highest, base + high & highest))
        elif kind == RLE_END_OF_LIST:
            unit.units.source.spend(at)
            return found
        elif kind == RLE_BASE_ADDRESS:
            (base,) = number(data, at)
            at += size
        elif kind == RLE_START_END:
            (low,) = number(data, at)
            (high,) = number(data, at + size)
            at += 2 * size
            found.append((low, high))
        elif kind == RLE_START_LENGTH:
            (low,) = number(data, at)
            high, at = uleb(data, at + size)
            found.append((low, low + high))
        elif kind == RLE_BASE_ADDRESSX:
            index, at = uleb(data, at)
            base = address(unit, index)
        elif kind == RLE_STARTX_ENDX:
            index, at = uleb(data, at)
            last, at = uleb(data, at)
            found.append((address(unit, index), address(unit, last)))
        else:
            raise FormatError(RULE, "kind of a range", got=kind)
