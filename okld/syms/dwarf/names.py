"""The name of a function: of its own entry, or of one that it is an instance of.

Source: DWARF 5, 3.3.8 (`DW_AT_abstract_origin`) and 2.13.2 (`DW_AT_specification`).
"""

from __future__ import annotations

from okld.base.limits import MAX_CHAIN
from okld.syms.dwarf.codes import (
    AT_ABSTRACT_ORIGIN,
    AT_LINKAGE_NAME,
    AT_MIPS_LINKAGE_NAME,
    AT_NAME,
    AT_SPECIFICATION,
)
from okld.syms.dwarf.values import LOST, referred, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.unit import Unit

KEPT = 1 << 16  # names of one file
SHORT = 1 << 10  # characters of a name that is kept; longer ones are few


def name_of(unit: Unit, at: int, abbrev: Abbrev, values: Values) -> str:
    """
    Return what `name_at` does, of an entry that is decoded already.

    Raises:
        FormatError: As `name_at` does.
    """
    if abbrev.nameless:
        place = referred(unit, *abbrev.typed(values, AT_ABSTRACT_ORIGIN))
        return LOST if place is None else name_at(*place)
    return name_at(unit, at)


def name_at(unit: Unit, at: int) -> str:
    """
    Return the raw name of the function whose entry is at a position of *unit*.

    The first linkage name on the chain of entries that it is an instance of, else the first plain
    one; "" where there is none, and `LOST` where the chain leads into a file that is missing.

    Raises:
        FormatError: If a string or a reference leads nowhere (LIN-1).
    """
    names = unit.units.names
    key = unit.offset + at if unit.section == "info" else -1
    name = names.get(key)
    if name is None:
        name = _find(unit, at)
        if key >= 0 and len(name) <= SHORT:
            if len(names) >= KEPT:
                names.clear()
            names[key] = name
    return name


def _find(unit: Unit, at: int) -> str:
    plain: str | None = None
    seen = {(unit, at)}
    ahead = [(unit, at)]
    while ahead and len(seen) <= MAX_CHAIN:
        unit, at = ahead.pop()
        abbrev, start = unit.abbrevs.at(unit.data, at)
        values, _ = abbrev.read(unit.data, start)
        for attribute in (AT_MIPS_LINKAGE_NAME, AT_LINKAGE_NAME):
            linkage = text(unit, abbrev, values, attribute) if attribute in values else None
            if linkage:
                return linkage
        if plain is None or plain == LOST:
            plain = text(unit, abbrev, values, AT_NAME) or plain
        for attribute in (AT_ABSTRACT_ORIGIN, AT_SPECIFICATION):
            if attribute not in values:
                continue
            place = referred(unit, *abbrev.typed(values, attribute))
            if place is None:
                plain = plain or LOST
            elif place not in seen:
                seen.add(place)
                ahead.append(place)
    return plain or ""
