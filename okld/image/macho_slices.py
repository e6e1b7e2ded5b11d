"""Mach-O before any reader sees it: the slices of a fat file, and whether one fits memory.

A reader copies what the headers say, and they may say the same bytes many times over.

Source: Apple's `mach-o/fat.h`, `mach-o/loader.h`, `mach-o/nlist.h` and `mach/machine.h`.
"""

from __future__ import annotations

import struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_COMMANDS, MAX_SLICES, MAX_TABLE
from okld.image.foreign import RULE, limit_copies, limit_names, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.base.view import View

FAT = {b"\xca\xfe\xba\xbe": ">IIIII", b"\xca\xfe\xba\xbf": ">IIQQII"}
"""The layout of a row of the table: processor (two words), offset, size, alignment."""
THIN = {
    b"\xfe\xed\xfa\xce": (">", 28, 1, "I", 36),
    b"\xce\xfa\xed\xfe": ("<", 28, 1, "I", 36),
    b"\xfe\xed\xfa\xcf": (">", 32, 0x19, "Q", 48),
    b"\xcf\xfa\xed\xfe": ("<", 32, 0x19, "Q", 48),
}
"""Byte order, bytes of the header, `LC_SEGMENT` or `LC_SEGMENT_64`, and where in that its filesize
stands."""
LC_SYMTAB, LC_DYSYMTAB, LC_FUNCTION_STARTS = 2, 0xB, 0x26
NLIST = {28: "IBBHI", 32: "IBBHQ"}
"""A symbol, by the bytes of the header: name, type, section, description, value."""

SUBTYPE = 0xFFFFFF  # the rest are flags
ARCHES = {
    0x7: {-1: "i386"},
    0x1000007: {-1: "x86_64", 8: "x86_64h"},
    0xC: {-1: "arm", 5: "armv4t", 6: "armv6", 9: "armv7", 11: "armv7s", 12: "armv7k"},
    0x100000C: {-1: "arm64", 2: "arm64e"},
    0x200000C: {-1: "arm64_32"},
    0x12: {-1: "ppc"},
    0x1000012: {-1: "ppc64"},
}
"""Apple's names of processors, by type and subtype; -1: any other subtype."""
ALIASES = {"aarch64": "arm64", "i686": "i386", "x86-64": "x86_64"}
"""What others call them."""
UUID = 32  # hexadecimal digits


def is_architecture(name: str) -> bool:
    """Say whether *name* can be what a program of a file is told by: a processor, or a UUID."""
    name = name.lower()
    known = {each for names in ARCHES.values() for each in names.values()} | set(ALIASES)
    digits = name.removeprefix("0x") if name.startswith("0x") else name.replace("-", "")
    is_number = digits != "" and not digits.strip("0123456789abcdef")
    return name in known or (is_number and (name.startswith("0x") or len(digits) == UUID))


class Slice:
    """
    One program of a Mach-O file.

    Attributes:
        arch: Its processor, as Apple names it.
        offset, size: Where it lies, in bytes from the start of the file.
    """

    __slots__ = ("arch", "offset", "size")

    def __init__(self, cpu: int, subtype: int, offset: int, size: int) -> None:
        """State a slice."""
        names = ARCHES.get(cpu, {-1: f"{cpu:#x}"})
        self.arch = names.get(subtype & SUBTYPE, names[-1])
        self.offset = offset
        self.size = size


def slices(view: View) -> list[Slice]:
    """
    Return every program of a Mach-O file, in the file's order; of a thin file the one it is.

    Raises:
        FormatError: If it is no Mach-O file, or there are too many, or together they are much
            longer than the file (CLI-4).
    """
    magic = bytes(view.window(0, 4, "magic", RULE))
    if magic not in FAT:
        if magic not in THIN:
            raise unreadable("Mach-O")
        order = THIN[magic][0]
        cpu, subtype = struct.unpack(f"{order}II", view.window(4, 8, "Mach-O header", RULE))
        return [Slice(cpu, subtype, 0, view.size)]
    (count,) = struct.unpack(">I", view.window(4, 4, "fat header", RULE))
    if not 0 < count <= MAX_SLICES:
        raise FormatError(RULE, "fat file: slices", got=count, limit=MAX_SLICES, at=4)
    table = view.window(8, count * struct.calcsize(FAT[magic]), "fat table", RULE)
    found = [Slice(*row[:4]) for row in struct.iter_unpack(FAT[magic], table)]
    limit_copies([each.size for each in found], view.size)
    return found


def window(view: View, place: Slice) -> bytes:
    """
    Return the bytes of one slice.

    Raises:
        FormatError: If it is not in the file, or a reader of it would take too much memory (CLI-4).
    """
    data = bytes(view.window(place.offset, place.size, "slice of a fat file", RULE))
    order, header, segment, fields, at = THIN.get(data[:4], THIN[b"\xcf\xfa\xed\xfe"])
    sizes: list[int] = []
    for kind, where in _commands(data, order, header):
        words = struct.unpack_from(f"{order}4I", data[where + 8 : where + 24].ljust(16, b"\0"))
        if kind == segment and where + at + struct.calcsize(fields) <= len(data):
            sizes += struct.unpack_from(order + fields, data, where + at)
        elif kind == LC_SYMTAB:
            _limit_symbols(data, order + NLIST[header], words)
        elif kind == LC_FUNCTION_STARTS and words[1] > MAX_TABLE:
            raise FormatError(RULE, "function starts", got=words[1], limit=MAX_TABLE, at=where)
    limit_copies(sizes, len(data))
    return data


def _commands(data: bytes, order: str, at: int) -> Iterator[tuple[int, int]]:
    """Give (kind, where it begins) of each load command that is in the file."""
    (count,) = struct.unpack_from(f"{order}I", data, 16) if len(data) >= at else (0,)
    if count > MAX_COMMANDS:
        raise FormatError(RULE, "load commands", got=count, limit=MAX_COMMANDS, at=16)
    for _ in range(count):
        if at + 8 > len(data):
            break
        kind, size = struct.unpack_from(f"{order}II", data, at)
        yield kind, at
        at += max(size, 8)


def _limit_symbols(data: bytes, layout: str, words: tuple[int, ...]) -> None:
    offset, count, strings, size = words
    if count > MAX_TABLE:
        raise FormatError(RULE, "symbols", got=count, limit=MAX_TABLE, at=offset)
    table = data[offset : offset + count * struct.calcsize(layout)]
    table = table[: len(table) // struct.calcsize(layout) * struct.calcsize(layout)]
    names = (row[0] for row in struct.iter_unpack(layout, table))
    limit_names(names, data[strings : strings + size])
