"""Stubs of the procedure linkage table: no symbol says whose they are, but their jump does.

A stub jumps to where a word of the global offset table says; the relocation of that word names the
function. What does not jump so is known by its place in the section alone.

Source: SYM-12; System V ABI, the processors' supplements, "Procedure Linkage Table".
"""

from __future__ import annotations

from _struct import unpack_from

from okld.base.errors import FormatError
from okld.base.limits import CHUNK, MAX_ALIAS, MAX_NAMES, MAX_PLT
from okld.elf.header import EM_AARCH64, EM_X86_64, ET_REL, SHT_NOBITS
from okld.elf.tables import SYMBOL_SIZE, column
from okld.syms.choose import STT_FUNC, Symbol
from okld.syms.elf_file import (
    ADDR,
    ENTSIZE,
    FLAGS,
    LINK,
    OFFSET,
    RULE,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SIZE,
    TYPE,
)
from okld.syms.strings import Strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Literal

    from okld.syms.elf_file import ElfFile

EM_386 = 3
SHT_RELA, SHT_REL = 4, 9
SECTIONS = (".plt", ".plt.sec", ".plt.got")

STUB = 16  # bytes of a stub where the section does not say, and is not one of short ones
SHORT_STUB = 8

Jump = tuple[int, int, int]
"""A stub: where it begins and ends in its section, and the address of the word it jumps through."""


class Stubs:
    """
    Stubs as the symbols of a table, with the methods of `Part`.

    Attributes:
        source: "", as no table of the file has them.
        values, sizes: Link addresses and bytes.
    """

    source = ""

    def __init__(self, stubs: list[tuple[int, int, str]]) -> None:
        """Take (link address, size, name) of each."""
        self.values = [value for value, _, _ in stubs]
        self.sizes = [size for _, size, _ in stubs]
        self.info = bytes([STT_FUNC]) * len(stubs)
        self._names = [name for _, _, name in stubs]

    def __len__(self) -> int:
        """Return their number."""
        return len(self.values)

    def size(self, index: int) -> int:
        """Return how many bytes the stub has."""
        return self.sizes[index]

    def answers(self, indices: Iterable[int]) -> list[int]:
        """Return *indices*: each can be an answer."""
        return list(indices)

    def all_answers(self) -> list[int]:
        """Return all indices."""
        return list(range(len(self)))

    def name(self, index: int) -> tuple[str, str]:
        """Return the name, as "puts@plt", and no version."""
        return self._names[index], ""

    def head(self, index: int) -> str:
        """Return the name."""
        return self._names[index]

    def short(self, index: int, limit: int) -> str | None:
        """Return the name, or None if it has over *limit* bytes."""
        name = self._names[index]
        return name if len(name) <= limit else None

    def symbol(self, index: int) -> Symbol:
        """Return the stub as a local function, in no section of a table."""
        return Symbol(
            index=index,
            name=self._names[index],
            value=self.values[index],
            size=self.sizes[index],
            info=self.info[index],
            section=0,
        )

    def limits(self, indices: list[int]) -> list[int]:
        """Return where stubs end."""
        return [self.values[index] + self.sizes[index] for index in indices]


def sections(elf: ElfFile) -> list[tuple[str, int]]:
    """Return names and indices of the sections of stubs whose bytes *elf* holds."""
    if elf.header.type == ET_REL:
        return []
    code = SHF_ALLOC | SHF_EXECINSTR
    found = [(name, elf.index(name)) for name in SECTIONS]
    return [
        (name, index)
        for name, index in found
        if index
        and elf.sections[index][FLAGS] & code == code
        and elf.sections[index][TYPE] != SHT_NOBITS
    ]


def read_stubs(elf: ElfFile) -> Stubs:
    """Return every stub of *elf*, and each section of them as one that lies around them."""
    around: list[tuple[int, int, str]] = []
    jumps: list[tuple[int, Jump]] = []
    for name, index in sections(elf):
        section = elf.sections[index]
        around.append((section[ADDR], section[SIZE], name))
        decode = _DECODERS.get(elf.header.machine)
        if decode:
            part = elf.raw(index)
            data = bytes(part.window(0, min(part.size, MAX_PLT), name, RULE))
            jumps += [(section[ADDR], jump) for jump in decode(elf, index, data)]
    names = _names_of(elf, {slot for _, (_, _, slot) in jumps})
    rows = [
        (address + start, end - start, f"{names[slot]}@plt")
        for address, (start, end, slot) in jumps
        if slot in names
    ]
    alone = {row[:2] for row in rows}  # a stub that is all there is of its section
    return Stubs(rows + [row for row in around if row[1] and row[:2] not in alone])


def _x86(elf: ElfFile, index: int, data: bytes) -> Iterator[Jump]:
    """Give the stubs that jump through memory: FF 25 (a word's place) or FF A3 (off %ebx)."""
    section = elf.sections[index]
    is_short = index == elf.index(".plt.got") and data[:2] in (b"\xff\x25", b"\xff\xa3")
    step = SHORT_STUB if is_short else STUB
    if section[ENTSIZE] in (SHORT_STUB, STUB, 2 * STUB):
        step = section[ENTSIZE]
    base = elf.index(".got.plt") or elf.index(".got")
    for start in range(0, len(data), step):
        stub = data[start : start + step]
        if stub[:2] in (b"\xff\x35", b"\xff\xb3"):  # the entry that pushes, and finds functions
            continue
        at = stub.find(b"\xff\x25")
        if at < 0:
            at = stub.find(b"\xff\xa3") if elf.header.machine == EM_386 else -1
        if not 0 <= at <= len(stub) - 6:
            continue
        slot: int = unpack_from("<i", stub, at + 2)[0]
        if stub[at + 1] == 0xA3:
            slot += elf.sections[base][ADDR]
        elif elf.header.machine == EM_X86_64:
            slot += section[ADDR] + start + at + 6
        yield start, start + len(stub), slot & (1 << elf.header.bits) - 1


def _aarch64(elf: ElfFile, index: int, data: bytes) -> Iterator[Jump]:
    """Give the stubs of `adrp x16, page; ldr x17, [x16, #place]` up to `br x17`."""
    address = elf.sections[index][ADDR]
    words = column(data[: len(data) // 4 * 4], "I", 0, 1)  # instructions, in either byte order
    for at in range(len(words) - 1):
        page, load = words[at], words[at + 1]
        if page & 0x9F00001F != 0x90000010 or load & 0xFFC003FF != 0xF9400211:
            continue
        if at and words[at - 1] == 0xA9BF7BF0:  # the entry that pushes, and finds functions
            continue
        start = at - 1 if at and words[at - 1] == 0xD503245F else at  # bti c
        end = at + 2
        while end < len(words) and end < at + 6 and words[end - 1] != 0xD61F0220:  # br x17
            end += 1
        pages = page >> 29 & 3 | page >> 3 & 0x1FFFFC
        pages -= (pages & 1 << 20) << 1
        slot = (address + 4 * at & ~0xFFF) + (pages << 12) + (load >> 10 & 0xFFF) * 8
        yield 4 * start, 4 * end, slot & (1 << 64) - 1


_DECODERS: dict[int, Callable[[ElfFile, int, bytes], Iterator[Jump]]] = {
    EM_X86_64: _x86,
    EM_386: _x86,
    EM_AARCH64: _aarch64,
}


def _names_of(elf: ElfFile, slots: set[int]) -> dict[int, str]:
    """Return the names of the symbols whose addresses the dynamic linker puts into *slots*."""
    tables = [
        (section[SIZE], index)
        for index, section in enumerate(elf.sections)
        if section[TYPE] in (SHT_RELA, SHT_REL) and section[FLAGS] & SHF_ALLOC
    ]
    names: dict[int, str] = {}
    for _, index in sorted(tables):  # that of the functions is small beside that of the data
        left = slots - names.keys()
        if not left:
            break
        try:
            names |= _names_in(elf, index, left)
        except (FormatError, IndexError):
            continue  # a table that is broken names nothing
    return names


def _names_in(elf: ElfFile, index: int, slots: set[int]) -> dict[int, str]:
    """Return what a table says of *slots*, from its end on: first come words without a symbol."""
    bits, order, section = elf.header.bits, elf.header.order, elf.sections[index]
    code: Literal["Q", "I"] = "Q" if bits == 64 else "I"
    words = 3 if section[TYPE] == SHT_RELA else 2
    entry = words * bits // 8
    part = elf.raw(index)
    symbols: dict[int, int] = {}
    end = min(part.size, MAX_NAMES) // entry
    while end and len(symbols) < len(slots):
        start = max(0, end - CHUNK)
        data = part.window(start * entry, (end - start) * entry, "relocations", RULE)
        offsets = column(data, code, 0, words, order)
        infos = column(data, code, 1, words, order)
        shift = 32 if bits == 64 else 8
        rows = zip(offsets, infos, strict=True)
        symbols.update((at, info >> shift) for at, info in rows if at in slots and info >> shift)
        end = start
    return _names_of_symbols(elf, section[LINK], symbols)


def _names_of_symbols(elf: ElfFile, index: int, symbols: dict[int, int]) -> dict[int, str]:
    """Return for each key the name of its symbol in the table at *index*, where it has one."""
    table, entry = elf.sections[index], SYMBOL_SIZE[elf.header.bits]
    strings = Strings(elf.raw(table[LINK]), versioned=False)
    names = {}
    for key, symbol in symbols.items():
        if symbol < table[SIZE] // entry:
            head = elf.view.window(table[OFFSET] + entry * symbol, 4, "symbol", RULE)
            name = strings.short(unpack_from(elf.header.order + "I", head)[0], MAX_ALIAS)
            if name:
                names[key] = name
    return names
