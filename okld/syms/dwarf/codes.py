"""The numbers of DWARF that are read: tags, attributes, kinds of units, opcodes.

Source: DWARF 5, chapter 7; names with GNU are extensions of GCC that DWARF 5 took over or replaced.
"""

from __future__ import annotations

DW_UT_COMPILE, DW_UT_TYPE, DW_UT_PARTIAL, DW_UT_SKELETON = 1, 2, 3, 4
DW_UT_SPLIT_COMPILE, DW_UT_SPLIT_TYPE = 5, 6

TAG_ARRAY_TYPE = 0x01
TAG_ENUMERATION_TYPE = 0x04
TAG_LEXICAL_BLOCK = 0x0B
TAG_STRUCTURE_TYPE = 0x13
TAG_SUBROUTINE_TYPE = 0x15
TAG_UNION_TYPE = 0x17
TAG_INLINED_SUBROUTINE = 0x1D
TAG_MODULE = 0x1E
TAG_WITH_STATEMENT = 0x22
TAG_CATCH_BLOCK = 0x25
TAG_SUBPROGRAM = 0x2E
TAG_TRY_BLOCK = 0x32
TAG_NAMESPACE = 0x39
TAG_CALL_SITE = 0x48
TAG_GNU_CALL_SITE = 0x4109

AT_SIBLING = 0x01
AT_NAME = 0x03
AT_STMT_LIST = 0x10
AT_LOW_PC = 0x11
AT_HIGH_PC = 0x12
AT_LANGUAGE = 0x13
AT_COMP_DIR = 0x1B
AT_ABSTRACT_ORIGIN = 0x31
AT_SPECIFICATION = 0x47
AT_RANGES = 0x55
AT_CALL_COLUMN = 0x57
AT_CALL_FILE = 0x58
AT_CALL_LINE = 0x59
AT_LINKAGE_NAME = 0x6E
AT_STR_OFFSETS_BASE = 0x72
AT_ADDR_BASE = 0x73
AT_RNGLISTS_BASE = 0x74
AT_DWO_NAME = 0x76
AT_MIPS_LINKAGE_NAME = 0x2007
AT_GNU_DWO_NAME = 0x2130
AT_GNU_DWO_ID = 0x2131
AT_GNU_RANGES_BASE = 0x2132
AT_GNU_ADDR_BASE = 0x2133

WANTED = frozenset(value for name, value in list(globals().items()) if name.startswith("AT_"))
"""The attributes whose values are decoded; all others are only skipped."""

NAMING = frozenset((AT_NAME, AT_LINKAGE_NAME, AT_MIPS_LINKAGE_NAME, AT_SPECIFICATION))
"""What an entry is named by, beside what it is an instance of."""

SCOPES = frozenset(
    (
        TAG_LEXICAL_BLOCK,
        TAG_INLINED_SUBROUTINE,
        TAG_WITH_STATEMENT,
        TAG_CATCH_BLOCK,
        TAG_SUBPROGRAM,
        TAG_TRY_BLOCK,
    )
)
"""What can have code of its own, and inlined calls in it."""

FUNCTIONS = frozenset((TAG_SUBPROGRAM, TAG_INLINED_SUBROUTINE))
BLOCKS = SCOPES - FUNCTIONS
SPACES = frozenset((TAG_NAMESPACE, TAG_MODULE))
"""What holds functions, and has no code of its own."""

CODELESS = frozenset(
    (
        TAG_ARRAY_TYPE,
        TAG_ENUMERATION_TYPE,
        TAG_SUBROUTINE_TYPE,
        TAG_CALL_SITE,
        TAG_GNU_CALL_SITE,
    )
)
"""What no function can be in, in any language."""

CODELESS_IN_C = CODELESS | {TAG_STRUCTURE_TYPE, TAG_UNION_TYPE}
C_LANGUAGES = frozenset((0x01, 0x02, 0x0C, 0x1D, 0x2C, 0x8001))
"""C of all years, and assembly: no type has functions in it."""

LNS_COPY, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE, LNS_SET_COLUMN = 1, 2, 3, 4, 5
LNS_NEGATE_STMT, LNS_CONST_ADD_PC, LNS_FIXED_ADVANCE_PC, LNS_SET_ISA = 6, 8, 9, 12
LNE_END_SEQUENCE, LNE_SET_ADDRESS, LNE_DEFINE_FILE = 1, 2, 3
LNCT_PATH, LNCT_DIRECTORY_INDEX = 1, 2

RLE_END_OF_LIST, RLE_BASE_ADDRESSX, RLE_STARTX_ENDX, RLE_STARTX_LENGTH = 0, 1, 2, 3
RLE_OFFSET_PAIR, RLE_BASE_ADDRESS, RLE_START_END, RLE_START_LENGTH = 4, 5, 6, 7
