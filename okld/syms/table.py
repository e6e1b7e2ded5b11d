"""Symbol tables: `symbols(path)` reads one, and looks addresses up in it.

Nothing that a file says of its sizes is believed: a name outside the string table is "<corrupt>",
and a table outside the file is not there.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.elf.header import ET_REL, PT_LOAD, read_header
from okld.elf.tables import (
    SHN_LORESERVE,
    STT_FUNC,
    STT_GNU_IFUNC,
    STT_NOTYPE,
    STT_OBJECT,
    SYMBOL_SIZE,
    column,
)
from okld.elf.tables import Symbols as Columns
from okld.image.open import open_file
from okld.image.shape import read_shape
from okld.syms import locate
from okld.syms.choose import SHN_XINDEX, TYPES, Symbol, choose, is_mapping, is_placed
from okld.syms.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from okld.base.view import View
    from okld.image.shape import Shape

EM_ARM = 40
CORRUPT = "<corrupt>"
KINDS = {STT_FUNC: "function", STT_GNU_IFUNC: "ifunc", STT_OBJECT: "object", STT_NOTYPE: "label"}

NO_TABLE = "no symbol table"
RELOCATABLE = "a relocatable file has no addresses"
OUTSIDE = "outside every segment"
BETWEEN = "between symbols"


class Found:
    """
    The symbol that an address belongs to.

    Attributes:
        name: Its name, without a version.
        offset: Bytes from its first byte to the address.
        value: Its link address.
        size: In bytes; 0: the table does not say.
        kind: "function", "ifunc" (the address is in its resolver), "object" or "label".
        aliases: Names of the equals that were not chosen, in the order of SYM-5.
    """

    __slots__ = ("aliases", "kind", "name", "offset", "size", "value")

    def __init__(self, symbol: Symbol, offset: int, aliases: tuple[str, ...]) -> None:
        """Say that an address is *offset* bytes into *symbol*."""
        self.name = symbol.name
        self.offset = offset
        self.value = symbol.value
        self.size = symbol.size
        self.kind = KINDS[symbol.type]
        self.aliases = aliases

    def __repr__(self) -> str:
        """Return what tells answers apart, for people."""
        return f"Found(name={self.name!r}, offset={self.offset:#x})"


class Miss:
    """
    No symbol, and why.

    Attributes:
        name: None, so that answers can be told apart by it.
        reason: One of the reasons of SYM-6.
    """

    __slots__ = ("reason",)
    name = None

    def __init__(self, reason: str) -> None:
        """State the reason."""
        self.reason = reason

    def __repr__(self) -> str:
        """Return the reason, for people."""
        return f"Miss(reason={self.reason!r})"


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
        self._strings = _rest(view, *place.strings)
        self._extended = _rest(view, *place.extended)
        self._spans: Spans | None = None
        if header.machine == EM_ARM:
            self._clear_thumb_bits()

    def __iter__(self) -> Iterator[Symbol]:
        """Give every entry but the first, which is empty by definition."""
        return map(self.symbol, range(1, len(self)))

    def __len__(self) -> int:
        """Return the number of entries, the first, empty one included."""
        return len(self._columns.values)

    def symbol(self, index: int) -> Symbol:
        """Return the entry at *index*."""
        columns = self._columns
        name, version = self._name(columns.names[index]), ""
        if self.source == ".symtab" and "@" in name[1:]:
            name, _, version = name.partition("@")
        return Symbol(
            index=index,
            name=name,
            version=version.removeprefix("@"),
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
        near = [
            index
            for index, (value, size) in enumerate(zip(values, sizes, strict=True))
            if value <= address < value + size
        ]
        equals = self._choose(address, near)
        if not equals:  # the nearest below takes a second pass, over those that can be an answer
            below = [index for index in self._answers() if values[index] <= address]
            nearest = max((values[index] for index in below), default=0)
            near = [i for i in below if values[i] == nearest or values[i] + sizes[i] > nearest]
            equals = self._choose(address, near)
        return self._found(address, equals)

    def lookup_many(self, addresses: Iterable[int]) -> Iterator[Found | Miss]:
        """
        Give for each of *addresses* what `lookup` gives, from a table that is sorted first.

        Source: SYM-2 to SYM-6.
        """
        values = self._columns.values
        if self._spans is None:
            self._spans = Spans(self._answers(), values, self._columns.sizes)
        spans = self._spans
        chosen: dict[int, list[Symbol]] = {}
        for address in addresses:
            reason = self._why_none(address)
            if reason:
                yield Miss(reason)
                continue
            owner = spans.owner(address)
            if owner < 0:
                equals = self._choose(address, spans.nearest(address))
            elif owner in chosen:
                equals = chosen[owner]
            else:
                rivals = spans.beginning(values[owner])
                alone = len(rivals) == 1
                equals = [self.symbol(owner)] if alone else self._choose(address, rivals)
                chosen[owner] = equals
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

    def _answers(self) -> list[int]:
        """Return the indices of the symbols that can be an answer. Source: SYM-2."""
        strings, end = self._strings, len(self._strings)
        columns = self._columns
        types = bytes(kind in TYPES for kind in range(16)) * 16
        return [
            index
            for index, (info, section, name) in enumerate(
                zip(columns.info, columns.shndx, columns.names, strict=True)
            )
            if types[info]
            and name
            and is_placed(section)
            and (name >= end or strings[name] not in b"\0$" or self._is_named(name))
        ]

    def _is_named(self, offset: int) -> bool:
        name = self._name(offset)
        return name != "" and not is_mapping(name)

    def _choose(self, address: int, indices: Iterable[int]) -> list[Symbol]:
        return choose(address, [self.symbol(index) for index in indices], self._limit)

    def _found(self, address: int, equals: list[Symbol]) -> Found | Miss:
        if not equals:
            return Miss(BETWEEN)
        first, *others = equals
        if self._header.machine == EM_ARM and first.type == STT_FUNC:
            address &= ~1
        return Found(first, address - first.value, tuple(other.name for other in others))

    def _limit(self, symbol: Symbol) -> int:
        """Return the link address up to which a symbol of size 0 may reach. Source: SYM-4."""
        if self.source != ".symtab":
            return symbol.value + 1
        if self._by_segment:
            ends = [end for start, end in self._loads if start <= symbol.value < end]
            return ends[0] if ends else symbol.value
        section = self._section(symbol)
        if section >= len(self._sections):
            return symbol.value
        return self._sections[section][3] + self._sections[section][5]

    def _section(self, symbol: Symbol) -> int:
        """Return the index of the section that *symbol* is defined in."""
        if symbol.section < SHN_LORESERVE:
            return symbol.section
        word = self._extended[4 * symbol.index : 4 * symbol.index + 4]
        if symbol.section != SHN_XINDEX or len(word) < 4:
            return len(self._sections)
        return column(word, "I", 0, 1, self._header.order)[0]

    def _name(self, offset: int) -> str:
        if offset == 0:
            return ""
        end = self._strings.find(b"\0", offset)
        if end < 0:
            return CORRUPT
        return self._strings[offset:end].decode("utf-8", "surrogateescape")

    def _clear_thumb_bits(self) -> None:
        columns = self._columns
        columns.values = [
            value & ~1 if info & 15 == STT_FUNC else value
            for value, info in zip(columns.values, columns.info, strict=True)
        ]


def _rest(view: View, offset: int, size: int) -> bytes:
    """Return the *size* bytes at *offset*, or those of them that are in the file."""
    size = max(0, min(size, view.size - offset))
    return bytes(view.window(min(offset, view.size), size, "string table", locate.RULE))


def _shape(view: View) -> Shape | None:
    """Return the shape of an ok image, or None for any other file."""
    try:
        return read_shape(view)
    except FormatError:
        return None
