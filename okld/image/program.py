"""A Mach-O or PE program as names and lines are read from it, without the reader's own types."""

from __future__ import annotations

Row = tuple[str, int, int, int, int]
"""
A symbol as ELF would state it: name, link address, size in bytes (0: not known), `st_info`, and
`st_shndx` (0: undefined; `SHN_ABS`: no address; else 1).

Source: System V gABI, chapter 4, "Symbol Table".
"""

UNDEFINED, PLACED, ABSOLUTE = 0, 1, 0xFFF1
CORRUPT = "<corrupt>"
"""The name of what has one outside the string table, as for ELF. Source: SYM-1."""


class ProgramSection:
    """
    A section.

    Attributes:
        name: Its name; for Mach-O "SEGMENT,section".
        address: Its link address, in bytes.
        size: How many bytes it takes in memory.
        offset: Where its bytes begin, in bytes from the start of the file.
        filesize: How many bytes the file supplies.
        is_code: Whether it holds instructions.
        is_loaded: Whether it is in memory at run time.
    """

    __slots__ = ("address", "filesize", "is_code", "is_loaded", "name", "offset", "size")

    def __init__(
        self,
        name: str,
        address: int,
        size: int,
        *,
        offset: int,
        filesize: int,
        is_code: bool,
        is_loaded: bool,
    ) -> None:
        """State a section."""
        self.name = name
        self.address = address
        self.size = size
        self.offset = offset
        self.filesize = filesize
        self.is_code = is_code
        self.is_loaded = is_loaded

    def holds(self, address: int) -> bool:
        """Say whether a link address is one of the section's."""
        return self.is_loaded and self.address <= address < self.address + self.size


class Program:
    """
    One program.

    Attributes:
        arch: The processor, as the format's tools name it ("arm64", "x86_64").
        order: "<" (least significant byte first) or ">".
        bits: 32 or 64.
        base: The link address of the image's first byte.
        identity: What tells this build from others, in lower-case hex, or "".
        sections: In the file's order.
        source: The table that the symbols come from, or "" for none.
        symbols: In the table's order.
        stubs: (link address, size, name) of stubs that jump to another image's function.
        starts: Link addresses where functions begin, ascending, as far as the file states them.
        is_exact: Whether no function without a symbol can be taken for the one before it, as all
            have symbols or `starts` tells them apart.
        has_locals: Whether the table has more than what other images may use.
        notes: What people may want to know, a line each.
    """

    __slots__ = (
        "arch",
        "base",
        "bits",
        "has_locals",
        "identity",
        "is_exact",
        "notes",
        "order",
        "sections",
        "source",
        "starts",
        "stubs",
        "symbols",
    )

    def __init__(self, arch: str, order: str, bits: int, base: int, identity: str) -> None:
        """Begin with a program of no sections and no symbols."""
        self.arch = arch
        self.order = order
        self.bits = bits
        self.base = base
        self.identity = identity
        self.sections: list[ProgramSection] = []
        self.source = ""
        self.symbols: list[Row] = []
        self.stubs: list[tuple[int, int, str]] = []
        self.starts: list[int] = []
        self.is_exact = True
        self.has_locals = False
        self.notes: list[str] = []

    def code(self) -> list[tuple[int, int]]:
        """Return where code lies, as (start, end) link addresses, ascending."""
        places = [(s.address, s.address + s.size) for s in self.sections if s.is_code and s.size]
        return sorted(places)


class Names:
    """A string table of names that end with NUL."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        """Take the table's bytes; who takes names from it has called `limit_names`."""
        self._data = data

    def at(self, offset: int) -> str:
        """Return the name at *offset*; "<corrupt>" for one that does not lie in the table."""
        end = self._data.find(b"\0", offset) if 0 <= offset < len(self._data) else -1
        return self._data[offset:end].decode("utf-8", "surrogateescape") if end >= 0 else CORRUPT
