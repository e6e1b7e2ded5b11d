"""The tables of an ELF file, a column at a time: dynamic array, symbols, relocations.

A table of n entries becomes a list of n integers for each field that is asked for, which costs a
few nanoseconds an entry where a loop over entries costs hundreds. Symbols are read in both classes
and byte orders, the rest in ELF64, least significant byte first.

Source: System V gABI, chapters 4 and 5; for relocations the processors' supplements.
"""

from __future__ import annotations

import sys

STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_TLS = 0, 1, 2, 3, 4, 6
STT_GNU_IFUNC = 10
SHN_UNDEF, SHN_LORESERVE, SHN_ABS = 0, 0xFF00, 0xFFF1

DT_NULL, DT_NEEDED, DT_PLTRELSZ, DT_PLTGOT, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA = range(8)
DT_RELASZ, DT_RELAENT, DT_STRSZ, DT_SYMENT, DT_INIT, DT_FINI, DT_SONAME = range(8, 15)
DT_SYMBOLIC, DT_PLTREL, DT_DEBUG, DT_TEXTREL, DT_JMPREL, DT_BIND_NOW = 16, 20, 21, 22, 23, 24
DT_INIT_ARRAY, DT_FINI_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ, DT_FLAGS = 25, 26, 27, 28, 30
DT_RELRSZ, DT_RELR, DT_RELRENT = 35, 36, 37
DT_GNU_HASH, DT_RELACOUNT, DT_FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFF9, 0x6FFFFFFB
DT_AARCH64_BTI_PLT, DT_AARCH64_PAC_PLT, DT_AARCH64_VARIANT_PCS = 0x70000001, 0x70000003, 0x70000005
DT_RISCV_VARIANT_CC = 0x70000001
DF_SYMBOLIC, DF_TEXTREL, DF_BIND_NOW = 2, 4, 8
DF_1_NOW, DF_1_GLOBAL, DF_1_NODELETE, DF_1_PIE = 1, 2, 8, 0x08000000

DYN_SIZE, RELA_SIZE, RELR_SIZE, NOTE_SIZE = 16, 24, 8, 12
WORD_SIZE = 8  # bytes that a relocation of ELF64 writes
SYMBOL_SIZE = {32: 16, 64: 24}

NT_GNU_BUILD_ID = 3

WIDTHS = {"H": 2, "I": 4, "Q": 8}  # bytes of a word, by the name of its type
_HOST_ORDER = "<" if sys.byteorder == "little" else ">"


def column(
    data: bytes | memoryview, code: str, start: int, step: int, order: str = "<"
) -> list[int]:
    """
    Return every *step*-th word of *data* from word *start* on.

    *code* is the word's type as `struct` names it: H, I or Q.
    """
    if order == _HOST_ORDER:
        words: memoryview[int] = memoryview(data).cast("B").cast(code)  # type: ignore[call-overload]
        return words[start::step].tolist()
    import struct  # a fifth of the time of all else that a start imports, and no start needs it

    count = len(data) // WIDTHS[code]
    return list(struct.unpack(f"{order}{count}{code}", data)[start::step])


def rows(data: bytes | memoryview, layout: str, order: str) -> list[tuple[int, ...]]:
    """
    Return the entries of *data*, whole ones with words of the types of *layout*, each aligned.
    """
    size = sum(WIDTHS[code] for code in layout)
    columns, at = [], 0
    for code in layout:
        width = WIDTHS[code]
        columns.append(column(data, code, at // width, size // width, order))
        at += width
    return list(zip(*columns, strict=True))


def below(ordered: list[int], value: int) -> int:
    """Return how many of the ascending *ordered* are less than *value*, without an import."""
    low, high = 0, len(ordered)
    if high and ordered[-1] < value:
        return high
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


class Symbols:
    """
    A symbol table in columns, all of one length.

    Attributes:
        names: ``st_name``, offsets in the string table.
        info: ``st_info``, a byte each: binding in the upper half, type in the lower.
        shndx: ``st_shndx``.
        values: ``st_value``, a link address where the symbol is in a section.
        sizes: ``st_size``, in bytes.
    """

    __slots__ = ("info", "names", "shndx", "sizes", "values")

    def __init__(self, data: bytes | memoryview, bits: int = 64, order: str = "<") -> None:
        """Decode *data*, whole entries of an ELF file of *bits* (32 or 64) and byte *order*."""
        if bits == 64:
            self.names = column(data, "I", 0, 6, order)
            self.info = bytes(data)[4::24]
            self.shndx = column(data, "H", 3, 12, order)
            self.values = column(data, "Q", 1, 3, order)
            self.sizes = column(data, "Q", 2, 3, order)
        else:
            self.names = column(data, "I", 0, 4, order)
            self.info = bytes(data)[12::16]
            self.shndx = column(data, "H", 7, 8, order)
            self.values = column(data, "I", 1, 4, order)
            self.sizes = column(data, "I", 2, 4, order)


def dynamic_entries(data: bytes | memoryview) -> list[tuple[int, int]]:
    """Return the (``d_tag``, ``d_val``) pairs of *data*, those after a ``DT_NULL`` included."""
    return list(zip(column(data, "Q", 0, 2), column(data, "Q", 1, 2), strict=True))


class Relocations:
    """
    A table of relocations with addends in columns, all of one length.

    Attributes:
        offsets: ``r_offset``, a link address.
        addends: ``r_addend``; one below 0 is 2^64 greater.
    """

    __slots__ = ("_data", "addends", "offsets")

    def __init__(self, data: bytes | memoryview) -> None:
        """Decode *data*, whole ``Elf64_Rela`` entries."""
        self._data = bytes(data)
        self.offsets = column(data, "Q", 0, 3)
        self.addends = column(data, "Q", 2, 3)

    def have_info(self, info: int) -> bool:
        """Say whether ``r_info`` of every entry is *info*."""
        count = len(self.offsets)
        wanted = info.to_bytes(8, "little")
        return all(
            self._data[start::RELA_SIZE] == wanted[start - 8 : start - 7] * count
            for start in range(8, 16)
        )

    def types(self) -> list[int]:
        """Return the lower half of each ``r_info``."""
        return column(self._data, "I", 2, 6)

    def symbols(self) -> list[int]:
        """Return the upper half of each ``r_info``: an index in the symbol table, 0 for none."""
        return column(self._data, "I", 3, 6)
