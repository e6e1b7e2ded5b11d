"""`Table`: the symbols of a file, or of several files of one program, and look-ups in them.

One address is looked up in one pass over the columns; many are looked up in ranges that are sorted
once. Both follow the rules of `choose.py`.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_ALIAS, MAX_ALIASES, MAX_NAMES, MIN_ALIGN
from okld.elf.header import ET_DYN, PT_INTERP
from okld.elf.tables import STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT
from okld.syms import plt
from okld.syms.answer import Found, Miss
from okld.syms.bulk import BETWEEN, NO_TABLE, OUTSIDE, Bulk
from okld.syms.choose import Symbol, choose
from okld.syms.elf_file import ADDR, SIZE
from okld.syms.layout import memory_ranges
from okld.syms.part import EM_ARM, Part
from okld.syms.scan import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from okld.image.shape import Shape
    from okld.syms.elf_file import ElfFile

KINDS = {STT_NOTYPE: "label", STT_OBJECT: "object", STT_FUNC: "function", STT_GNU_IFUNC: "ifunc"}

REASONS = {
    BETWEEN: "between symbols",
    OUTSIDE: "outside every segment",
    NO_TABLE: "no symbol table",
}


class Table:
    """
    The symbols of a file; iterating gives every entry but the first, in the table's order.

    The file has to stay open. Addresses are link addresses; those of a relocatable file are those
    of `layout.section_addresses`.

    Attributes:
        source: Where the symbols come from, as in `Place`; of several tables, the first.
        damage: What is broken in the file and was got around, or "".
        parts: The tables, the preferred one first.
    """

    def __init__(
        self, elf: ElfFile, *, shape: Shape | None = None, program: ElfFile | None = None
    ) -> None:
        """
        Read the table of *elf*.

        Args:
            elf: The file.
            shape: What the gate read, if the file is an ok image and that is at hand (SYM-7).
            program: The file that *elf*, a debug file, was made from.

        Raises:
            FormatError: If it has more symbols than can be read (SYM-1).
        """
        shape = shape or shape_of(elf)
        self._take(elf, [Part(elf, shape, program)], is_image=shape is not None)

    @classmethod
    def of_parts(cls, first: Table, parts: list[Part]) -> Table:
        """Return a table of *parts*, of the program whose file *first* is of. Source: SYM-17."""
        table = cls.__new__(cls)
        table._take(first._elf, parts, is_image=first._is_image)
        return table

    def _take(self, elf: ElfFile, parts: list[Part], *, is_image: bool) -> None:
        self.parts = parts
        self.source = next((part.source for part in parts if part.source), "")
        self.damage = elf.damage
        self._elf = elf
        self._is_image = is_image
        self._segments = memory_ranges(elf)
        self._has_table = any(len(part) > 1 for part in parts)
        self._all: list[Part | plt.Stubs] = [*parts]
        self._bulk: Bulk | None = None
        self._told: dict[int, Found] = {}

    def __iter__(self) -> Iterator[Symbol]:
        """
        Give every entry but the first of each table, which is empty by definition.

        Raises:
            FormatError: Once their names, which can overlap, are more than MAX_NAMES bytes (SYM-1).
        """
        room, first = MAX_NAMES, 0
        for part in self.parts:
            part.strings.whole()
            for index in range(first + 1, first + len(part)):
                symbol = self.symbol(index)
                room -= len(symbol.name)
                if room < 0:
                    raise FormatError("SYM-1", "bytes of all names together", limit=MAX_NAMES)
                yield symbol
            first += len(part)

    def __len__(self) -> int:
        """Return the number of entries, the first, empty ones included."""
        return sum(len(part) for part in self.parts)

    def symbol(self, index: int) -> Symbol:
        """Return the entry at *index*, which counts through all tables, as the table states it."""
        part, local = self._part(index)
        symbol = part.symbol(local)
        symbol.index = index
        return symbol

    def name(self, index: int) -> str:
        """Return the name of the symbol at *index*, without its version."""
        part, local = self._part(index)
        return part.name(local)[0]

    def value(self, index: int) -> int:
        """Return the link address of the symbol at *index*."""
        part, local = self._part(index)
        return part.values[local]

    def lookup(self, address: int) -> Found | Miss:
        """
        Return the symbol that a link *address* belongs to, or why there is none, by passing over
        the tables once.

        Source: SYM-2 to SYM-6, SYM-12.
        """
        if not self._is_inside(address):
            return Miss(REASONS[OUTSIDE if self._has_table else NO_TABLE])
        if self._is_stub(address):
            self._read_stubs()
        found: list[Symbol] = []
        first = 0
        for part in self._all:
            found += [_candidate(part, local, first) for local in candidates(part, address)]
            first += len(part)
        equals = choose(address, found, self._limit)[: 1 + MAX_ALIASES]
        if not equals:
            return Miss(REASONS[BETWEEN if self._has_table else NO_TABLE])
        return self._at(self._found([symbol.index for symbol in equals]), address)

    def lookup_many(self, addresses: Iterable[int]) -> Iterator[Found | Miss]:
        """
        Give for each of *addresses* what `lookup` gives, from tables that are sorted first.

        Source: SYM-2 to SYM-6, SYM-12.
        """
        bulk = self._sorted()
        find, told = bulk.finder(), self._told
        for address in addresses:
            number = find(address)
            if number < 0:
                yield Miss(REASONS[number])
                continue
            model = told.get(number)
            if model is None:
                model = told[number] = self._found(bulk.group(number))
            yield self._at(model, address)

    def owners(self, addresses: Iterable[int]) -> list[int]:
        """
        Return for each of *addresses* the index of its symbol; less than 0, why there is none
        (`REASONS`).
        """
        return self._sorted().owners(addresses)

    def boundaries(self) -> list[int]:
        """Return every address from which on `owners` can give another symbol, ascending."""
        return self._sorted().boundaries()

    def _sorted(self) -> Bulk:
        if self._bulk is None:
            self._read_stubs()
            self._bulk = Bulk(self._all, self._segments)
        return self._bulk

    def _read_stubs(self) -> None:
        if self._all[-1] is self.parts[-1] and not self._is_image:
            self._all.append(plt.read_stubs(self._elf))

    def _is_stub(self, address: int) -> bool:
        places = (self._elf.sections[index] for _, index in plt.sections(self._elf))
        return any(0 <= address - place[ADDR] < place[SIZE] for place in places)

    def _is_inside(self, address: int) -> bool:
        return not self._segments or any(low <= address < high for low, high in self._segments)

    def _part(self, index: int) -> tuple[Part | plt.Stubs, int]:
        for part in self._all:
            if index < len(part):
                break
            index -= len(part)
        return part, index

    def _limit(self, symbol: Symbol) -> int:
        part, local = self._part(symbol.index)
        return part.limits([local])[0]

    def _found(self, equals: Sequence[int]) -> Found:
        """Return the answer of *equals*, its first one, for its own address."""
        part, local = self._part(equals[0])
        name, version = part.name(local)
        return Found(
            name,
            0,
            value=part.values[local],
            size=part.size(local),
            kind=KINDS[part.info[local] & 15] if isinstance(part, Part) else "plt",
            symbol=name,
            version=version,
            aliases=self._aliases(name, equals),
        )

    def _aliases(self, name: str, equals: Sequence[int]) -> tuple[str, ...]:
        """Return the names of all *equals* but the first; one in two tables counts once."""
        if len(equals) == 1:
            return ()
        homes = {name: self._part(equals[0])[0]}
        names = []
        for index in equals[1:]:
            part, local = self._part(index)
            alias = part.short(local, MAX_ALIAS)
            if alias and homes.setdefault(alias, part) is part:
                names.append(alias)
        return tuple(names)

    def _at(self, model: Found, address: int) -> Found:
        """Return *model* for an *address* of its symbol."""
        if self._elf.header.machine == EM_ARM and model.kind in ("function", "ifunc"):
            address &= ~1  # a pointer to it may say Thumb
        found = Found.__new__(Found)  # by its fields: twice as fast, of a hundred thousand
        found.name = model.name
        found.symbol = model.symbol
        found.version = model.version
        found.offset = address - model.value
        found.value = model.value
        found.size = model.size
        found.kind = model.kind
        found.aliases = model.aliases
        found.frames = model.frames
        found.approximate = model.approximate
        found.notes = model.notes
        return found


def _candidate(part: Part | plt.Stubs, local: int, first: int) -> Symbol:
    """Return a symbol that can be an answer, where it is placed, with the head of its name."""
    return Symbol(
        index=first + local,
        name=part.head(local),
        value=part.values[local],
        size=part.size(local),
        info=part.info[local],
        section=1,
    )


def shape_of(elf: ElfFile) -> Shape | None:
    """Return the shape of an ok image, or None for any other file. Source: SYM-7."""
    if elf.header.type != ET_DYN or any(segment[0] == PT_INTERP for segment in elf.segments):
        return None  # the gate's modules take longer to import than all else that an answer needs
    if any(segment[7] < MIN_ALIGN for segment in elf.loads()):
        return None
    from okld.image.shape import read_shape

    try:
        return read_shape(elf.view)
    except FormatError:
        return None
