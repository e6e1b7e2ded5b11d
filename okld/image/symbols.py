"""The dynamic symbols of an image, and where the names for addresses lie.

Source: SPEC IMG-27, IMG-28, IMG-35, IMG-40.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_IMPORTS, MAX_NAME, MAX_NAMES, MAX_SYMBOLS, MAX_TABLE
from okld.base.view import View
from okld.elf.header import (
    HEADER_SIZE,
    PF_X,
    SECTION_SIZE,
    SHT_STRTAB,
    SHT_SYMTAB,
    Header,
    read_sections,
)
from okld.elf.tables import (
    DT_SYMENT,
    DT_SYMTAB,
    SHN_ABS,
    SHN_LORESERVE,
    SHN_UNDEF,
    STB_GLOBAL,
    STB_LOCAL,
    STB_WEAK,
    STT_FILE,
    STT_FUNC,
    STT_GNU_IFUNC,
    STT_NOTYPE,
    STT_OBJECT,
    STT_SECTION,
    STT_TLS,
    SYMBOL_SIZE,
    Symbols,
)
from okld.image.dynamic import Dynamic
from okld.image.segments import Memory, file_range

_ENTRY = SYMBOL_SIZE[64]
_BINDINGS = {STB_LOCAL, STB_GLOBAL, STB_WEAK}
_TYPES = {STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE}
_IMPORT_TYPES = {STT_NOTYPE, STT_OBJECT, STT_FUNC}
_IS_FUNCTION = bytes(kind == STT_FUNC for kind in range(16)) * 16  # by st_info


class Import:
    """
    A symbol that the image wants bound.

    Attributes:
        index: Of the symbol in the dynamic symbol table.
        name: Of the symbol, never empty; bytes that are not UTF-8 are surrogates, as in
            `os.fsdecode`.
        weak: Whether the image can do without it.
    """

    __slots__ = ("index", "name", "weak")

    def __init__(self, index: int, name: str, weak: bool) -> None:
        self.index = index
        self.name = name
        self.weak = weak


class SymbolTable:
    """
    The dynamic symbols, checked.

    Attributes:
        at: Where the table starts, in bytes from the start of the file.
        columns: The table.
        absolute: Indices of symbols whose value is no address (``SHN_ABS``).
        imports: Undefined symbols, in table order.
    """

    __slots__ = ("absolute", "at", "columns", "imports")

    at: int
    columns: Symbols
    absolute: tuple[int, ...]
    imports: tuple[Import, ...]


def read_symbols(view: View, dynamic: Dynamic, memory: Memory, count: int) -> SymbolTable:
    """
    Return the first *count* dynamic symbols of an image.

    Raises:
        FormatError: IMG-18, IMG-26 to IMG-28, IMG-35.
    """
    tags = dynamic.tags
    if DT_SYMTAB not in tags:
        raise FormatError("IMG-27", "no symbol table: DT_SYMTAB is absent")
    if tags.get(DT_SYMENT) != _ENTRY:
        raise FormatError("IMG-27", "DT_SYMENT", got=tags.get(DT_SYMENT), limit=_ENTRY)
    if count > MAX_SYMBOLS:
        raise FormatError("IMG-27", "dynamic symbol count", got=count, limit=MAX_SYMBOLS)
    count = max(count, 1)
    table = SymbolTable()
    table.at = file_range(memory, tags[DT_SYMTAB], _ENTRY * count, "DT_SYMTAB", "IMG-27")
    data = view.window(table.at, _ENTRY * count, "DT_SYMTAB", "IMG-27")
    if any(data[:_ENTRY]):
        raise FormatError("IMG-28", "the first symbol is not all zero", at=table.at)
    table.columns = columns = Symbols(data)
    if max(columns.names) >= len(dynamic.strings):
        raise FormatError(
            "IMG-26",
            "a symbol's name is past DT_STRTAB",
            got=max(columns.names),
            limit=len(dynamic.strings),
        )
    _check_info(table, dynamic)
    _check_sections(table, dynamic)
    table.imports = tuple(_imports(table, dynamic))
    _check_values(table, dynamic, memory)
    return table


def _fault(table: SymbolTable, dynamic: Dynamic, index: int, what: str, rule: str) -> FormatError:
    name = dynamic.name(table.columns.names[index])
    return FormatError(rule, f"symbol {name} {what}", at=table.at + _ENTRY * index)


def _check_info(table: SymbolTable, dynamic: Dynamic) -> None:
    info = table.columns.info
    for byte in set(info):
        binding, kind = byte >> 4, byte & 15
        if kind == STT_TLS:
            raise _fault(table, dynamic, info.index(byte), "is STT_TLS", "IMG-18")
        if kind == STT_GNU_IFUNC:
            raise _fault(table, dynamic, info.index(byte), "is STT_GNU_IFUNC", "IMG-35")
        if kind not in _TYPES:
            raise _fault(table, dynamic, info.index(byte), f"has type {kind}", "IMG-28")
        if binding not in _BINDINGS:
            raise _fault(table, dynamic, info.index(byte), f"has binding {binding}", "IMG-28")


def _check_sections(table: SymbolTable, dynamic: Dynamic) -> None:
    shndx = table.columns.shndx
    for section in set(shndx):
        if section >= SHN_LORESERVE and section != SHN_ABS:
            what = f"is in reserved section {section:#x}"
            raise _fault(table, dynamic, shndx.index(section), what, "IMG-28")
    table.absolute = tuple(_indices(shndx, SHN_ABS))


def _indices(shndx: list[int], section: int) -> list[int]:
    indices = []
    index = -1
    for _ in range(shndx.count(section)):
        index = shndx.index(section, index + 1)
        indices.append(index)
    return indices


def _imports(table: SymbolTable, dynamic: Dynamic) -> list[Import]:
    columns, strings = table.columns, dynamic.strings
    undefined = _indices(columns.shndx, SHN_UNDEF)[1:]
    if len(undefined) > MAX_IMPORTS:
        raise FormatError("IMG-28", "undefined symbols", got=len(undefined), limit=MAX_IMPORTS)
    imports = []
    for index in undefined:
        info = columns.info[index]
        name = dynamic.name(columns.names[index])
        if info >> 4 == STB_LOCAL:
            raise _fault(table, dynamic, index, "is undefined and local", "IMG-28")
        if info & 15 not in _IMPORT_TYPES:
            raise _fault(table, dynamic, index, f"is undefined, of type {info & 15}", "IMG-28")
        start = columns.names[index]
        if not name or strings.find(0, start, start + MAX_NAME + 1) < 0:
            what = f"is undefined and has no name, or one of more than {MAX_NAME} bytes"
            raise _fault(table, dynamic, index, what, "IMG-28")
        imports.append(Import(index, name, info >> 4 == STB_WEAK))
    return imports


def _check_values(table: SymbolTable, dynamic: Dynamic, memory: Memory) -> None:
    """Check that what is defined lies in the image, and its functions in code."""
    columns = table.columns
    code = [(s.vaddr, s.vaddr + s.filesz) for s in memory.segments if s.flags & PF_X]
    start, end = code[0]
    functions = _functions(table) or [start]
    if (
        (memory.lo and min(columns.values) < memory.lo)
        or _reach_past(columns, memory.hi)
        or min(functions) < start
        or max(functions) >= end
        or any(columns.info[index] & 15 == STT_FUNC for index in table.absolute)
    ):
        _find_misplaced(table, dynamic, memory)


def _functions(table: SymbolTable) -> list[int]:
    """Return the values of the functions that are defined."""
    marks = bytearray(table.columns.info.translate(_IS_FUNCTION))
    for symbol in table.imports:
        marks[symbol.index] = 0
    if 1 not in marks:
        return []
    return [value for value, mark in zip(table.columns.values, marks, strict=True) if mark]


def _reach_past(columns: Symbols, end: int) -> bool:
    """Say whether a symbol ends past *end*."""
    room = end - max(columns.values)  # for the last one to begin; only what is longer is looked at
    rows = zip(columns.values, columns.sizes, strict=True)
    return room < 0 or bool([0 for value, size in rows if size > room and value + size > end])


def _find_misplaced(table: SymbolTable, dynamic: Dynamic, memory: Memory) -> None:
    """Check one symbol after the other: one of them may be at fault, or undefined, or absolute."""
    columns = table.columns
    rows = zip(columns.shndx, columns.info, columns.values, columns.sizes, strict=True)
    for index, (section, info, value, size) in enumerate(rows):
        if section == SHN_UNDEF:
            continue
        if section != SHN_ABS and not memory.lo <= value <= value + size <= memory.hi:
            what = f"lies at {value:#x}, {size:#x} bytes, outside the image"
            raise _fault(table, dynamic, index, what, "IMG-28")
        if info & 15 == STT_FUNC and (section == SHN_ABS or not memory.is_code(value)):
            what = f"is a function at {value:#x}, which is no code"
            raise _fault(table, dynamic, index, what, "IMG-28")


def read_names(
    view: View, header: Header, table: SymbolTable, dynamic: Dynamic
) -> tuple[tuple[int, int], tuple[int, int]]:
    """
    Return where the names for addresses are: (file offset, entries) and (file offset, bytes) of
    their strings.

    They are those of ``.symtab`` where there is one with more than the empty symbol, else the
    dynamic ones.

    Raises:
        FormatError: IMG-6, IMG-40.
    """
    sections = _sections(view, header)
    for section in sections:
        if section[1] == SHT_SYMTAB:
            names, strings = _symtab(view, sections, section)
            if names[1] > 1:
                return names, strings
    count = len(table.columns.names)
    return (table.at, count), (dynamic.strings_at, len(dynamic.strings))


def _sections(view: View, header: Header) -> list[tuple[int, ...]]:
    if not header.shoff and not header.shnum:
        return []
    if header.shentsize != SECTION_SIZE:
        raise FormatError(
            "IMG-6", "section header size", got=header.shentsize, limit=SECTION_SIZE, at=58
        )
    if header.shnum == 0 or header.shoff < HEADER_SIZE:
        raise FormatError(
            "IMG-6", f"section header table of {header.shnum} entries", got=header.shoff, at=40
        )
    return read_sections(view, header, "IMG-6")


def _symtab(
    view: View, sections: list[tuple[int, ...]], section: tuple[int, ...]
) -> tuple[tuple[int, int], tuple[int, int]]:
    _name, _type, _flags, _addr, offset, size, link, _info, _align, entry_size = section
    if entry_size != _ENTRY or size % _ENTRY:
        what = f"SHT_SYMTAB of {size:#x} bytes, entries of {entry_size:#x}"
        raise FormatError("IMG-40", what, limit=_ENTRY, at=offset)
    if size // _ENTRY > MAX_TABLE:
        raise FormatError("IMG-40", "SHT_SYMTAB entries", got=size // _ENTRY, limit=MAX_TABLE)
    if offset > view.size or size > view.size - offset:
        raise FormatError(
            "IMG-40", "SHT_SYMTAB is past the end", got=offset + size, limit=view.size, at=offset
        )
    if link >= len(sections) or sections[link][1] != SHT_STRTAB:
        raise FormatError("IMG-40", "SHT_SYMTAB names no string table", got=link, at=offset)
    at, length = sections[link][4], sections[link][5]
    if length > MAX_NAMES:
        raise FormatError("IMG-40", "size of the string table", got=length, limit=MAX_NAMES, at=at)
    if at > view.size or length > view.size - at:
        raise FormatError(
            "IMG-40", "the string table is past the end", got=at + length, limit=view.size, at=at
        )
    return (offset, size // _ENTRY), (at, length)
