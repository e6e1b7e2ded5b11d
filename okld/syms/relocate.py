"""
Debug sections of relocatable files, with their relocations applied to the window that is read.

Only what a link editor does to debug information is known here: absolute words of code and data,
and, where a processor's linker shortens code, differences of two of them. The entries of a table
ascend by `r_offset`, so that those of a window are found without reading the others: a kernel
module has six million.

Source: DBG-4; the processors' supplements to the gABI.
"""

from __future__ import annotations

from _bisect import bisect_left
from _struct import Struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_UNORDERED
from okld.elf.header import SHT_SYMTAB_SHNDX
from okld.elf.tables import SHN_ABS, SHN_LORESERVE
from okld.syms.elf_file import INFO, LINK, TYPE
from okld.syms.layout import NOWHERE, section_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View
    from okld.syms.elf_file import ElfFile
    from okld.syms.inflate import Inflated

RULE = "DBG-4"
SHT_RELA, SHT_REL, SHT_CREL = 4, 9, 0x40000014
SHN_XINDEX = 0xFFFF
EM_MIPS, EM_ARM = 8, 40

CHUNK = 4096  # entries that are read at a time
WIDEST = 10  # bytes of the longest field
KEPT = 16  # chunks that are held

NOTHING, SET, ADD, SUB, SET_ULEB, SUB_ULEB = range(6)
_WORD, _DOUBLE = (SET, 4), (SET, 8)
_RISCV = {1: _WORD, 2: _DOUBLE, 60: (SET_ULEB, 0), 61: (SUB_ULEB, 0)}
_RISCV |= {33: (ADD, 1), 34: (ADD, 2), 35: (ADD, 4), 36: (ADD, 8)}
_RISCV |= {37: (SUB, 1), 38: (SUB, 2), 39: (SUB, 4), 40: (SUB, 8)}
KINDS: dict[int, dict[int, tuple[int, int]]] = {
    3: {1: _WORD},  # R_386_32
    EM_MIPS: {2: _WORD, 18: _DOUBLE},  # R_MIPS_32, _64
    20: {1: _WORD, 24: _WORD},  # R_PPC_ADDR32, _UADDR32
    21: {1: _WORD, 24: _WORD, 38: _DOUBLE, 43: _DOUBLE},  # the same and _ADDR64, _UADDR64
    22: {4: _WORD, 22: _DOUBLE},  # R_390_32, _64
    EM_ARM: {2: _WORD},  # R_ARM_ABS32
    62: {1: _DOUBLE, 10: _WORD, 11: _WORD},  # R_X86_64_64, _32, _32S
    183: {257: _DOUBLE, 258: _WORD, 256: (NOTHING, 0)},  # R_AARCH64_ABS64, _ABS32, an old _NONE
    243: _RISCV,
}
"""By machine and type: what becomes of the field, and its bytes."""

TLS = {
    3: (32,),
    EM_MIPS: (39, 41),
    20: (78,),
    21: (78,),
    22: (52, 53),
    EM_ARM: (106,),
    62: (17, 21),
    183: (1029,),
    243: (8, 9),
}
"""By machine: offsets of thread-local variables, which no address of code depends on."""


def relocated(source: View | Inflated, elf: ElfFile, index: int) -> View | Inflated | Relocated:
    """
    Return the contents of section *index* of a relocatable file as a link editor would make them,
    from *source*, its bytes.

    Raises:
        FormatError: If its relocations are of a form or for a machine that is not known (DBG-4).
    """
    for number, section in enumerate(elf.sections):
        if section[TYPE] in (SHT_RELA, SHT_REL, SHT_CREL) and section[INFO] == index:
            if section[TYPE] == SHT_CREL or elf.header.machine not in KINDS:
                raise FormatError(
                    RULE, "unknown relocations of debug information", got=elf.header.machine
                )
            return Relocated(source, elf, number)
    return source


class Relocated:
    """
    The contents of a section with relocations.

    Attributes:
        size: How many bytes there are.
    """

    __slots__ = ("_entries", "_kinds", "_order", "_source", "_symbols", "_with_addend", "size")

    def __init__(self, source: View | Inflated, elf: ElfFile, table: int) -> None:
        """Apply the relocations of section *table* to *source*."""
        self.size = source.size
        self._source = source
        self._order: str = "little" if elf.header.order == "<" else "big"
        self._with_addend = elf.sections[table][TYPE] == SHT_RELA
        self._entries = _Entries(elf, table)
        self._symbols = _Addresses(elf, elf.sections[table][LINK])
        machine = elf.header.machine
        self._kinds = KINDS[machine] | dict.fromkeys((0, *TLS[machine]), (NOTHING, 0))

    def window(self, offset: int, size: int, what: str, rule: str) -> memoryview | bytes:
        """
        Return the *size* bytes at *offset*.

        Raises:
            FormatError: With *rule*, if any of them lies outside; if a relocation of them is
                unknown, or names a symbol that is not there (DBG-4).
            Unreadable: If the system refuses to read the file.
        """
        start = max(0, offset - WIDEST)
        found = self._entries.between(start, offset + size)
        plain = self._source.window(offset, size, what, rule)
        if not found:
            return plain
        # A field may lie across either end of the window.
        end = min(self.size, offset + size + WIDEST)
        data = bytearray(self._source.window(start, end - start, what, rule))
        for at, symbol, kind, addend in found:
            self._apply(data, at - start, symbol, kind, addend)
        return memoryview(data)[offset - start : offset - start + size]

    def _apply(self, data: bytearray, at: int, symbol: int, kind: int, addend: int) -> None:
        try:
            action, width = self._kinds[kind]
        except KeyError:
            raise FormatError(RULE, "unknown relocation of debug information", got=kind) from None
        if action == NOTHING:
            return
        value = self._symbols.of(symbol) + addend
        if action in (SET_ULEB, SUB_ULEB):
            _apply_uleb(data, at, value, subtract=action == SUB_ULEB)
            return
        order = self._order
        old = int.from_bytes(data[at : at + width], order)  # type: ignore[arg-type]
        if action == SET:
            new = value if self._with_addend else old + value
        elif action == ADD:
            new = old + value
        else:
            new = old - value
        new &= (1 << 8 * width) - 1
        data[at : at + width] = new.to_bytes(width, order)  # type: ignore[arg-type]


def _apply_uleb(data: bytearray, at: int, value: int, *, subtract: bool) -> None:
    """Change the ULEB128 number at *at*, which keeps its length."""
    last = at
    while last + 1 < len(data) and data[last] & 0x80 and last - at < WIDEST - 1:
        last += 1
    if subtract:
        old = sum((data[i] & 0x7F) << 7 * (i - at) for i in range(at, last + 1))
        value = old - value
    for i in range(at, last + 1):
        data[i] = (value >> 7 * (i - at)) & 0x7F | (0x80 if i < last else 0)


class _Entries:
    """The entries of a relocation table; each as (r_offset, symbol, type, addend)."""

    __slots__ = ("_chunks", "_count", "_entry", "_mips", "_ordered", "_split", "_starts", "_view")

    def __init__(self, elf: ElfFile, table: int) -> None:
        addend = elf.sections[table][TYPE] == SHT_RELA
        wide = elf.header.bits == 64
        self._entry = Struct(elf.header.order + ("QQq" if wide else "IIi")[: 2 + addend])
        # MIPS has 64-bit fields of its own: a symbol of 32 bits, then four bytes, the type last.
        self._mips = elf.header.machine == EM_MIPS and wide
        self._split = 8 if not wide else 32
        little = elf.header.order == "<"
        if self._mips and little:
            self._split = 0
        self._view = elf.raw(table)
        self._count = self._view.size // self._entry.size
        self._chunks: dict[int, list[tuple[int, ...]]] = {}
        self._ordered: list[tuple[int, ...]] | None = None
        self._starts = [self._read(i, 1)[0][0] for i in range(0, self._count, CHUNK)]
        if self._starts != sorted(self._starts):
            self._sort()

    def between(self, start: int, end: int) -> list[tuple[int, int, int, int]]:
        """Return those with *start* <= `r_offset` < *end*, ascending."""
        if self._ordered is None:
            first = max(0, bisect_left(self._starts, start) - 1)
            # One more than needed, which would show an order that is broken where two meet.
            last = min(bisect_left(self._starts, end) + 1, len(self._starts))
            entries = [entry for i in range(first, last) for entry in self._chunk(i)]
        if self._ordered is not None:  # by now: a chunk may have turned out not to be
            entries = self._ordered
        low = bisect_left(entries, start, key=lambda entry: entry[0])
        high = bisect_left(entries, end, key=lambda entry: entry[0])
        return [self._decoded(entry) for entry in entries[low:high]]

    def _chunk(self, number: int) -> list[tuple[int, ...]]:
        entries = self._chunks.get(number)
        if entries is None:
            if len(self._chunks) >= KEPT:
                del self._chunks[next(iter(self._chunks))]
            first = number * CHUNK
            entries = self._read(first, min(CHUNK, self._count - first))
            offsets = [entry[0] for entry in entries]
            after = self._starts[number + 1 : number + 2]
            if offsets + after != sorted(offsets + after):
                self._sort()
            self._chunks[number] = entries
        return entries

    def _read(self, first: int, count: int) -> list[tuple[int, ...]]:
        size = self._entry.size
        data = self._view.window(first * size, count * size, "relocations", RULE)
        return list(self._entry.iter_unpack(data))

    def _sort(self) -> None:
        """Read and order all of a table that does not ascend. Its order stays, at one place."""
        if self._count > MAX_UNORDERED:
            raise FormatError(RULE, "relocations in no order", got=self._count, limit=MAX_UNORDERED)
        self._ordered = sorted(self._read(0, self._count), key=lambda entry: entry[0])

    def _decoded(self, entry: tuple[int, ...]) -> tuple[int, int, int, int]:
        offset, info = entry[0], entry[1]
        addend = entry[2] if len(entry) > 2 else 0
        if self._mips:
            if self._split:
                return offset, info >> 32, info & 0xFF, addend
            return offset, info & 0xFFFFFFFF, info >> 56, addend
        return offset, info >> self._split, info & ((1 << self._split) - 1), addend


class _Addresses:
    """The link addresses of a symbol table's symbols, by the layout of a relocatable file."""

    __slots__ = ("_bases", "_elf", "_entry", "_extended", "_known", "_table")

    def __init__(self, elf: ElfFile, table: int) -> None:
        if not 0 < table < len(elf.sections):
            raise FormatError(RULE, "relocations without a symbol table", got=table)
        self._elf = elf
        self._table = elf.raw(table)
        self._entry = Struct(elf.header.order + ("IBBHQQ" if elf.header.bits == 64 else "IIIBBH"))
        self._bases = [0 if at == NOWHERE else at for at in section_addresses(elf)]
        self._known = {0: 0}
        self._extended: View | None = None
        for index, section in enumerate(elf.sections):
            if section[TYPE] == SHT_SYMTAB_SHNDX and section[LINK] == table:
                self._extended = elf.raw(index)

    def of(self, symbol: int) -> int:
        """
        Return the address of a symbol; 0 for one that is not defined here.

        Raises:
            FormatError: If there is no such symbol (DBG-4).
        """
        address = self._known.get(symbol)
        if address is None:
            address = self._known[symbol] = self._read(symbol)
        return address

    def _read(self, symbol: int) -> int:
        size = self._entry.size
        data = self._table.window(symbol * size, size, "symbol of a relocation", RULE)
        fields: tuple[int, ...] = self._entry.unpack(data)
        if self._elf.header.bits == 64:
            _, _, _, section, value, _ = fields
        else:
            _, value, _, _, _, section = fields
        if section == SHN_XINDEX and self._extended is not None:
            word = bytes(self._extended.window(4 * symbol, 4, "section of a symbol", RULE))
            section = int.from_bytes(word, "little" if self._elf.header.order == "<" else "big")
        elif section == SHN_ABS:
            return value
        elif section >= SHN_LORESERVE:
            return 0
        if not 0 < section < len(self._bases):
            return 0
        return value + self._bases[section]
