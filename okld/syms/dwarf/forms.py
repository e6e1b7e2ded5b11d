"""Forms of attributes: how long a value is, and what kind of value.

A form whose length the unit's header decides is fixed: runs of them are decoded by one `Struct`.
Source: DWARF 5, 7.5.5 and 7.5.6; DWARF 2 to 4, the same sections; GCC's extensions.
"""

from __future__ import annotations

from _struct import Struct

from okld.base.errors import FormatError
from okld.syms.dwarf.leb import RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbreviation import Abbrev

IMPLICIT_CONST, INDIRECT = 0x21, 0x16

LEB, SLEB, BLOCK, BLOCK1, BLOCK2, BLOCK4, TEXT, DYNAMIC = -1, -2, -3, -4, -5, -6, -7, -8
"""How the length of a variable value is found: they stand in skip programs among lengths."""

ADDRESS, ADDRESS_INDEX, CONSTANT, INLINE, STRP, LINE_STRP, STRING_INDEX, STRING_ALT = range(1, 9)
REFERENCE, REFERENCE_INFO, REFERENCE_ALT, LIST_INDEX = range(9, 13)
"""What kind of value it is; 0: one that nothing asks for."""

OFFSET, ADDRESS_SIZED = "offset", "address"

FORMS: dict[int, tuple[str | int, int]] = {
    0x01: (ADDRESS_SIZED, ADDRESS),
    0x03: (BLOCK2, 0),
    0x04: (BLOCK4, 0),
    0x05: ("H", CONSTANT),  # data2
    0x06: ("I", CONSTANT),  # data4
    0x07: ("Q", CONSTANT),  # data8
    0x08: (TEXT, INLINE),  # string
    0x09: (BLOCK, 0),
    0x0A: (BLOCK1, 0),
    0x0B: ("B", CONSTANT),  # data1
    0x0C: ("B", CONSTANT),  # flag
    0x0D: (SLEB, CONSTANT),  # sdata
    0x0E: (OFFSET, STRP),
    0x0F: (LEB, CONSTANT),  # udata
    0x10: (OFFSET, REFERENCE_INFO),  # ref_addr; DWARF 2 has it as wide as an address
    0x11: ("B", REFERENCE),
    0x12: ("H", REFERENCE),
    0x13: ("I", REFERENCE),
    0x14: ("Q", REFERENCE),
    0x15: (LEB, REFERENCE),  # ref_udata
    INDIRECT: (DYNAMIC, 0),
    0x17: (OFFSET, CONSTANT),  # sec_offset
    0x18: (BLOCK, 0),  # exprloc
    0x19: ("", CONSTANT),  # flag_present
    0x1A: (LEB, STRING_INDEX),  # strx
    0x1B: (LEB, ADDRESS_INDEX),  # addrx
    0x1C: ("I", REFERENCE_ALT),  # ref_sup4
    0x1D: (OFFSET, STRING_ALT),  # strp_sup
    0x1E: ("16s", 0),  # data16
    0x1F: (OFFSET, LINE_STRP),
    0x20: ("Q", 0),  # ref_sig8
    IMPLICIT_CONST: ("", CONSTANT),
    0x22: (LEB, 0),  # loclistx
    0x23: (LEB, LIST_INDEX),  # rnglistx
    0x24: ("Q", REFERENCE_ALT),  # ref_sup8
    0x25: ("B", STRING_INDEX),
    0x26: ("H", STRING_INDEX),
    0x27: ("3s", STRING_INDEX),
    0x28: ("I", STRING_INDEX),
    0x29: ("B", ADDRESS_INDEX),
    0x2A: ("H", ADDRESS_INDEX),
    0x2B: ("3s", ADDRESS_INDEX),
    0x2C: ("I", ADDRESS_INDEX),
    0x1F01: (LEB, ADDRESS_INDEX),  # GNU_addr_index
    0x1F02: (LEB, STRING_INDEX),  # GNU_str_index
    0x1F20: (OFFSET, REFERENCE_ALT),  # GNU_ref_alt
    0x1F21: (OFFSET, STRING_ALT),  # GNU_strp_alt
}
"""Form: (a Struct's letter, or who decides the width, or how a variable length is found; kind)."""

KINDS = {0: 0} | {form: kind for form, (_, kind) in FORMS.items()}
PREFIXES = {BLOCK1: "B", BLOCK2: "H", BLOCK4: "I"}
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
WIDTHS = {"": 0, "B": 1, "H": 2, "I": 4, "Q": 8, "3s": 3, "16s": 16}


class Encoding:
    """
    How units of one kind encode values.

    Attributes:
        order: "<" or ">".
        version: Of DWARF.
        offset_size: 4 or 8, bytes of an offset in a section.
        address_size: 1, 2, 4 or 8, bytes of an address.
        address_limit: The first number that is no address.
        abbrevs: Abbreviations already decoded for it, by their bytes.
        word: Decodes an offset; `address` an address.
    """

    __slots__ = (
        "_letters",
        "abbrevs",
        "address",
        "address_limit",
        "address_size",
        "offset_size",
        "order",
        "version",
        "word",
    )

    def __init__(self, order: str, version: int, offset_size: int, address_size: int) -> None:
        """
        State them.

        Raises:
            FormatError: If no processor has addresses of that size (LIN-1).
        """
        if address_size not in LETTERS:
            raise FormatError(RULE, "size of an address", got=address_size)
        self.order = order
        self.version = version
        self.offset_size = offset_size
        self.address_size = address_size
        self.address_limit = 1 << 8 * address_size
        self.abbrevs: dict[bytes, Abbrev] = {}
        self._letters = {OFFSET: LETTERS[offset_size], ADDRESS_SIZED: LETTERS[address_size]}
        self.word = Struct(order + LETTERS[offset_size]).unpack_from
        self.address = Struct(order + LETTERS[address_size]).unpack_from

    def layout(self, form: int) -> str | int:
        """
        Return a fixed form's letter for Struct, or how a variable one's length is found.

        Raises:
            FormatError: If the form is none of DWARF 2 to 5 (LIN-1).
        """
        entry = FORMS.get(form)
        if entry is None:
            raise FormatError(RULE, "form of an attribute", got=form)
        how = entry[0]
        if form == 0x10 and self.version <= 2:
            how = ADDRESS_SIZED
        return self._letters.get(how, how) if isinstance(how, str) else how
