"""Debug information written byte by byte, as chapter 7 of the DWARF standard has it."""

from __future__ import annotations

import struct

from okld.syms.dwarf.reader import Dwarf
from okld.syms.sections import Sections

TEXT = (0x1000, 0x9000)
"""Where the code is, in everything that is made here."""

COMPILE_UNIT, SUBPROGRAM, INLINED, BLOCK, NAMESPACE = 0x11, 0x2E, 0x1D, 0x0B, 0x39
NAME, STMT_LIST, LOW, HIGH, COMP_DIR = 0x03, 0x10, 0x11, 0x12, 0x1B
ORIGIN, SPECIFICATION, RANGES, LINKAGE, SIBLING = 0x31, 0x47, 0x55, 0x6E, 0x01
CALL_COLUMN, CALL_FILE, CALL_LINE = 0x57, 0x58, 0x59
ADDR, DATA1, DATA2, DATA4, DATA8, STRING, UDATA, SDATA = 1, 0x0B, 5, 6, 7, 8, 0x0F, 0x0D
REF4, REF_ADDR, SEC_OFFSET, STRP, IMPLICIT, INDIRECT = 0x13, 0x10, 0x17, 0x0E, 0x21, 0x16
CHILDREN, LEAF = 1, 0


def uleb(number: int) -> bytes:
    out = bytearray()
    while True:
        out.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def sleb(number: int) -> bytes:
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        last = (number == 0 and not byte & 0x40) or (number == -1 and byte & 0x40)
        out.append(byte if last else byte | 0x80)
        if last:
            return bytes(out)


def abbrevs(*declarations: tuple) -> bytes:
    """Each is (tag, children, (attribute, form), ...); their numbers count from 1."""
    out = b""
    for number, (tag, children, *attributes) in enumerate(declarations, 1):
        out += uleb(number) + uleb(tag) + bytes([children])
        for attribute, form, *constant in attributes:
            out += uleb(attribute) + uleb(form) + b"".join(sleb(c) for c in constant)
        out += b"\0\0"
    return out + b"\0"


def unit(body: bytes, version: int = 4, *, wide: bool = False, order: str = "<") -> bytes:
    """A compile unit whose entries are *body*, and whose abbreviations begin at 0."""
    word = "Q" if wide else "I"
    rest = struct.pack(order + "H", version)
    if version >= 5:
        rest += struct.pack(order + "BB" + word, 1, 8, 0)
    else:
        rest += struct.pack(order + word + "B", 0, 8)
    rest += body
    if wide:
        return struct.pack(order + "IQ", 0xFFFFFFFF, len(rest)) + rest
    return struct.pack(order + "I", len(rest)) + rest


def header_size(version: int, *, wide: bool = False) -> int:
    return len(unit(b"", version, wide=wide))


def line_program(
    opcodes: bytes,
    version: int = 4,
    *,
    files: tuple[bytes, ...] = (b"a.c", b"b.c"),
    min_length: int = 1,
    max_ops: int = 1,
    line_base: int = -5,
    line_range: int = 14,
    lengths: bytes = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)),
) -> bytes:
    """A program, all of whose files are in the directory /src."""
    constants = bytes([min_length]) + (bytes([max_ops]) if version >= 4 else b"") + b"\1"
    constants += struct.pack("<bBB", line_base, line_range, len(lengths) + 1) + lengths
    if version >= 5:
        tables = b"\1" + uleb(1) + uleb(STRING) + uleb(1) + b"/src\0"
        tables += b"\2" + uleb(1) + uleb(STRING) + uleb(2) + uleb(DATA1) + uleb(len(files))
        tables += b"".join(name + b"\0\0" for name in files)
        head = struct.pack("<HBB", version, 8, 0)
    else:
        tables = b"/src\0\0" + b"".join(name + b"\0\1\0\0" for name in files) + b"\0"
        head = struct.pack("<H", version)
    rest = head + struct.pack("<I", len(constants + tables)) + constants + tables + opcodes
    return struct.pack("<I", len(rest)) + rest


def set_address(address: int) -> bytes:
    return b"\0\x09\2" + struct.pack("<Q", address)


END = b"\0\1\1"
COPY = b"\1"


def dwarf(**sections: bytes) -> Dwarf:
    """Debug information in these sections, of a program whose code is at `TEXT`."""
    return Dwarf(Sections.of_parts(sections, "<", 8), code=[TEXT])


ONE_UNIT = abbrevs(
    (COMPILE_UNIT, LEAF, (NAME, STRING), (LOW, ADDR), (HIGH, DATA8), (STMT_LIST, DATA4))
)


def lines_only(program: bytes, version: int = 4) -> Dwarf:
    """A unit that has all the code and no functions, with this line program."""
    low, high = TEXT
    body = b"\1u.c\0" + struct.pack("<QQI", low, high - low, 0)
    return dwarf(info=unit(body, version), abbrev=ONE_UNIT, line=program)
