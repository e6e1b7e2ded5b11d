"""
Debug information that no compiler writes: little to say, and much to do until it is said.

Each function returns the debug sections of a program whose code is the CODE_SIZE bytes at CODE.
All of them are well formed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

CODE, CODE_SIZE = 0x401000, 0x1000
MANY = 1 << 25

ARRAY, BLOCK, PARAMETER, BASE_TYPE = 0x01, 0x0B, 0x05, 0x24
UNIT, STRUCTURE, INLINED, FUNCTION, SPACE = 0x11, 0x13, 0x1D, 0x2E, 0x39
SIBLING, NAME, STMT_LIST, LOW_PC, HIGH_PC, COMP_DIR = 0x01, 0x03, 0x10, 0x11, 0x12, 0x1B
ORIGIN, RANGES, LINKAGE_NAME = 0x31, 0x55, 0x6E
ADDR, DATA4, STRING, STRP, UDATA, REF4, SEC_OFFSET = 0x01, 0x06, 0x08, 0x0E, 0x0F, 0x13, 0x17

RANGE = ((LOW_PC, ADDR), (HIGH_PC, DATA4))
ROOT = (UNIT, True, RANGE)
WHOLE = struct.pack("<QI", CODE, CODE_SIZE)
ELSEWHERE = struct.pack("<QI", CODE + CODE_SIZE - 1, 1)

Sections = dict[str, bytes]
Entry = tuple[int, bool, tuple[tuple[int, int], ...]]


def leb(number: int) -> bytes:
    more = bytearray()
    while number > 0x7F:
        more.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*more, number])


def abbreviations(*entries: Entry) -> bytes:
    """Number *entries* from 1."""
    parts = []
    for number, (tag, children, attributes) in enumerate(entries, 1):
        parts += [leb(number), leb(tag), bytes([children])]
        parts += [leb(attribute) + leb(form) for attribute, form in attributes]
        parts.append(b"\0\0")
    return b"".join([*parts, b"\0"])


def unit(body: bytes) -> bytes:
    return struct.pack("<IHIB", len(body) + 7, 4, 0, 8) + body


def prefixed(**sections: bytes) -> Sections:
    return {f".debug_{name}": data for name, data in sections.items()}


def one_unit(body: bytes, *entries: Entry, **others: bytes) -> Sections:
    """Return a unit that has all code, and in it entries of the abbreviations 2 and on."""
    info = unit(b"\1" + WHOLE + body + b"\0")
    return prefixed(info=info, abbrev=abbreviations(ROOT, *entries), **others)


def with_line(program: bytes, files: bytes = b"a.c\0\0\0\0") -> Sections:
    """Return a unit whose line program is *program*."""
    rest = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
    rest += b"\0" + files + b"\0"
    line = struct.pack("<HI", 4, len(rest)) + rest + program
    root = (UNIT, False, (*RANGE, (STMT_LIST, SEC_OFFSET), (COMP_DIR, STRING)))
    info = unit(b"\1" + WHOLE + bytes(4) + b"/x\0")
    line = struct.pack("<I", len(line)) + line
    return prefixed(info=info, abbrev=abbreviations(root), line=line)


def set_address(address: int) -> bytes:
    return b"\0\x09\2" + struct.pack("<Q", address)


def rows() -> Sections:
    return with_line(set_address(CODE) + b"\x13" * (MANY // 4) + b"\0\1\1")


def rows_and_more() -> Sections:
    return with_line(set_address(CODE) + b"\x13" * MANY + b"\0\1\1")


def sequences() -> Sections:
    return with_line((set_address(CODE + CODE_SIZE - 1) + b"\x13\0\1\1") * (MANY // 32))


def opcodes_without_rows() -> Sections:
    return with_line(b"\x06" * (MANY // 4))


def opcodes_that_come_last() -> Sections:
    return with_line(b"\x0a" * (MANY // 4))


def source_files() -> Sections:
    return with_line(set_address(CODE) + b"\x13\0\1\1", b"a\0\0\0\0" * (MANY // 8))


def empty_units() -> Sections:
    return prefixed(info=unit(b"\0") * (MANY // 12), abbrev=abbreviations(ROOT))


def units_elsewhere() -> Sections:
    body = b"\1" + ELSEWHERE + b"\0"
    return prefixed(info=unit(body) * (MANY // 25), abbrev=abbreviations(ROOT))


def addresses() -> Sections:
    pairs = struct.pack("<QQ", CODE + CODE_SIZE - 1, 1) * (MANY // 16)
    head = struct.pack("<HIBBI", 2, 0, 8, 0, 0)
    table = struct.pack("<I", len(head) + len(pairs)) + head + pairs
    return one_unit(b"", aranges=table)


def sets_of_addresses() -> Sections:
    one = struct.pack("<IHIBBI", 28, 2, 0, 8, 0, 0) + bytes(16)
    return one_unit(b"", aranges=one * (MANY // 32))


def empty_sets_of_addresses() -> Sections:
    return one_unit(b"", aranges=bytes(MANY))


def small_entries() -> Sections:
    return one_unit(b"\2" * MANY, (BASE_TYPE, False, ()))


def named_entries() -> Sections:
    return one_unit(b"\2ab\0" * (MANY // 4), (BASE_TYPE, False, ((NAME, STRING),)))


def nested(tag: int) -> Callable[[], Sections]:
    return lambda: one_unit(b"\2" * (MANY // 2) + b"\0" * (MANY // 2), (tag, True, ()))


def functions_elsewhere() -> Sections:
    return one_unit((b"\2" + ELSEWHERE) * (MANY // 13), (FUNCTION, False, RANGE))


def functions_inside_functions() -> Sections:
    body = (b"\2" + ELSEWHERE) * (MANY // 14)
    return one_unit(body + b"\0" * (MANY // 14), (FUNCTION, True, RANGE))


def declarations() -> Sections:
    entries = (FUNCTION, True, ()), (PARAMETER, False, ())
    return one_unit(b"\2\3\0" * (MANY // 3), *entries)


def lists_of_ranges() -> Sections:
    function = (FUNCTION, False, ((RANGES, SEC_OFFSET),))
    ranges = struct.pack("<QQ", CODE_SIZE - 2, CODE_SIZE - 1) * (MANY // 32) + bytes(16)
    return one_unit((b"\2" + bytes(4)) * 1000, function, ranges=ranges)


def inlined(depth: int, names: bytes, attribute: int = NAME) -> Sections:
    """Return calls inlined into each other, each with a name of its own that overlaps the next."""
    function = (FUNCTION, True, (*RANGE, (attribute, STRP)))
    call = (INLINED, True, (*RANGE, (attribute, STRP)))
    body = b"\2" + WHOLE + bytes(4)
    calls = (b"\3" + WHOLE + struct.pack("<I", n % len(names)) for n in range(depth))
    body += b"".join(calls) + b"\0" * (depth + 1)
    return one_unit(body, function, call, str=names + b"\0")


def long_names() -> Sections:
    return inlined(1000, b"n" * ((1 << 20) - 2))


def long_c_names() -> Sections:
    return inlined(1000, b"_ZN" + b"1a" * (1 << 19) + b"E", LINKAGE_NAME)


def inlined_calls() -> Sections:
    return inlined(1 << 20, b"name")


def chain_of_names() -> Sections:
    first = 11 + 1 + len(WHOLE)
    function = (FUNCTION, False, (*RANGE, (ORIGIN, REF4)))
    size = 1 + len(WHOLE) + 4
    links = (b"\2" + WHOLE + struct.pack("<I", first + size * (n + 1)) for n in range(MANY // 64))
    return one_unit(b"".join(links) + b"\2" + WHOLE + struct.pack("<I", first), function)


def numbers_of_abbreviations() -> Sections:
    more = ((BASE_TYPE, False, ((NAME, STRING),) * 10) for _ in range(MANY // 64))
    return one_unit(b"", *more)


def long_numbers() -> Sections:
    return one_unit(b"\2" + b"\x80" * MANY, (BASE_TYPE, False, ((0x77, UDATA),)))


def one_long_abbreviation() -> Sections:
    return one_unit(b"\2" + bytes(MANY // 16), (FUNCTION, False, ((0x77, UDATA),) * (MANY // 16)))


def wide_entries() -> Sections:
    width = 1 << 18
    body = (b"\2" + bytes(width)) * (MANY // width)
    return one_unit(body, (BASE_TYPE, False, ((0x77, UDATA),) * width))


SHAPES: dict[str, Callable[[], Sections]] = {
    function.__name__: function
    for function in (
        rows, rows_and_more, sequences, opcodes_without_rows, opcodes_that_come_last, source_files,
        empty_units, units_elsewhere, addresses, sets_of_addresses, empty_sets_of_addresses,
        small_entries, named_entries, functions_elsewhere, functions_inside_functions, declarations,
        lists_of_ranges, long_names, long_c_names, inlined_calls, chain_of_names,
        numbers_of_abbreviations, long_numbers, one_long_abbreviation, wide_entries,
    )
} | {
    "nested_blocks": nested(BLOCK),
    "nested_spaces": nested(SPACE),
    "nested_structures": nested(STRUCTURE),
    "nested_types": nested(ARRAY),
    "nested_functions": nested(FUNCTION),
}  # fmt: skip


def write(path: Path, sections: Sections, flags: int = 0) -> None:
    """Write a program of CODE_SIZE bytes of code and no symbols, with sections by whole names."""
    names = b"\0.text\0.shstrtab\0"
    parts = [bytes(CODE_SIZE)]
    table = [bytes(64), header(1, 1, 6, CODE, CODE_SIZE, CODE_SIZE)]
    offset = 2 * CODE_SIZE
    for name, data in sections.items():
        table.append(header(len(names), 1, flags, 0, offset, len(data)))
        names += f"{name}\0".encode()
        parts.append(data)
        offset += len(data)
    table.append(header(names.index(b".shstrtab"), 3, 0, 0, offset, len(names)))
    ident = b"\x7fELF\2\1\1" + bytes(9)
    counts = (64, 56, 1, 64, len(table), len(table) - 1)
    elf = ident + struct.pack("<HHIQQQI6H", 2, 62, 1, CODE, 64, offset + len(names), 0, *counts)
    load = struct.pack("<IIQQQQQQ", 1, 5, CODE_SIZE, CODE, CODE, CODE_SIZE, CODE_SIZE, CODE_SIZE)
    with path.open("wb") as out:
        out.write((elf + load).ljust(CODE_SIZE, b"\0"))
        out.writelines((*parts, names, *table))


def header(name: int, kind: int, flags: int, address: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, 0, 0, 1, 0)
