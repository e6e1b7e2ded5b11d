"""Where an ELF file keeps its symbols, for both classes and byte orders.

The section headers say it: `.symtab`, else `.dynsym`. A file that has none left (they are stripped,
or lie past the end of a file that was cut) still has the table that a dynamic linker uses; its hash
table counts the entries.

Source: SYM-1; System V gABI, chapters 4 and 5; for `DT_GNU_HASH` the GNU tool chain.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import CHUNK, MAX_DYNAMIC, MAX_TABLE
from okld.elf.header import (
    PT_DYNAMIC,
    PT_LOAD,
    SHT_DYNSYM,
    SHT_SYMTAB,
    SHT_SYMTAB_SHNDX,
)
from okld.elf.tables import (
    DT_GNU_HASH,
    DT_HASH,
    DT_NULL,
    DT_STRSZ,
    DT_STRTAB,
    DT_SYMTAB,
    SYMBOL_SIZE,
    column,
)
from okld.syms.elf_file import SHF_COMPRESSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from okld.base.view import View
    from okld.elf.header import Header
    from okld.image.shape import Shape
    from okld.syms.elf_file import ElfFile

RULE = "SYM-1"


class Place:
    """
    Where a symbol table lies, all in bytes from the start of the file.

    Attributes:
        name: ".symtab", ".dynsym", "DT_SYMTAB" where the dynamic segment alone leads to it, or ""
            where there is none.
        offset: Where the entries begin.
        count: How many there are, the first, empty one included.
        strings: (offset, size) of the names.
        extended: (offset, size) of the section indices that do not fit `st_shndx`, or (0, 0).
    """

    __slots__ = ("count", "extended", "name", "offset", "strings")

    def __init__(
        self,
        name: str,
        offset: int,
        count: int,
        strings: tuple[int, int],
        extended: tuple[int, int] = (0, 0),
    ) -> None:
        """State where a table lies."""
        self.name = name
        self.offset = offset
        self.count = count
        self.strings = strings
        self.extended = extended


def find(elf: ElfFile, shape: Shape | None) -> Place:
    """
    Return where the symbols are that name addresses.

    For an ok image, of which *shape* is given, that is the table that its runner reads (SYM-7);
    the gate has held it to MAX_TABLE entries.

    Raises:
        FormatError: If the table has more entries than MAX_TABLE.
    """
    if shape:
        name = ".dynsym" if shape.names_dynamic else ".symtab"
        return Place(name, *shape.names, shape.strings)
    view, header = elf.view, elf.header
    found = _in_sections(view, header, elf.sections) or _in_dynamic(view, header, elf.segments)
    if found is None:
        return Place("", 0, 0, (0, 0))
    if found.count > MAX_TABLE:
        raise FormatError(
            RULE, "too many symbols", got=found.count, limit=MAX_TABLE, at=found.offset
        )
    return found


def _in_sections(view: View, header: Header, sections: list[tuple[int, ...]]) -> Place | None:
    """Return the table that the section headers name and the file holds, SHT_SYMTAB first."""
    entry = SYMBOL_SIZE[header.bits]
    for kind, name in ((SHT_SYMTAB, ".symtab"), (SHT_DYNSYM, ".dynsym")):
        for index, section in enumerate(sections):
            offset, size, link, count = section[4], section[5], section[6], section[5] // entry
            if section[1] != kind or count < 2 or section[9] != entry or link >= len(sections):
                continue
            packed = (section[2] | sections[link][2]) & SHF_COMPRESSED
            if packed or offset + size > view.size:
                continue
            strings = sections[link][4], sections[link][5]
            return Place(name, offset, count, strings, _extended(sections, index))
    return None


def _extended(sections: list[tuple[int, ...]], table: int) -> tuple[int, int]:
    for section in sections:
        if section[1] == SHT_SYMTAB_SHNDX and section[6] == table:
            return section[4], section[5]
    return 0, 0


def _in_dynamic(view: View, header: Header, segments: list[tuple[int, ...]]) -> Place | None:
    """Return the table that the dynamic segment names, if its entries can be counted."""
    try:
        tags = _tags(view, header, segments)
        symbols, strings = (_offset(segments, tags[tag]) for tag in (DT_SYMTAB, DT_STRTAB))
        if DT_HASH in tags:
            count = _words(view, header, _offset(segments, tags[DT_HASH]), 2)[1]
        else:
            count = _gnu_count(view, header, _offset(segments, tags[DT_GNU_HASH]))
        view.window(symbols, count * SYMBOL_SIZE[header.bits], "symbol table", RULE)
    except (FormatError, KeyError):
        return None
    return Place("DT_SYMTAB", symbols, count, (strings, tags.get(DT_STRSZ, 0)))


def _tags(view: View, header: Header, segments: list[tuple[int, ...]]) -> dict[int, int]:
    code: Literal["Q", "I"] = "Q" if header.bits == 64 else "I"
    width = header.bits // 4
    tags: dict[int, int] = {}
    for segment in segments:
        if segment[0] == PT_DYNAMIC:
            size = min(segment[5] // width, MAX_DYNAMIC) * width
            data = view.window(segment[2], size, "dynamic segment", RULE)
            keys = column(data, code, 0, 2, header.order)
            values = column(data, code, 1, 2, header.order)
            for key, value in zip(keys, values, strict=True):
                if key == DT_NULL:
                    break
                tags.setdefault(key, value)
    return tags


def _offset(segments: list[tuple[int, ...]], address: int) -> int:
    """Return where in the file the byte of a link address lies."""
    for kind, _, offset, vaddr, _, filesz, _, _ in segments:
        if kind == PT_LOAD and vaddr <= address < vaddr + filesz:
            return offset + address - vaddr
    raise FormatError(RULE, "dynamic segment: address is in no segment", got=address)


def _words(view: View, header: Header, offset: int, count: int) -> list[int]:
    return column(view.window(offset, 4 * count, "hash table", RULE), "I", 0, 1, header.order)


def _gnu_count(view: View, header: Header, offset: int) -> int:
    """Return the number of symbols that a GNU hash table knows: where its last chain ends."""
    buckets, first, bloom, _ = _words(view, header, offset, 4)
    if buckets > MAX_TABLE:
        raise FormatError(RULE, "hash table: too many buckets", got=buckets, limit=MAX_TABLE)
    table = offset + 16 + bloom * header.bits // 8
    last = max(_words(view, header, table, buckets), default=0)
    if last < first:
        return first
    at = table + 4 * buckets + 4 * (last - first)
    while last <= MAX_TABLE:
        chunk = _words(view, header, at, min(CHUNK, (view.size - at) // 4))
        for word in chunk:
            last += 1
            if word & 1:
                return last
        if not chunk:
            break
        at += 4 * len(chunk)
    raise FormatError(RULE, "hash table: last chain does not end", at=at)
