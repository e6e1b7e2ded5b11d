"""The three headers of an ELF file: its own, its segments' and its sections'.

Both classes and both byte orders are read. Nothing is judged but what decoding itself needs; the
caller names the rule that a file breaks when its headers lie outside it.

Source: System V gABI, chapters 4 and 5.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_SECTIONS
from okld.base.view import View
from okld.elf.tables import WIDTHS, rows

MAGIC = b"\x7fELF"
EI_CLASS, EI_DATA, EI_VERSION, EI_OSABI, EI_ABIVERSION, EI_PAD, EI_NIDENT = 4, 5, 6, 7, 8, 9, 16
ELFCLASS64, ELFDATA2LSB, EV_CURRENT = 2, 1, 1
ELFOSABI_NONE, ELFOSABI_LINUX = 0, 3

ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
EM_X86_64, EM_AARCH64, EM_RISCV = 62, 183, 243

PT_NULL, PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_PHDR, PT_TLS = 0, 1, 2, 3, 4, 6, 7
PT_GNU_EH_FRAME, PT_GNU_STACK = 0x6474E550, 0x6474E551
PT_GNU_RELRO, PT_GNU_PROPERTY = 0x6474E552, 0x6474E553
PT_RISCV_ATTRIBUTES = 0x70000003
PF_X, PF_W, PF_R = 1, 2, 4

SHT_SYMTAB, SHT_STRTAB, SHT_NOBITS, SHT_DYNSYM, SHT_SYMTAB_SHNDX = 2, 3, 8, 11, 18
SHN_XINDEX = 0xFFFF

HEADER_SIZE, SEGMENT_SIZE, SECTION_SIZE = 64, 56, 64  # of ELF64

_BITS = {1: 32, 2: 64}
_ORDER = {1: "<", 2: ">"}
_EHDR = {32: "HHIIIIIHHHHHH", 64: "HHIQQQIHHHHHH"}
_PHDR = {32: "IIIIIIII", 64: "IIQQQQQQ"}
_SHDR = {32: "IIIIIIIIII", 64: "IIQQQQIIQQ"}


class Header:
    """
    The file's own header.

    Attributes:
        bits: 32 or 64, by ``EI_CLASS``.
        order: "<" (least significant byte first) or ">", by ``EI_DATA``.
        ident: The 16 bytes of ``e_ident``.
        entry: ``e_entry``, a link address.
        phoff, shoff: ``e_phoff`` and ``e_shoff``, in bytes from the start of the file.
        type, machine, version, flags, ehsize, phentsize, phnum, shentsize, shnum, shstrndx:
            The other fields, as they stand.
    """

    __slots__ = (
        "bits",
        "ehsize",
        "entry",
        "flags",
        "ident",
        "machine",
        "order",
        "phentsize",
        "phnum",
        "phoff",
        "shentsize",
        "shnum",
        "shoff",
        "shstrndx",
        "type",
        "version",
    )

    ident: bytes
    bits: int
    order: str
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


def read_header(view: View, rule: str) -> Header:
    """
    Return the header of the ELF file in *view*.

    Raises:
        FormatError: With *rule*, if the magic, the class or the byte order is not ELF's, or the
            header is cut.
    """
    magic = bytes(view.window(0, min(len(MAGIC), view.size), "magic", rule))
    if magic != MAGIC:
        raise FormatError(rule, "no ELF file: magic differs", got=magic.hex() or "nothing", at=0)
    ident = bytes(view.window(0, EI_NIDENT, "ELF identification", rule))
    if ident[EI_CLASS] not in _BITS:
        raise FormatError(rule, "unknown ELF class", got=ident[EI_CLASS], at=EI_CLASS)
    if ident[EI_DATA] not in _ORDER:
        raise FormatError(rule, "unknown ELF byte order", got=ident[EI_DATA], at=EI_DATA)
    header = Header()
    header.ident = ident
    header.bits = _BITS[ident[EI_CLASS]]
    header.order = _ORDER[ident[EI_DATA]]
    layout = _EHDR[header.bits]
    (
        header.type,
        header.machine,
        header.version,
        header.entry,
        header.phoff,
        header.shoff,
        header.flags,
        header.ehsize,
        header.phentsize,
        header.phnum,
        header.shentsize,
        header.shnum,
        header.shstrndx,
    ) = rows(view.window(EI_NIDENT, _size(layout), "ELF header", rule), layout, header.order)[0]
    return header


def read_segments(view: View, header: Header, rule: str) -> list[tuple[int, ...]]:
    """
    Return the program headers, each as (type, flags, offset, vaddr, paddr, filesz, memsz, align).

    Raises:
        FormatError: With *rule*, if their size is not the class's, or one lies past the end of the
            file.
    """
    layout, what = _PHDR[header.bits], "program header table"
    place = (header.phoff, header.phentsize, header.phnum)
    entries = _entries(view, layout, header.order, *place, what, rule)
    if header.bits == 32:
        return [(e[0], e[6], e[1], e[2], e[3], e[4], e[5], e[7]) for e in entries]
    return entries


def read_sections(view: View, header: Header, rule: str) -> list[tuple[int, ...]]:
    """
    Return the section headers, each as (name, type, flags, addr, offset, size, link, info,
    addralign, entsize).

    The list is empty when the file has none. Counts above 65,279 are read as the gABI says, from
    the first header.

    Raises:
        FormatError: With *rule*, if their size is not the class's, one lies past the end of the
            file, or there are more than MAX_SECTIONS.
    """
    if not header.shoff:
        return []
    layout, what = _SHDR[header.bits], "section header table"
    place = (header.shoff, header.shentsize)
    count = header.shnum
    if count == 0:
        first = _entries(view, layout, header.order, *place, 1, what, rule)[0]
        count = first[5]
        if count > MAX_SECTIONS:
            raise FormatError(rule, "too many sections", got=count, limit=MAX_SECTIONS)
    return _entries(view, layout, header.order, *place, count, what, rule)


def name_section(header: Header, sections: list[tuple[int, ...]]) -> int:
    """
    Return the index of the section that holds the sections' names, as stated (it may be past the
    end).
    """
    if header.shstrndx == SHN_XINDEX and sections:
        return sections[0][6]
    return header.shstrndx


def _entries(
    view: View,
    layout: str,
    order: str,
    offset: int,
    entry_size: int,
    count: int,
    what: str,
    rule: str,
) -> list[tuple[int, ...]]:
    size = _size(layout)
    if entry_size != size:
        raise FormatError(rule, f"{what}: entry size", got=entry_size, limit=size, at=offset)
    return rows(view.window(offset, size * count, what, rule), layout, order)


def _size(layout: str) -> int:
    return sum(WIDTHS[code] for code in layout)
