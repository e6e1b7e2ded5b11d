"""The tables of a PE file that name its code, read without trusting what they say of their sizes.

Source: Microsoft, "PE Format": COFF symbol table, `.edata`, `.pdata`; "ARM64 exception handling".
"""

from __future__ import annotations

import struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_NAMES, MAX_TABLE
from okld.image.foreign import RULE, limit_copies, limit_names
from okld.image.program import CORRUPT, Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COFF_SIZE, SECTION_SIZE, SYMBOL_SIZE = 24, 40, 18  # COFF_SIZE with the signature "PE", 0, 0
EXPORTS_SIZE = 40
SYMBOL = "<8sIhHBB"
"""Name, value, section, type, storage class, number of auxiliary records that follow."""

AMD64, ARM64 = 0x8664, 0xAA64
UNW_FLAG_CHAININFO = 4 << 3


class Mapped:
    """A PE file's bytes by where they are in memory, counted from the image base."""

    __slots__ = ("_places", "data")

    def __init__(self, data: bytes, places: list[tuple[int, int, int]]) -> None:
        """Take the file's bytes, and (RVA, where in the file, bytes) of its sections."""
        self.data = data
        self._places = places

    def at(self, rva: int, size: int) -> bytes:
        """Return the *size* bytes at *rva*, those of them that the file has."""
        for start, offset, length in self._places:
            if start <= rva < start + length:
                begin = offset + rva - start
                return self.data[begin : begin + min(size, start + length - rva)]
        return b""

    def name(self, rva: int) -> str:
        """Return the name at *rva*, of at most 4,096 bytes."""
        name, nul, _ = self.at(rva, 1 << 12).partition(b"\0")
        return name.decode("utf-8", "surrogateescape") if nul else CORRUPT


class CoffTable:
    """
    The COFF symbol table of a PE file, and the strings that go with it.

    Attributes:
        records: Its bytes; none where there is no such table.
        names: The string table, which offsets count from its first byte.
    """

    __slots__ = ("names", "records")

    def __init__(self, data: bytes) -> None:
        """
        Find the table.

        Raises:
            FormatError: If its names do not fit memory (CLI-4).
        """
        at, count = _coff_header(data)
        self.records = data[at : at + count * SYMBOL_SIZE] if at else b""
        begin = at + len(self.records)
        size = int.from_bytes(data[begin : begin + 4], "little") if at else 0
        strings = data[begin : begin + size]
        limit_names((row[0] for row in self._long_names()), strings)
        self.names = Names(strings)

    def _long_names(self) -> Iterator[tuple[int]]:
        whole = len(self.records) // SYMBOL_SIZE * SYMBOL_SIZE
        for zero, offset in struct.iter_unpack("<II10x", self.records[:whole]):
            if not zero:
                yield (offset,)

    def rows(self) -> Iterator[tuple[str, int, int, int, int, int]]:
        """Give (name, value, section, type, storage class, auxiliary records) of each symbol."""
        at = 0
        while at + SYMBOL_SIZE <= len(self.records):
            row = struct.unpack_from(SYMBOL, self.records, at)
            at += SYMBOL_SIZE * (1 + row[5])
            yield self._name(row[0]), *row[1:]

    def section_name(self, short: bytes) -> str:
        """Return a section's name, which is "/" and a decimal offset where it is a long one."""
        short = short.rstrip(b"\0")
        if short[:1] == b"/" and short[1:].isdigit():
            return self.names.at(int(short[1:]))
        return short.decode("utf-8", "surrogateescape")

    def _name(self, field: bytes) -> str:
        if field[:4] == b"\0\0\0\0":
            return self.names.at(int.from_bytes(field[4:], "little"))
        return field.rstrip(b"\0").decode("utf-8", "surrogateescape")


def bound(data: bytes) -> None:
    """
    Return if a reader of a PE file, which copies what the headers say, fits memory.

    Raises:
        FormatError: If it may not (CLI-4).
    """
    (pe,) = struct.unpack_from("<I", data, 60) if len(data) >= 64 else (len(data),)
    if pe + COFF_SIZE > len(data):
        return
    count, optional = struct.unpack_from("<H12xH", data, pe + 6)
    table = pe + COFF_SIZE + optional
    count = min(count, max(0, len(data) - table) // SECTION_SIZE)
    rows = struct.iter_unpack("<16xI20x", data[table : table + SECTION_SIZE * count])
    limit_copies([size for (size,) in rows], len(data))
    CoffTable(data)


def _coff_header(data: bytes) -> tuple[int, int]:
    """Return where the symbol table begins, 0 for none, and how many records it has."""
    (pe,) = struct.unpack_from("<I", data, 60) if len(data) >= 64 else (len(data),)
    if pe + COFF_SIZE > len(data):
        return 0, 0
    at, count = struct.unpack_from("<II", data, pe + 12)
    if count > MAX_TABLE:
        raise FormatError(RULE, "symbols", got=count, limit=MAX_TABLE, at=pe + 16)
    return (at, count) if at < len(data) else (0, 0)


def exports(image: Mapped, rva: int, size: int) -> list[tuple[str, int]]:
    """
    Return (name, RVA) of each export; RVA 0: it is another image's (a forwarder).

    An export without a name is called "#" and its ordinal.

    Args:
        image: The file.
        rva, size: Where the export directory is.

    Raises:
        FormatError: If there are too many, or their names do not fit memory (CLI-4).
    """
    head = image.at(rva, EXPORTS_SIZE)
    if len(head) < EXPORTS_SIZE:
        return []
    first, count, named, functions, names, ordinals = struct.unpack_from("<6I", head, 16)
    if max(count, named) > MAX_TABLE:
        raise FormatError(RULE, "exports", got=max(count, named), limit=MAX_TABLE)
    places = _words(image.at(functions, 4 * count), "I")
    texts: dict[int, list[str]] = {}
    room = MAX_NAMES
    numbers = _words(image.at(ordinals, 2 * named), "H")
    for where, index in zip(_words(image.at(names, 4 * named), "I"), numbers, strict=False):
        text = image.name(where)
        room -= len(text)
        if room < 0:
            raise FormatError(RULE, "bytes of all names together", limit=MAX_NAMES)
        texts.setdefault(index, []).append(text)
    return [
        (text, 0 if rva <= place < rva + size else place)
        for index, place in enumerate(places)
        if place
        for text in texts.get(index, [f"#{first + index}"])
    ]


def functions(image: Mapped, machine: int, rva: int, size: int) -> list[tuple[int, int]]:
    """
    Return (begin, end) RVAs of the functions that have unwind information, ascending.

    What continues a function that it follows is part of it.
    """
    if machine == AMD64:
        found = _amd64_functions(image, rva, size)
    elif machine == ARM64:
        found = _arm64_functions(image, rva, size)
    else:
        return []
    return sorted((begin, end) for begin, end in found if begin < end)


def _amd64_functions(image: Mapped, rva: int, size: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    table = image.at(rva, size)
    for begin, end, unwind in struct.iter_unpack("<III", table[: len(table) // 12 * 12]):
        flags = image.at(unwind, 1)
        if flags and flags[0] & UNW_FLAG_CHAININFO:
            if found and found[-1][1] == begin:
                found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return found


def _arm64_functions(image: Mapped, rva: int, size: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    table = image.at(rva, size)
    for begin, unwind in struct.iter_unpack("<II", table[: len(table) // 8 * 8]):
        if unwind & 3:  # packed: the length is here
            length = unwind >> 2 & 0x7FF
        else:
            length = int.from_bytes(image.at(unwind, 4), "little") & 0x3FFFF
        found.append((begin, begin + 4 * length))
    return found


def _words(data: bytes, code: str) -> list[int]:
    size = struct.calcsize(code)
    return [word for (word,) in struct.iter_unpack(f"<{code}", data[: len(data) // size * size])]
