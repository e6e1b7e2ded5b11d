"""Values that lie elsewhere than in the entry: strings, addresses by index, other entries.

Source: DWARF 5, 7.5.5, 7.26 and 7.27; GCC's extensions for split and alternate files.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.syms.dwarf.codes import AT_ADDR_BASE, AT_GNU_ADDR_BASE, AT_STR_OFFSETS_BASE
from okld.syms.dwarf.forms import (
    INLINE,
    LINE_STRP,
    REFERENCE,
    REFERENCE_ALT,
    REFERENCE_INFO,
    STRING_ALT,
    STRING_INDEX,
    STRP,
)
from okld.syms.dwarf.leb import RULE, unit_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.unit import Unit

MAX_ADDRESSES = 1 << 20
"""Bytes of a unit's addresses that are read at once; of a longer table, each when it is needed."""

LOST = "<in alt file>"
"""What stands for a name that is in an alternate file which is not there."""


def text(unit: Unit, abbrev: Abbrev, values: Values, attribute: int) -> str | None:
    """
    Return a string value; None where there is none; `LOST` where it is in a file that is missing.

    Raises:
        FormatError: If the string is not where the value says (LIN-1).
    """
    kind, number = abbrev.typed(values, attribute)
    if kind == INLINE:
        data = unit.head if number < len(unit.head) else unit.data
        end = data.find(b"\0", number)
        if end < 0:
            data = unit.data
            end = data.find(b"\0", number)
        unit.units.source.spend(end - number)
        raw = data[number:end]
    elif kind:
        found = string(unit, kind, number)
        if found is None:
            return LOST if kind == STRING_ALT else None
        raw = found
    else:
        return None
    return raw.decode("utf-8", "surrogateescape")


def string(unit: Unit, kind: int, number: int) -> bytes | None:
    """
    Return the bytes of a string by its kind and number; None where that is no kind of string.

    Raises:
        FormatError: If it is not where it should be (LIN-1).
    """
    source = unit.units.source
    if kind == STRP:
        return source.string("str", number)
    if kind == LINE_STRP:
        return source.string("line_str", number)
    if kind == STRING_INDEX:
        encoding = unit.encoding
        at = _strings_base(unit) + number * encoding.offset_size
        entry = source.ahead("str_offsets", at, encoding.offset_size)
        return source.string("str", encoding.word(entry, 0)[0])
    if kind == STRING_ALT and not isinstance(unit.units.alternate, str):
        return unit.units.alternate.source.string("str", number)
    return None


def address(unit: Unit, index: int) -> int:
    """
    Return the address of that index in the unit's part of `.debug_addr`.

    Raises:
        FormatError: If there is none (LIN-1).
    """
    holder = unit.skeleton or unit
    size = holder.encoding.address_size
    number = holder.encoding.address
    table = addresses(holder)
    if (index + 1) * size <= len(table):
        return int(number(table, index * size)[0])
    at = _addresses_base(holder) + index * size
    return int(number(holder.units.source.ahead("addr", at, size), 0)[0])


def addresses(unit: Unit) -> bytes:
    """
    Return the unit's part of `.debug_addr`; empty where it has no header or is too long.

    Raises:
        FormatError: If it is not all there (LIN-1).
    """
    if unit.addresses is None:
        unit.addresses = _read_addresses(unit)
    return unit.addresses


def _read_addresses(unit: Unit) -> bytes:
    encoding, source = unit.encoding, unit.units.source
    base = _addresses_base(unit)
    start = base - (8 if encoding.offset_size == 4 else 16)
    if encoding.version < 5 or start < 0:
        return b""
    size, _ = unit_length(source.ahead("addr", start, 16), encoding.order)
    size -= base - start
    return source.exact("addr", base, size) if 0 < size <= MAX_ADDRESSES else b""


def _addresses_base(unit: Unit) -> int:
    base = unit.bases.get(AT_ADDR_BASE)
    if base is None:
        stated = unit.number(AT_ADDR_BASE, AT_GNU_ADDR_BASE)
        base = unit.bases[AT_ADDR_BASE] = _header(unit) if stated is None else stated
    return base


def referred(unit: Unit, kind: int, number: int) -> tuple[Unit, int] | None:
    """
    Return the unit and the position in it that a reference leads to; None where that is missing.

    Raises:
        FormatError: If it leads outside every unit (LIN-1).
    """
    if kind == REFERENCE:
        at, target = number, unit
    elif kind == REFERENCE_INFO:
        target = unit if _within(unit, number) else unit.units.holding(number)
        at = number - target.offset
    elif kind == REFERENCE_ALT and not isinstance(unit.units.alternate, str):
        target = unit.units.alternate.holding(number)
        at = number - target.offset
    else:
        return None
    if not target.first <= at < target.size:
        raise FormatError(RULE, "reference to an entry", got=number, limit=target.size)
    return target, at


def _within(unit: Unit, offset: int) -> bool:
    return unit.section == "info" and unit.offset <= offset < unit.offset + unit.size


def _strings_base(unit: Unit) -> int:
    base = unit.bases.get(AT_STR_OFFSETS_BASE)
    if base is None:
        stated = unit.number(AT_STR_OFFSETS_BASE)
        base = unit.bases[AT_STR_OFFSETS_BASE] = _header(unit) if stated is None else stated
    return base


def _header(unit: Unit) -> int:
    """Return the bytes of a table's header: DWARF 5 counts from behind it, and GCC had none."""
    if unit.encoding.version < 5:
        return 0
    return 8 if unit.encoding.offset_size == 4 else 16
