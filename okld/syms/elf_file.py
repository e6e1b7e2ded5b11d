"""An ELF file as symbols and debug information are read from it: headers, sections by name.

What cannot be read is not there: a reader of names goes on with what is left of a damaged file.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_NAMES
from okld.base.view import View
from okld.elf.header import (
    PF_X,
    PT_LOAD,
    SHT_NOBITS,
    name_section,
    read_header,
    read_sections,
    read_segments,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.elf.header import Header

RULE = "SYM-1"
NAME, TYPE, FLAGS, ADDR, OFFSET, SIZE, LINK, INFO, ALIGN, ENTSIZE = range(10)
"""The fields of a section header, as `read_sections` gives them."""

SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 2, 4, 0x800


class ElfFile:
    """
    An ELF file's headers.

    Attributes:
        path: The file's path, for messages; "" for bytes in memory.
        view: Its bytes.
        header: Its own header.
        segments: As `read_segments` gives them; none where they cannot be read.
        sections: As `read_sections` gives them; none where they cannot be read.
        damage: What is broken in the file and was got around, or "".
    """

    __slots__ = ("_names", "damage", "header", "path", "sections", "segments", "view")

    def __init__(self, view: View, path: str = "") -> None:
        """
        Read the headers of the ELF file in *view*.

        Raises:
            FormatError: If it is no ELF file (SYM-1).
            Unreadable: If the system refuses to read it.
        """
        self.path = path
        self.view = view
        self.header: Header = read_header(view, RULE)
        self.segments = self._segments()
        self.sections = self._sections()
        lost = (self.header.shoff or self.header.shnum) and not self.sections
        self.damage = "the section headers are not in the file" if lost else ""
        self._names: dict[str, int] | None = None

    def loads(self) -> list[tuple[int, ...]]:
        """Return the program headers of type PT_LOAD."""
        return [segment for segment in self.segments if segment[0] == PT_LOAD]

    def code(self) -> list[tuple[int, int]]:
        """
        Return where code can lie, as (start, end) link addresses in ascending order: the
        executable sections, else the executable segments.
        """
        places = [
            (s[ADDR], s[ADDR] + s[SIZE])
            for s in self.sections
            if s[FLAGS] & SHF_ALLOC and s[FLAGS] & SHF_EXECINSTR and s[SIZE]
        ]
        if not places:
            places = [(s[3], s[3] + s[6]) for s in self.loads() if s[1] & PF_X]
        return sorted(places)

    def index(self, name: str) -> int:
        """Return the index of the first section of this name, or 0 where there is none."""
        if self._names is None:
            self._names = self._read_names()
        return self._names.get(name, 0)

    def names(self) -> dict[str, int]:
        """Return the sections' names, each with the index of its first section."""
        self.index("")
        assert self._names is not None
        return self._names

    def raw(self, index: int) -> View:
        """Return the bytes of a section as they stand in the file; none for SHT_NOBITS."""
        section = self.sections[index]
        offset, size = section[OFFSET], section[SIZE]
        if section[TYPE] == SHT_NOBITS or offset > self.view.size:
            offset = size = 0
        size = min(size, self.view.size - offset)
        return self.view.part(offset, size, "section", RULE)

    def _read_names(self) -> dict[str, int]:
        at = name_section(self.header, self.sections)
        if not 0 < at < len(self.sections):
            return {}
        part = self.raw(at)
        strings = bytes(part.window(0, min(part.size, MAX_NAMES), "section names", RULE))
        names: dict[str, int] = {}
        for index, section in enumerate(self.sections):
            end = strings.find(b"\0", section[NAME]) if section[NAME] < len(strings) else -1
            if index and end >= 0:
                name = strings[section[NAME] : end].decode("utf-8", "surrogateescape")
                names.setdefault(name, index)
        return names

    def _segments(self) -> list[tuple[int, ...]]:
        try:
            return read_segments(self.view, self.header, RULE) if self.header.phoff else []
        except FormatError:
            return []

    def _sections(self) -> list[tuple[int, ...]]:
        try:
            return read_sections(self.view, self.header, RULE)
        except FormatError:
            return []
