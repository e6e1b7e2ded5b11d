"""`.debug_aranges`: which unit an address belongs to, of those units that it names.

An accelerator only: compilers leave it out, and linkers join files that have it and files that do
not. Source: DWARF 5, 6.1.2 and 7.21.
"""

from __future__ import annotations

from _struct import Struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_ARANGES
from okld.syms.dwarf.forms import LETTERS
from okld.syms.dwarf.leb import PAST_THE_END, unit_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.syms.dwarf.units import Units


SET = 10  # steps of work for a set, beside one for each range


def arange_sets(units: Units) -> Iterator[tuple[int, tuple[int, ...]]]:
    """
    Yield the sets of the section, as far as they can be read: what they lack is elsewhere.

    A set is the offset of a unit's header in `.debug_info`, and the first address and the length of
    each range, one after the other.

    Raises:
        FormatError: If there are too many (LIN-14).
    """
    size = units.source.size("aranges")
    if not 0 < size <= MAX_ARANGES:
        return
    order = units.sections.order
    spend = units.source.spend
    data = units.source.exact("aranges", 0, size)
    header = Struct(order + "4xHIBB")
    wide = Struct(order + "12xHQBB")
    bodies: dict[tuple[int, int], Struct] = {}
    at = 0
    while at < size:
        spend(SET)
        try:
            total, offset_size = unit_length(data, order, at)
            fields = header if offset_size == 4 else wide
            version, unit, address_size, segment_size = fields.unpack_from(data, at)
        except (FormatError, *PAST_THE_END):
            return
        if total > size - at:
            return
        if version == 2 and address_size in LETTERS and not segment_size:
            pair = 2 * address_size
            start = -(-fields.size // pair) * pair
            count = max(total - start, 0) // pair * 2
            spend(count // 2)
            body = bodies.get((address_size, count))
            if body is None:
                body = Struct(f"{order}{count}{LETTERS[address_size]}")
                bodies[address_size, count] = body
            yield unit, body.unpack_from(data, at + start)
        at += total
