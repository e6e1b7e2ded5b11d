"""The sections of debug information: the DWARF reader's one door to bytes.

Only what is asked for is read from the file: debug information is often a hundred times as large as
what an answer needs. Compression and relocation are undone here, so that the reader of DWARF knows
of neither.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_DEBUG_STRING, MAX_DEBUG_WHOLE
from okld.base.view import View
from okld.elf.header import ET_REL, SHT_NOBITS
from okld.syms.elf_file import FLAGS, NAME, SHF_COMPRESSED, TYPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from okld.syms.elf_file import ElfFile
    from okld.syms.inflate import Inflated
    from okld.syms.relocate import Relocated

    Source = View | Inflated | Relocated

RULE = "LIN-1"
SHF_GROUP = 0x200
FIRST_READ = 128  # bytes of a string; nine names of ten are shorter

UNSPLIT = ("cu_index", "tu_index")  # of a package of split units; their names have no ".dwo"


class Sections:
    """
    The debug sections of one file, by names without prefix: "info", "line_str", "cu_index".

    Attributes:
        order: "<" (least significant byte first) or ">".
        address_size: Bytes of an address, 4 or 8, as the file's class says.
    """

    __slots__ = ("_dwo", "_elf", "_sources", "_wholes", "address_size", "order")

    def __init__(self, elf: ElfFile | None, order: str, address_size: int, *, dwo: bool) -> None:
        self._elf = elf
        self._dwo = dwo
        self._sources: dict[str, Source | None] = {}
        self._wholes: dict[str, bytes | memoryview] = {}
        self.order = order
        self.address_size = address_size

    @classmethod
    def of_elf(cls, elf: ElfFile, *, dwo: bool = False) -> Sections:
        """Return the sections of *elf*, which must stay open; *dwo*: those of its split units."""
        return cls(elf, elf.header.order, elf.header.bits // 8, dwo=dwo)

    @classmethod
    def of_parts(
        cls, parts: Mapping[str, bytes | memoryview | View], order: str, address_size: int
    ) -> Sections:
        """Return sections that are known already, as those of other formats than ELF."""
        self = cls(None, order, address_size, dwo=False)
        for name, part in parts.items():
            self._sources[name] = part if isinstance(part, View) else View.of_bytes(part)
        return self

    def size(self, name: str) -> int:
        """
        Return the number of bytes of a section once it is inflated; 0 where there is none.

        Raises:
            FormatError: If it is compressed, and not as it says (DBG-1, DBG-2).
            Refusal: If nothing here can inflate it (DBG-3).
            Unreadable: If the system refuses to read it.
        """
        source = self._source(name)
        return source.size if source else 0

    def window(self, name: str, offset: int, size: int) -> memoryview | bytes:
        """
        Return *size* bytes of a section from *offset* on, inflated and relocated.

        Raises:
            FormatError: If they lie outside it (LIN-1), or as for `size` and for relocations
                (DBG-4).
            Refusal, Unreadable: As for `size`.
        """
        source = self._source(name)
        if source is None:
            raise FormatError(RULE, f"there is no section {name}", at=offset)
        return source.window(offset, size, name, RULE)

    def whole(self, name: str) -> memoryview | bytes:
        """
        Return all bytes of a section, which are kept; none where there is no such section.

        Raises:
            FormatError: If it is larger than MAX_DEBUG_WHOLE (DBG-2), or as for `window`.
            Refusal, Unreadable: As for `size`.
        """
        data = self._wholes.get(name)
        if data is None:
            size = self.size(name)
            if size > MAX_DEBUG_WHOLE:
                raise FormatError(
                    "DBG-2", f"bytes of section {name}", got=size, limit=MAX_DEBUG_WHOLE
                )
            data = self._wholes[name] = self.window(name, 0, size) if size else b""
        return data

    def cstring(self, name: str, offset: int) -> bytes:
        """
        Return the bytes from *offset* to before the next NUL.

        Raises:
            FormatError: If *offset* lies outside the section or no NUL follows in it, or not within
                MAX_DEBUG_STRING bytes (LIN-1); or as for `window`.
            Refusal, Unreadable: As for `size`.
        """
        rest, size = self.size(name) - offset, FIRST_READ
        while True:
            data = bytes(self.window(name, offset, min(size, max(rest, 1))))
            end = data.find(b"\0")
            if end >= 0:
                return data[:end]
            if size >= rest or size >= MAX_DEBUG_STRING:
                raise FormatError(RULE, f"string does not end, in section {name}", at=offset)
            size *= 2

    def _source(self, name: str) -> Source | None:
        try:
            return self._sources[name]
        except KeyError:
            source = self._sources[name] = self._open(name) if self._elf else None
            return source

    def _open(self, name: str) -> Source | None:
        elf = self._elf
        assert elf is not None
        suffix = ".dwo" if self._dwo and name not in UNSPLIT else ""
        index = section_index(elf, f".debug_{name}{suffix}")
        source: Source
        if index:
            source = elf.raw(index)
            if elf.sections[index][FLAGS] & SHF_COMPRESSED:
                from okld.syms.inflate import inflated

                source = inflated(source, elf.header.bits, elf.header.order)
        else:
            index = section_index(elf, f".zdebug_{name}{suffix}")
            if not index:
                return None
            from okld.syms.inflate import inflated_gnu

            source = inflated_gnu(elf.raw(index))
        if elf.header.type == ET_REL:
            from okld.syms.relocate import relocated

            return relocated(source, elf, index)
        return source


def section_index(elf: ElfFile, name: str) -> int:
    """
    Return the index of the section that has this name and bytes in the file, or 0.

    Of several, in relocatable files, the first that is in no group: groups hold type units, which
    no address belongs to.
    """
    first = elf.index(name)
    if not first:
        return 0
    wanted = elf.sections[first][NAME]
    same = [
        index
        for index, section in enumerate(elf.sections)
        if section[NAME] == wanted and section[TYPE] != SHT_NOBITS
    ]
    single = [index for index in same if not elf.sections[index][FLAGS] & SHF_GROUP]
    return (single or same or [0])[0]
