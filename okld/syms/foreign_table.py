"""The symbols of a Mach-O or PE program, and look-ups in them by the rules of every table.

Source: OBJ-1; SYM-2 to SYM-6.
"""

from __future__ import annotations

from _bisect import bisect_right

from okld.base.limits import MAX_ALIAS
from okld.syms.answer import Found, Miss
from okld.syms.bulk import Bulk
from okld.syms.choose import TYPES, Symbol, is_mapping, is_placed
from okld.syms.plt import Stubs
from okld.syms.table import KINDS, REASONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from okld.image.program import Program, Row


class Listed(Stubs):
    """
    Symbols that were read from a foreign table: a list, as stubs are, of what may be no answer.

    Attributes:
        source: The table they come from, or "".
    """

    def __init__(self, program: Program, rows: Sequence[Row]) -> None:
        """Take *rows*, of which *program* says how far they may reach."""
        super().__init__([(value, size, name) for name, value, size, _, _ in rows])
        self.source = program.source
        self.info = bytes(row[3] for row in rows)
        self._rows = rows
        self._starts = program.starts
        places = sorted((s.address, s.address + s.size) for s in program.sections if s.is_loaded)
        self._firsts = [start for start, _ in places]
        self._ends = [end for _, end in places]

    def answers(self, indices: Iterable[int]) -> list[int]:
        """Return those of *indices* whose symbols can be an answer. Source: SYM-2."""
        found = []
        for index in indices:
            name, _, _, info, section = self._rows[index]
            if name and is_placed(section) and info & 15 in TYPES and not is_mapping(name):
                found.append(index)
        return found

    def all_answers(self) -> list[int]:
        """Return the indices of all symbols that can be an answer. Source: SYM-2."""
        return self.answers(range(len(self)))

    def symbol(self, index: int) -> Symbol:
        """Return the symbol at *index*, as ELF would state it."""
        name, value, size, info, section = self._rows[index]
        return Symbol(index=index, name=name, value=value, size=size, info=info, section=section)

    def limits(self, indices: list[int]) -> list[int]:
        """Return link addresses up to which symbols of size 0 may reach. Source: OBJ-4, OBJ-8."""
        return [self._limit(self.values[index]) for index in indices]

    def _limit(self, value: int) -> int:
        home = bisect_right(self._firsts, value) - 1
        if home < 0 or value >= self._ends[home]:
            return value
        after = bisect_right(self._starts, value)
        end = self._ends[home]
        return min(end, self._starts[after]) if after < len(self._starts) else end


class ForeignTable:
    """
    The symbols of a program; iterating gives them in the table's order.

    Attributes:
        source: The table they come from, or "" for none.
        damage: "", as a foreign file that is broken is not read at all.
    """

    damage = ""

    def __init__(self, program: Program, more: Sequence[Row] = ()) -> None:
        """Take the symbols of *program*, and *more* that its debug file has."""
        known = {row[:2] for row in program.symbols} if more else set()
        rows = program.symbols + [row for row in more if row[:2] not in known]
        self.source = program.source
        self._is_exact = program.is_exact or bool(more)
        self._listed = Listed(program, rows)
        self._stubs = Stubs(program.stubs)
        places = [(s.address, s.address + s.size) for s in program.sections if s.is_loaded]
        self._bulk = Bulk([self._listed, self._stubs], sorted(places))
        self._told: dict[int, Found] = {}

    def __iter__(self) -> Iterator[Symbol]:
        """Give every symbol of the table."""
        return map(self.symbol, range(len(self)))

    def __len__(self) -> int:
        """Return the number of symbols."""
        return len(self._listed)

    def symbol(self, index: int) -> Symbol:
        """Return the symbol at *index*."""
        return self._listed.symbol(index)

    def lookup(self, address: int) -> Found | Miss:
        """Return the symbol that a link *address* belongs to, or why there is none."""
        return next(self.lookup_many((address,)))

    def lookup_many(self, addresses: Iterable[int]) -> Iterator[Found | Miss]:
        """Give for each of *addresses* what `lookup` gives."""
        find, told = self._bulk.finder(), self._told
        for address in addresses:
            number = find(address)
            if number < 0:
                yield Miss(REASONS[number])
                continue
            model = told.get(number)
            if model is None:
                model = told[number] = self._found(self._bulk.group(number))
            yield self._at(model, address)

    def _found(self, equals: Sequence[int]) -> Found:
        """Return the answer of *equals*, its first one, for its own address."""
        part, local = self._part(equals[0])
        name, _ = part.name(local)
        others = [self._part(index) for index in equals[1:]]
        aliases = [part.short(index, MAX_ALIAS) for part, index in others]
        size = part.size(local)
        return Found(
            name,
            0,
            value=part.values[local],
            size=size,
            kind=KINDS[part.info[local] & 15] if isinstance(part, Listed) else "plt",
            symbol=name,
            aliases=tuple(alias for alias in aliases if alias),
            approximate=not size and not self._is_exact,
        )

    def _part(self, index: int) -> tuple[Stubs, int]:
        first = len(self._listed)
        return (self._listed, index) if index < first else (self._stubs, index - first)

    def _at(self, model: Found, address: int) -> Found:
        """Return *model* for an *address* of its symbol."""
        return Found(
            model.name,
            address - model.value,
            value=model.value,
            size=model.size,
            kind=model.kind,
            symbol=model.symbol,
            aliases=model.aliases,
            approximate=model.approximate,
        )
