"""A unit: its header and its first entry.

Source: DWARF 5, 7.5.1; DWARF 2 to 4, the same section; DWARF 4, 7.5.1.2 for `.debug_types`.
"""

from __future__ import annotations

from _struct import Struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_UNIT
from okld.syms.dwarf.codes import (
    AT_DWO_NAME,
    AT_GNU_DWO_ID,
    AT_GNU_DWO_NAME,
    AT_LANGUAGE,
    C_LANGUAGES,
    DW_UT_COMPILE,
    DW_UT_SKELETON,
    DW_UT_SPLIT_COMPILE,
    DW_UT_SPLIT_TYPE,
    DW_UT_TYPE,
)
from okld.syms.dwarf.leb import PAST_THE_END, RULE, unit_length
from okld.syms.dwarf.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbrev import Abbrevs
    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.source import DebugBytes
    from okld.syms.dwarf.units import Units

FIRST_READ = 96  # bytes of a unit; headers and first entries are seldom longer
SECOND_READ = 1 << 12


class Unit:
    """
    One unit. Positions in it count bytes from its header, as its own references do.

    Attributes:
        units: Those that it is one of.
        section: "info" or "types".
        offset: Of its header, in that section.
        size: In bytes, with the header.
        encoding: How its values are encoded.
        kind: One of `DW_UT_*`; before DWARF 5 that of DWARF 5 that is the like.
        first: Position of its first entry.
        bases: Where tables of the unit begin, as far as they were needed, by attribute.
        addresses: Its addresses, once one was needed; none where they are read singly.
        skeleton: The unit in the linked file for which this one holds the entries, or None.
    """

    __slots__ = (
        "_abbrevs",
        "_data",
        "_dwo_id",
        "_head",
        "_root",
        "abbrev_offset",
        "addresses",
        "bases",
        "encoding",
        "first",
        "kind",
        "offset",
        "section",
        "size",
        "skeleton",
        "units",
    )

    def __init__(
        self, units: Units, section: str, offset: int, *, skeleton: Unit | None = None
    ) -> None:
        """
        Read the header at *offset*.

        Raises:
            FormatError: If it is none that DWARF 2 to 5 have, or is cut (LIN-1).
        """
        self.units = units
        self.section = section
        self.offset = offset
        self.skeleton = skeleton
        self.bases: dict[int, int] = {}
        self.addresses: bytes | None = None
        self._abbrevs: Abbrevs | None = None
        self._data = b""
        self._root: tuple[Abbrev, Values, int] | None = None
        self._dwo_id: int | None = None
        rest = units.source.size(section) - offset
        self._head = units.source.exact(section, offset, min(FIRST_READ, max(rest, 0)))
        try:
            self._read_header()
        except PAST_THE_END:
            raise FormatError(RULE, "header of a unit is cut", at=offset) from None
        if self.size > min(rest, MAX_UNIT):
            raise FormatError(RULE, "length of a unit", got=self.size, limit=rest, at=offset)

    def _read_header(self) -> None:
        data, order = self._head, self.units.sections.order
        self.size, offset_size = unit_length(data, order)
        at = 4 if offset_size == 4 else 12
        (version,) = Struct(order + "H").unpack_from(data, at)
        if not 2 <= version <= 5:
            raise FormatError(RULE, "version of a unit", got=version, at=self.offset)
        word = "I" if offset_size == 4 else "Q"
        at += 2
        if version >= 5:
            fields = Struct(order + "BB" + word)
            self.kind, address_size, self.abbrev_offset = fields.unpack_from(data, at)
        else:
            fields = Struct(order + word + "B")
            self.abbrev_offset, address_size = fields.unpack_from(data, at)
            self.kind = DW_UT_TYPE if self.section == "types" else DW_UT_COMPILE
        at += fields.size
        self.encoding = self.units.encoding(version, offset_size, address_size)
        if version >= 5 and self.kind in (DW_UT_SKELETON, DW_UT_SPLIT_COMPILE):
            (self._dwo_id,) = Struct(order + "Q").unpack_from(data, at)
            at += 8
        elif self.kind in (DW_UT_TYPE, DW_UT_SPLIT_TYPE):
            at += 8 + offset_size
        self.first = at

    @property
    def sections(self) -> DebugBytes:
        """The sections that the unit's own offsets lead into."""
        return self.units.sections

    @property
    def data(self) -> bytes:
        """
        The unit's bytes.

        Raises:
            FormatError: If they are not all there (LIN-1).
        """
        if not self._data:
            self._data = self.units.source.exact(self.section, self.offset, self.size)
        return self._data

    @property
    def abbrevs(self) -> Abbrevs:
        """The unit's abbreviations."""
        if self._abbrevs is None:
            self._abbrevs = self.units.abbrevs(self.abbrev_offset, self.encoding)
        return self._abbrevs

    def root(self) -> tuple[Abbrev, Values, int]:
        """
        Return the unit's first entry: its abbreviation, values, and where they end.

        Raises:
            FormatError: If it cannot be decoded (LIN-1).
        """
        if self._root is None:
            self._root = self._read_root()
        return self._root

    def _read_root(self) -> tuple[Abbrev, Values, int]:
        size = len(self._head)
        while True:
            try:
                abbrev, at = self.abbrevs.at(self._head, self.first)
                values, end = abbrev.read(self._head, at)
                if end > len(self._head):
                    raise IndexError
                return abbrev, values, end
            except PAST_THE_END:
                if size >= self.size:
                    raise FormatError(RULE, "a unit's first entry", at=self.offset) from None
            size = min(self.size, SECOND_READ if size < SECOND_READ else self.size)
            self._head = self.units.source.exact(self.section, self.offset, size)

    @property
    def head(self) -> bytes:
        """The unit's first bytes, which hold its first entry."""
        self.root()
        return self._head

    @property
    def inner_hops(self) -> list[int]:
        """Which entries are hopped over where functions may be inside of functions and types."""
        in_c = self.number(AT_LANGUAGE) in C_LANGUAGES
        return self.abbrevs.inner_hops_in_c if in_c else self.abbrevs.inner_hops

    def number(self, *attributes: int) -> int | None:
        """Return the number that the first entry has under the first of *attributes* it has."""
        abbrev, values, _ = self.root()
        for attribute in attributes:
            kind, number = abbrev.typed(values, attribute)
            if kind:
                return number
        return None

    def text(self, *attributes: int) -> str | None:
        """Return the string that the first entry has under the first of *attributes* it has."""
        abbrev, values, _ = self.root()
        for attribute in attributes:
            if attribute in values:
                return text(self, abbrev, values, attribute)
        return None

    @property
    def dwo_name(self) -> str | None:
        """The path of the file that holds the unit's entries, or None where it has its own."""
        return self.text(AT_DWO_NAME, AT_GNU_DWO_NAME) if self.skeleton is None else None

    @property
    def dwo_id(self) -> int | None:
        """The number that a unit and its split unit have in common; None: none is stated."""
        return self.number(AT_GNU_DWO_ID) if self._dwo_id is None else self._dwo_id
