"""Symbol tables: `symbols(path)` reads one, and looks addresses up in it.

Nothing that a file says of its sizes is believed: a name outside the string table is "<corrupt>",
and a table outside the file is not there.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial

from okld.base.errors import FormatError
from okld.base.limits import MAX_ALIAS, MAX_ALIASES, MAX_NAMES
from okld.elf.header import ET_REL, PT_LOAD, read_header
from okld.elf.tables import SHN_LORESERVE, STT_FUNC, SYMBOL_SIZE, column
from okld.elf.tables import Symbols as Columns
from okld.image.open import open_file
from okld.image.shape import read_shape
from okld.syms import locate
from okld.syms.answer import Found, Miss
from okld.syms.choose import SHN_XINDEX, TYPES, Symbol, choose, is_placed
from okld.syms.spans import Spans
from okld.syms.strings import Strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from okld.base.view import View
    from okld.image.shape import Shape

EM_ARM = 40

NO_TABLE = "no symbol table"
RELOCATABLE = "a relocatable file has no addresses"
OUTSIDE = "outside every segment"
BETWEEN = "between symbols"


def symbols(path: str | bytes | os.PathLike[str]) -> Symbols:
    """
    Read the symbol table of the ELF file at *path*.

    Raises:
        FormatError: If it is no ELF file, or has more symbols than can be read (SYM-1). A file
            without is no error.
        Unreadable: If it cannot be opened or read.
    """
    with open_file(path) as file:
        return Symbols(file.view)


class Symbols:
    """
    The symbols of one file; iterating gives every entry but the first, in the table's order.

    Attributes:
        source: Where they come from, as in `Place`.
        damage: What is broken in the file and was got around, or "".
    """

    def __init__(self, view: View) -> None:
        """
        Read the table of the ELF file in *view*, which is not needed any more afterwards.

        Raises:
            FormatError: If it is no ELF file, or has more symbols than can be read (SYM-1).
        """
        self._header = header = read_header(view, locate.RULE)
        segments = locate.segments_of(view, header)
        self._loads = [(s[3], s[3] + s[6]) for s in segments if s[0] == PT_LOAD]
        self._sections = locate.sections_of(view, header)
        lost = (header.shoff or header.shnum) and not self._sections
        self.damage = "the section headers are not in the file" if lost else ""
        shape = _shape(view)
        self._by_segment = not self._sections or shape is not None
        place = locate.find(view, header, segments, self._sections, shape)
        self.source = place.name
        size = place.count * SYMBOL_SIZE[header.bits]
        table = view.window(place.offset, size, "symbol table", locate.RULE)
        self._columns = Columns(table, header.bits, header.order)
        self._strings = Strings(_rest(view, *place.strings), versioned=place.name == ".symtab")
        self._extended = _rest(view, *place.extended)
        self._spans: Spans | None = None
        self._chosen: dict[tuple[int, ...], list[int]] = {}
        self._reaches: dict[int, list[int]] = {}
        if header.machine == EM_ARM:
            self._clear_thumb_bits()

    def __iter__(self) -> Iterator[Symbol]:
        """
        Give every entry but the first, which is empty by definition.

        Raises:
            FormatError: Once their names, which can overlap, are more than MAX_NAMES bytes (SYM-1).
        """
        room = MAX_NAMES
        for index in range(1, len(self)):
            symbol = self.symbol(index)
            room -= len(symbol.name)
            if room < 0:
                raise FormatError(locate.RULE, "bytes of all names together", limit=MAX_NAMES)
            yield symbol

    def __len__(self) -> int:
        """Return the number of entries, the first, empty one included."""
        return len(self._columns.values)

    def symbol(self, index: int) -> Symbol:
        """Return the entry at *index*."""
        name, version = self._strings.name(self._columns.names[index])
        return self._symbol(index, name, version)

    def _symbol(self, index: int, name: str, version: str = "") -> Symbol:
        columns = self._columns
        return Symbol(
            index=index,
            name=name,
            version=version,
            value=columns.values[index],
            size=columns.sizes[index],
            info=columns.info[index],
            section=columns.shndx[index],
        )

    def lookup(self, address: int) -> Found | Miss:
        """
        Return the symbol that a link *address* belongs to, or why there is none, by passing over
        the table once.

        Source: SYM-2 to SYM-6.
        """
        reason = self._why_none(address)
        if reason:
            return Miss(reason)
        values, sizes = self._columns.values, self._columns.sizes
        holders = self._answers(
            [
                index
                for index, (value, size) in enumerate(zip(values, sizes, strict=True))
                if value <= address < value + size
            ]
        )
        if holders:
            inner = min(holders, key=lambda index: (-values[index], sizes[index]))
            value, size = values[inner], sizes[inner]
            rivals = [i for i in holders if values[i] == value and sizes[i] == size]
            return self._found(address, self._choose(address, (value, size), lambda: rivals))
        # The nearest below takes a second pass, over those that can be an answer.
        below = [index for index in self._answers(range(len(self))) if values[index] <= address]
        last = max((values[index] for index in below), default=-1)
        unsized = [index for index in below if values[index] == last and not sizes[index]]
        around = [index for index in below if values[index] + sizes[index] > last]
        near = unsized + around[:1]
        return self._found(address, self._choose_unsized(address, last, lambda: near))

    def lookup_many(self, addresses: Iterable[int]) -> Iterator[Found | Miss]:
        """
        Give for each of *addresses* what `lookup` gives, from a table that is sorted first.

        Source: SYM-2 to SYM-6.
        """
        values, sizes = self._columns.values, self._columns.sizes
        if self._spans is None:
            self._spans = Spans(self._answers(range(len(self))), values, sizes)
        spans = self._spans
        for address in addresses:
            reason = self._why_none(address)
            if reason:
                yield Miss(reason)
                continue
            owner = spans.owner(address)
            if owner >= 0:
                key = values[owner], sizes[owner]
                equals = self._choose(address, key, partial(spans.equals, *key))
            else:
                last = spans.last(address)
                equals = self._choose_unsized(address, last, partial(spans.unsized, last))
            yield self._found(address, equals)

    def _why_none(self, address: int) -> str:
        if len(self) < 2:
            return NO_TABLE
        if self._header.type == ET_REL:
            return RELOCATABLE
        for start, end in self._loads:
            if start <= address < end:
                return ""
        return OUTSIDE if self._loads else ""

    def _answers(self, indices: Iterable[int]) -> list[int]:
        """Return those of *indices* whose symbols can be an answer. Source: SYM-2."""
        info, sections, names = self._columns.info, self._columns.shndx, self._columns.names
        types = bytes(kind in TYPES for kind in range(16)) * 16
        return [
            index
            for index in indices
            if types[info[index]]
            and names[index]
            and is_placed(sections[index])
            and self._strings.is_answer(names[index])
        ]

    def _choose(
        self, address: int, key: tuple[int, ...], members: Callable[[], list[int]]
    ) -> list[int]:
        """
        Return the answer among *members* and its first equals, the same for all addresses of *key*.
        """
        chosen = self._chosen.get(key)
        if chosen is None:
            # The head of a name decides: whole ones may be a million long ones.
            names = self._columns.names
            heads = [self._symbol(i, self._strings.head(names[i])) for i in members()]
            equals = choose(address, heads, self._limit)
            chosen = self._chosen[key] = [symbol.index for symbol in equals[: 1 + MAX_ALIASES]]
        return chosen

    def _choose_unsized(
        self, address: int, value: int, members: Callable[[], list[int]]
    ) -> list[int]:
        """Return the answer among *members*, of size 0 at *value*, and one that holds *value*."""
        reaches = self._reaches.get(value)
        if reaches is None:
            reaches = self._reaches[value] = sorted({self._limit_of(index) for index in members()})
        return self._choose(address, (value, 0, bisect_right(reaches, address)), members)

    def _found(self, address: int, equals: list[int]) -> Found | Miss:
        if not equals:
            return Miss(BETWEEN)
        first = self.symbol(equals[0])
        if self._header.machine == EM_ARM and first.type == STT_FUNC:
            address &= ~1
        names = (self._strings.short(self._columns.names[i], MAX_ALIAS) for i in equals[1:])
        return Found(first, address - first.value, tuple(name for name in names if name))

    def _limit(self, symbol: Symbol) -> int:
        return self._limit_of(symbol.index)

    def _limit_of(self, index: int) -> int:
        """Return the link address up to which a symbol of size 0 may reach. Source: SYM-4."""
        value = self._columns.values[index]
        if self.source != ".symtab":
            return value + 1
        if self._by_segment:
            ends = [end for start, end in self._loads if start <= value < end]
            return ends[0] if ends else value
        section = self._section(index)
        if section >= len(self._sections):
            return value
        return self._sections[section][3] + self._sections[section][5]

    def _section(self, index: int) -> int:
        """Return the index of the section that a symbol is defined in."""
        section = self._columns.shndx[index]
        if section < SHN_LORESERVE:
            return section
        word = self._extended[4 * index : 4 * index + 4]
        if section != SHN_XINDEX or len(word) < 4:
            return len(self._sections)
        return column(word, "I", 0, 1, self._header.order)[0]

    def _clear_thumb_bits(self) -> None:
        columns = self._columns
        columns.values = [
            value & ~1 if info & 15 == STT_FUNC else value
            for value, info in zip(columns.values, columns.info, strict=True)
        ]


def _rest(view: View, offset: int, size: int) -> bytes:
    """Return the *size* bytes at *offset*, those of the first MAX_NAMES that are in the file."""
    size = max(0, min(size, view.size - offset, MAX_NAMES))
    return bytes(view.window(min(offset, view.size), size, "string table", locate.RULE))


def _shape(view: View) -> Shape | None:
    """Return the shape of an ok image, or None for any other file."""
    try:
        return read_shape(view)
    except FormatError:
        return None
