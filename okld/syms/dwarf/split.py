"""Split units: finding one in the file, or the package of files, that it was put into.

A package begins with an index: a hash table from a unit's id to a row, and for each row which part
of each section is the unit's. Source: DWARF 5, 7.3.5; for version 2 of the index the description of
GCC's "DebugFission" packages, which differs in what the numbers of sections mean.
"""

from __future__ import annotations

from _struct import unpack_from

from okld.base.errors import FormatError
from okld.base.limits import MAX_SPLIT_UNITS
from okld.syms.dwarf.abbrev import Abbrevs
from okld.syms.dwarf.codes import AT_GNU_DWO_ID, DW_UT_SPLIT_COMPILE
from okld.syms.dwarf.forms import Encoding
from okld.syms.dwarf.leb import PAST_THE_END
from okld.syms.dwarf.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.source import DebugBytes

RULE = "LIN-31"
VERSION_GNU, VERSION_5 = 2, 5
NAMES = {
    VERSION_GNU: {1: "info", 2: "types", 3: "abbrev", 4: "line", 6: "str_offsets"},
    VERSION_5: {1: "info", 3: "abbrev", 4: "line", 6: "str_offsets", 8: "rnglists"},
}
"""What the numbers of sections mean, of those that are read here."""

MAX_COLUMNS = 8
MAX_ROOT = 1 << 12
"""Bytes of a unit's header and first entry; the longest that compilers make take 100."""

PROBE = 128  # steps of work to read the id out of a first entry, with abbreviations of its own

WIDE = 0xFFFFFFFF
"""In place of a length: the length follows, and all offsets are of 64 bits."""

SHARED = ("str",)


class Split:
    """
    A split unit that was found.

    Attributes:
        sections: Its sections, by the same names as its program's.
        offset: Where in their "info" its header is.
    """

    __slots__ = ("offset", "sections")

    def __init__(self, sections: DebugBytes, offset: int) -> None:
        """State where it is."""
        self.sections: DebugBytes = sections
        self.offset = offset


class Contribution:
    """The sections of one unit of a package, each as long as the unit's part of it."""

    __slots__ = ("_parts", "_sections", "order")

    def __init__(self, sections: DebugBytes, parts: dict[str, tuple[int, int]]) -> None:
        """Take *parts*, the offset and size of each section's, from the package's *sections*."""
        self._sections = sections
        self._parts = parts
        self.order = sections.order

    def size(self, name: str) -> int:
        """Return the number of bytes of a section; as `Sections.size`."""
        if name in SHARED:
            return self._sections.size(name)
        return self._parts.get(name, (0, 0))[1]

    def window(self, name: str, offset: int, size: int) -> memoryview | bytes:
        """
        Return *size* bytes of a section from *offset* on; as `Sections.window`.

        Raises:
            FormatError: If they lie outside the unit's part of it (LIN-31).
        """
        if name in SHARED:
            return self._sections.window(name, offset, size)
        start, total = self._parts.get(name, (0, 0))
        if offset < 0 or size < 0 or offset > total - size:
            raise FormatError(
                RULE, f"part of .debug_{name}", got=offset + size, limit=total, at=offset
            )
        return self._sections.window(name, start + offset, size)


def contribution(package: DebugBytes, dwo_id: int) -> Contribution | None:
    """
    Return the sections of the unit *dwo_id* of a package, or None where it has no such unit.

    Raises:
        FormatError: If the index is none, or breaks a limit (LIN-31).
    """
    order = package.order
    head = bytes(package.window("cu_index", 0, 16))
    version, columns, units, slots = unpack_from(order + "4I", head)
    if version not in (VERSION_GNU, VERSION_5):
        version = unpack_from(order + "H", head)[0]
    if version not in NAMES:
        raise FormatError(RULE, "version of the index of a package", got=version)
    if columns > MAX_COLUMNS or slots & (slots - 1) or units > slots:
        raise FormatError(RULE, "numbers in the index of a package", got=f"{columns}, {slots}")
    row = _row(package, dwo_id, slots)
    if not 0 < row <= units:
        return None
    table = 16 + 12 * slots
    ids = unpack_from(f"{order}{columns}I", package.window("cu_index", table, 4 * columns))
    offsets, sizes = (
        unpack_from(f"{order}{columns}I", package.window("cu_index", at, 4 * columns))
        for at in (table + 4 * columns * row, table + 4 * columns * (units + row))
    )
    names = NAMES[version]
    parts = zip(ids, offsets, sizes, strict=True)
    return Contribution(package, {names[i]: (at, size) for i, at, size in parts if i in names})


def _row(package: DebugBytes, dwo_id: int, slots: int) -> int:
    """Return the row of a unit, from 1; 0 where there is none."""
    order, mask = package.order, slots - 1
    slot, step = dwo_id & mask, (dwo_id >> 32 & mask) | 1
    for _ in range(min(slots, MAX_SPLIT_UNITS)):
        place = 16 + 8 * slots + 4 * slot
        row: int = unpack_from(order + "I", package.window("cu_index", place, 4))[0]
        if not row:
            return 0
        found = unpack_from(order + "Q", package.window("cu_index", 16 + 8 * slot, 8))[0]
        if found == dwo_id:
            return row
        slot = slot + step & mask
    return 0


def unit_offset(sections: DebugBytes, dwo_id: int) -> int | None:
    """
    Return where in "info" the header of the split unit *dwo_id* is, or None where it is not there.

    Raises:
        FormatError: If a unit before it is damaged, or there are too many (LIN-32, LIN-14).
    """
    source = Source(sections)
    at, size = 0, sections.size("info")
    for _ in range(MAX_SPLIT_UNITS):
        if at >= size:
            return None
        found, end = _id_of(source, at, min(MAX_ROOT, size - at))
        if found == dwo_id:
            return at
        at = end
    raise FormatError("LIN-32", "units of a split file", limit=MAX_SPLIT_UNITS)


def _id_of(source: Source, offset: int, room: int) -> tuple[int | None, int]:
    """Return the id of the unit at *offset*, None for none, and where the next unit begins."""
    order = source.sections.order
    data = source.exact("info", offset, room)
    try:
        length, wide, at = unpack_from(order + "I", data)[0], 4, 4
        if length == WIDE:
            length, wide, at = unpack_from(order + "Q", data, 4)[0], 8, 12
        end = offset + at + length
        version = unpack_from(order + "H", data, at)[0]
        if version >= 5:
            kind, (found,) = data[at + 2], unpack_from(order + "Q", data, at + 4 + wide)
            return (found if kind == DW_UT_SPLIT_COMPILE else None), end
        source.spend(PROBE)
        encoding = Encoding(order, version, wide, data[at + 2 + wide])
        abbrevs = Abbrevs(source, encoding.word(data, at + 2)[0], encoding)
        abbrev, at = abbrevs.at(data, at + 3 + wide)
        found = abbrev.read(data, at)[0].get(AT_GNU_DWO_ID)
    except PAST_THE_END:
        raise FormatError("LIN-32", "a split unit is not whole", at=offset) from None
    return (found if isinstance(found, int) else None), end
