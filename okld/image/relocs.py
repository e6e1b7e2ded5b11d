"""The relocation tables of an image: what each entry may write, and where; and the initialisers
they make.

Every check is of a whole column of up to CHUNK entries; only to name the entry at fault is one
looked for.
Source: SPEC IMG-18, IMG-25, IMG-31 to IMG-37.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import CHUNK, MAX_RELOCATIONS, MAX_SYMBOLS
from okld.base.view import View
from okld.elf.header import EM_AARCH64, EM_RISCV, EM_X86_64, PF_W
from okld.elf.tables import (
    DT_JMPREL,
    DT_PLTREL,
    DT_PLTRELSZ,
    DT_RELA,
    DT_RELACOUNT,
    DT_RELAENT,
    DT_RELASZ,
    DT_RELR,
    DT_RELRENT,
    DT_RELRSZ,
    RELA_SIZE,
    RELR_SIZE,
    WORD_SIZE,
    Relocations,
    below,
)
from okld.image.dynamic import Dynamic
from okld.image.segments import Memory, file_range
from okld.image.symbols import SymbolTable

_RELATIVE = {EM_X86_64: 8, EM_AARCH64: 1027, EM_RISCV: 3}
_SYMBOLIC = {EM_X86_64: {1, 6, 7}, EM_AARCH64: {257, 1025, 1026}, EM_RISCV: {2, 5}}
_ABSOLUTE = {EM_X86_64: 1, EM_AARCH64: 257, EM_RISCV: 2}
_THREAD_LOCAL = {
    EM_X86_64: {16, 17, 18, 36},
    EM_AARCH64: {1028, 1029, 1030, 1031},
    EM_RISCV: {6, 7, 8, 9, 10, 11, 12},
}
_COPY_OR_IRELATIVE = {EM_X86_64: {5, 37}, EM_AARCH64: {1024, 1032}, EM_RISCV: {4, 58}}


class Checked:
    """
    What the relocation tables ask for, checked as far as symbols are not concerned.

    Attributes:
        memory: The image's address space.
        rela, jmprel, relr: (link address, entries) of each table; (0, 0) where there is none.
        highest: The highest symbol index that an entry names.
        with_addend: Indices of symbols to which an entry adds something.
        slots: (symbol index or 0, addend) by place, for places that touch the watched ranges.
    """

    __slots__ = (
        "_machine",
        "_places",
        "_relative",
        "_view",
        "_watched",
        "highest",
        "jmprel",
        "memory",
        "rela",
        "relr",
        "slots",
        "with_addend",
    )

    def __init__(
        self,
        view: View,
        dynamic: Dynamic,
        memory: Memory,
        machine: int,
        watched: list[tuple[int, int]],
    ) -> None:
        """
        Read every table that *dynamic* names; *watched* are aligned (start, end) link addresses.

        Raises:
            FormatError: IMG-18, IMG-25, IMG-31 to IMG-35.
        """
        self._view = view
        self.memory = memory
        self._machine = machine
        self._relative = _RELATIVE[machine]
        self._watched = watched
        self.highest = 0
        self.with_addend: set[int] = set()
        self.slots: dict[int, tuple[int, int]] = {}
        tags = dynamic.tags
        if tags.get(DT_PLTREL, DT_RELA) != DT_RELA:
            raise FormatError("IMG-31", "DT_PLTREL is not DT_RELA", got=tags[DT_PLTREL])
        self.rela = _table(tags, DT_RELA, DT_RELASZ, DT_RELAENT, RELA_SIZE, "DT_RELA")
        self.jmprel = _table(tags, DT_JMPREL, DT_PLTRELSZ, DT_PLTREL, RELA_SIZE, "DT_JMPREL")
        self.relr = _table(tags, DT_RELR, DT_RELRSZ, DT_RELRENT, RELR_SIZE, "DT_RELR")
        tables = (self.rela, RELA_SIZE), (self.jmprel, RELA_SIZE), (self.relr, RELR_SIZE)
        # What is applied is what was checked: no entry changes another.
        kept = [(address, address + size * count) for (address, count), size in tables]
        self._places = _places(memory, [(dynamic.start, dynamic.end), *kept])
        relative = tags.get(DT_RELACOUNT, 0)
        if relative > self.rela[1]:
            raise FormatError("IMG-31", "DT_RELACOUNT", got=relative, limit=self.rela[1])
        if self.relr[1]:
            from okld.image.relr import read_relr  # most images have none

            read_relr(self, view, memory, *self.relr)
        self._read_rela(*self.rela, relative, "DT_RELA")
        self._read_rela(*self.jmprel, 0, "DT_JMPREL")

    def _read_rela(self, address: int, count: int, relative: int, what: str) -> None:
        """Check *count* entries, of which the first *relative* must be relative ones."""
        if not count:
            return
        table = file_range(self.memory, address, RELA_SIZE * count, what, "IMG-31")
        for start in range(0, count, CHUNK):
            at = table + RELA_SIZE * start
            size = RELA_SIZE * min(CHUNK, count - start)
            entries = Relocations(self._view.window(at, size, what, "IMG-31"))
            all_relative = entries.have_info(self._relative)
            if all_relative:
                self.check_addends(entries.addends, "IMG-33")
            else:
                self._check_entries(entries, max(relative - start, 0), at)
            # Linkers sort relative entries by place, and the others by symbol.
            self.check_places(entries.offsets, at, RELA_SIZE, in_order=all_relative)
            if self.touches(entries.offsets):
                for row in zip(entries.offsets, entries.symbols(), entries.addends, strict=True):
                    self.watch(*row)

    def _check_entries(self, entries: Relocations, promised: int, at: int) -> None:
        """
        Check types, symbols and addends of a part of a table.

        The first *promised* are to be relative; *at* is where they lie in the file.
        """
        relative, types, symbols = self._relative, entries.types(), entries.symbols()
        count = types.count(relative)
        if types[:promised].count(relative) != len(types[:promised]):
            raise FormatError("IMG-31", "DT_RELACOUNT counts an entry not relative", at=at)
        if types[:count].count(relative) == count:  # the relative ones first, as linkers sort them
            self.check_addends(entries.addends[:count], "IMG-33")
            unnamed = symbols[:count].count(0)
            types, symbols, addends = types[count:], symbols[count:], entries.addends[count:]
        else:
            rows = list(zip(types, symbols, entries.addends, strict=True))
            self.check_addends([a for t, _, a in rows if t == relative], "IMG-33")
            unnamed = sum(t == relative and s == 0 for t, s, _ in rows)
            rest = [row for row in rows if row[0] != relative]
            types, symbols, addends = ([row[i] for row in rest] for i in range(3))
        if (
            unnamed != count
            or not _SYMBOLIC[self._machine].issuperset(types)
            or 0 in symbols
            or max(symbols) >= MAX_SYMBOLS
        ):
            raise self._refused(entries, at)
        self.highest = max(self.highest, max(symbols))
        if any(addends):
            self._check_added(types, addends, entries, at)
            self.with_addend |= {s for s, a in zip(symbols, addends, strict=True) if a}

    def _check_added(
        self, types: list[int], addends: list[int], entries: Relocations, at: int
    ) -> None:
        absolute = _ABSOLUTE[self._machine]
        for kind, addend in zip(types, addends, strict=True):
            if addend and kind != absolute:
                from okld.elf.names import RELOCATIONS, named

                rows = zip(entries.types(), entries.addends, strict=True)
                at += RELA_SIZE * list(rows).index((kind, addend))
                name = named(RELOCATIONS[self._machine], kind)
                raise FormatError("IMG-32", f"relocation {name} has an addend", got=addend, at=at)

    def _refused(self, entries: Relocations, at: int) -> FormatError:
        from okld.elf.names import RELOCATIONS, named

        machine = self._machine
        index, kind, symbol = next(
            (index, kind, symbol)
            for index, (kind, symbol) in enumerate(
                zip(entries.types(), entries.symbols(), strict=True)
            )
            if (symbol if kind == self._relative else not 0 < symbol < MAX_SYMBOLS)
            or (kind != self._relative and kind not in _SYMBOLIC[machine])
        )
        at += RELA_SIZE * index
        name = named(RELOCATIONS[machine], kind)
        if kind in _THREAD_LOCAL[machine]:
            return FormatError("IMG-18", f"relocation {name} is thread-local", at=at)
        if kind in _COPY_OR_IRELATIVE[machine]:
            return FormatError("IMG-35", f"relocation {name} is not allowed", at=at)
        if kind == self._relative:
            return FormatError("IMG-33", f"relocation {name} names a symbol", got=symbol, at=at)
        if kind not in _SYMBOLIC[machine]:
            return FormatError("IMG-32", f"relocation {name} is not allowed", at=at)
        if symbol == 0:
            return FormatError("IMG-32", f"relocation {name} names no symbol", at=at)
        return FormatError(
            "IMG-32", f"relocation {name} symbol", got=symbol, limit=MAX_SYMBOLS, at=at
        )

    def check_addends(self, addends: list[int], rule: str) -> None:
        """Check that each of *addends* is a link address of the image or one past its end."""
        if not addends:
            return
        lo, hi = self.memory.lo, self.memory.hi
        worst = max(addends)
        if lo and worst <= hi:
            worst = min(addends)
        if not lo <= worst <= hi:
            raise FormatError(rule, "a relative addend is outside the image", got=worst, limit=hi)

    def check_places(self, places: list[int], at: int, size: int, *, in_order: bool) -> None:
        """
        Check that each word of *places*, which are not none, may be written.

        What names the first place lies at *at* in the file, the next *size* bytes further. Sorting
        is cheap where places are *in_order* already, and dear where they are not.
        """
        ordered = sorted(places) if in_order else places
        least, most = (ordered[0], ordered[-1]) if in_order else (min(places), max(places))
        if any(first <= least and most <= last for first, last in self._places):
            return
        ordered = sorted(places)
        inside = 0
        for first, last in self._places:
            inside += below(ordered, last + 1) - below(ordered, first)
        if inside < len(places):
            for index, place in enumerate(places):
                if not any(first <= place <= last for first, last in self._places):
                    raise self._misplaced(place, at + size * index)

    def _misplaced(self, place: int, at: int) -> FormatError:
        for segment in self.memory.segments:
            if 0 <= place - segment.vaddr < segment.memsz and not segment.flags & PF_W:
                what = "a relocation is in a segment that is not writable"
                return FormatError("IMG-25", what, got=place, at=at)
        what = "a relocation is outside every writable segment, or in PT_DYNAMIC or a table"
        return FormatError("IMG-32", what, got=place, at=at)

    def touches(self, places: list[int]) -> bool:
        """Say whether a word between the least and the greatest of *places* may be watched."""
        if not self._watched:
            return False
        least, most = min(places), max(places)
        return any(most > start - WORD_SIZE and least < end for start, end in self._watched)

    def watch(self, place: int, symbol: int, addend: int) -> None:
        """Keep what the word at *place* becomes, if it is in a watched range."""
        for start, end in self._watched:
            if start - WORD_SIZE < place < end:
                if (place - start) % WORD_SIZE or place in self.slots:
                    what = "an initialiser is relocated in part, or twice"
                    raise FormatError("IMG-36", what, got=place)
                self.slots[place] = symbol, addend


def _table(
    tags: dict[int, int], address: int, size: int, entry: int, entry_size: int, what: str
) -> tuple[int, int]:
    """
    Return the (link address, entries) of a table, or (0, 0) if there is none or it is empty.

    *address*, *size* and *entry* are the tags that tell where it is, its bytes and an entry's.
    """
    if address not in tags and size not in tags:
        return 0, 0
    if address not in tags or size not in tags or entry not in tags:
        raise FormatError("IMG-31", f"{what} lacks its address, size or entry size")
    if entry != DT_PLTREL and tags[entry] != entry_size:
        raise FormatError("IMG-31", f"{what} entry size", got=tags[entry], limit=entry_size)
    count, rest = divmod(tags[size], entry_size)
    if rest:
        raise FormatError("IMG-31", f"{what} size", got=tags[size], limit=entry_size)
    if count > MAX_RELOCATIONS:
        raise FormatError("IMG-31", f"{what} entries", got=count, limit=MAX_RELOCATIONS)
    return (tags[address], count) if count else (0, 0)


def _places(memory: Memory, kept: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the (first, last) addresses of words that may be written: none in *kept* ranges."""
    ranges = list(memory.writable())
    for low, high in kept:
        ranges = [
            part
            for start, end in ranges
            for part in ((start, min(end, low)), (max(start, high), end))
            if part[1] - part[0] >= WORD_SIZE
        ]
    return [(start, end - WORD_SIZE) for start, end in ranges]


def check_imports(checked: Checked, table: SymbolTable) -> None:
    """
    Check that no relocation adds to the address of an import.

    Raises:
        FormatError: IMG-32.
    """
    for symbol in table.imports:
        if symbol.index in checked.with_addend:
            raise FormatError("IMG-32", f"a relocation adds to the import {symbol.name}")
