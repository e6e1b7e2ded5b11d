"""Many answers of the index as text, line by line: what addresses have in common is made once.

A hundred thousand answers, each a value of its own, take three times as long to make as to find.
Here an address gives three numbers, by halving alone: that of its symbol, of its function or
inlined call, and of its place in the source. What is written of the first two is kept.
"""

from __future__ import annotations

from _bisect import bisect_left
from itertools import repeat

from okld.syms.answer import Found, Frame
from okld.syms.index.blocks import Lines, Names
from okld.syms.index.layer import FAULTS, NONE
from okld.syms.index.reader import Told
from okld.syms.joined import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from okld.syms.answer import Miss
    from okld.syms.index.layer import Layer
    from okld.syms.index.reader import Index

    class Teller(Protocol):
        """Says how answers look."""

        def line(self, word: str, found: Found | Miss) -> str:
            """Return the line of one answer."""

        def ends(self, found: Found) -> tuple[str, str]:
            """Return what stands before and behind the offset, without the "+" before it."""

        def name(self, raw: str) -> str:
            """Return how a name looks."""

        def path(self, file: str) -> str:
            """Return the path of a file, of which the line and the column follow."""

        def chain(self, frames: tuple[Frame, ...]) -> str:
            """Return what stands behind the first place, with the lines of callers."""

    Function = tuple[str, int]
    """A function's name and its lowest address."""
    Call = tuple[Function, str]
    """Of a function or inlined call: the function, and what stands behind a place."""
    Entry = tuple[Function | None, str, int, str, bool]
    """Of a symbol in a function, which comes first: what stands before the offset; from which
    address that counts; what stands behind it; whether a place follows."""


ENOUGH = 1 << 11  # addresses whose halves take longer than to hand one of them over
SMALL = (1 << 30) - 1  # what Python holds in one digit
ANYWHERE: Function = ("", -1)
NOWHERE: Entry = (None, "", 0, "", False)


class _Symbol:
    """
    One answer of the symbol table.

    Attributes:
        block, number: Which one.
        ordinary: Its name and value, as `Names.ordinary` has them.
        is_plain: Whether it is a symbol's, all bits of whose addresses count, without notes.
        entry: What is written of it in the function that was asked for last.
    """

    __slots__ = ("block", "entry", "is_plain", "number", "ordinary")

    def __init__(self, block: Names, number: int) -> None:
        self.block = block
        self.number = number
        self.entry = NOWHERE
        self.ordinary = block.ordinary(number)
        self.is_plain = True
        if self.ordinary is None:
            answer, mask = block.answer(number)
            self.is_plain = isinstance(answer, Found) and mask == -1 and not answer.notes

    def at(self, address: int) -> Found | Miss:
        """Return the answer for an address."""
        answer, mask = self.block.answer(self.number)
        if isinstance(answer, Found):
            answer.offset = (address & mask) - answer.value
        return answer


def texts(
    index: Index, links: Sequence[int], asked: Sequence[int], teller: Teller, *, lines: bool
) -> list[Any]:
    """
    Return a line for each of the link addresses *links*, or None where the index does not know it.

    Args:
        index: The index; where it may use two processes, the second does half of the work.
        links: Link addresses, in any order.
        asked: What they are called in their lines.
        teller: Says how answers look.
        lines: Whether places in the source are wanted.
    """
    order = _order(links)
    ordered = [links[at] for at in order]
    words = [asked[at] for at in order]
    second = None
    if index.processes > 1 and len(links) >= ENOUGH:
        from okld.syms.index.second import second_of

        second = second_of(index, teller, ordered[len(ordered) // 2], lines=lines)
    cut = len(ordered) if second is None else bisect_left(ordered, second.pivot)
    if second is not None:
        second.ask(ordered[cut:], words[cut:])
    found = ascending(index, ordered[:cut], words[:cut], teller, lines=lines)
    if second is not None:
        found += second.answers()
        left = [at for at in range(cut, len(found)) if found[at] is None]
        rest = [ordered[at] for at in left], [words[at] for at in left]
        for at, text in zip(left, ascending(index, *rest, teller, lines=lines), strict=True):
            found[at] = text
    made: list[Any] = [None] * len(links)
    for at, text in zip(order, found, strict=True):
        made[at] = text
    return made


def _order(links: Sequence[int]) -> list[int]:
    """Return the places of *links*, the least first."""
    lowest = min(links, default=0)
    if lowest > SMALL >= max(links) - lowest:  # numbers of one digit are compared at once
        links = [link - lowest for link in links]
    return sorted(range(len(links)), key=links.__getitem__)


def ascending(
    index: Index,
    links: list[int],
    asked: list[int],
    teller: Teller,
    *,
    lines: bool,
    plain: bool = False,
) -> list[Any]:
    """
    Do what `texts` does, for ascending addresses.

    With *plain* only those lines are made that are like others': by *teller* none is told.
    """
    making = _Making(index, links, asked, teller, plain=plain)
    try:
        if lines:
            making.find_symbols()
            making.with_places()
        else:
            making.names()
    except FAULTS:
        return making.made  # what was made is right: every block is checked by itself
    return making.made


class _Making:
    """The lines of ascending addresses."""

    def __init__(
        self,
        index: Index,
        links: list[int],
        asked: list[int],
        teller: Teller,
        *,
        plain: bool,
    ) -> None:
        self.made: list[Any] = [None] * len(links)
        self._index = index
        self._teller = teller
        self._told = Told()
        self._plain = plain
        self._links = links
        self._asked = asked
        self._symbols: list[_Symbol | None] = []

    def names(self) -> None:
        """Make lines without places, where the symbol table alone was asked."""
        made, links, asked = self.made, self._links, self._asked
        for block, first, last in self._groups(self._index.layer("names")):
            if not isinstance(block, Names):
                continue
            part = links[first:last]
            numbers = block.numbers(part)
            known: dict[int, tuple[str, int]] = block.kept
            name_of = self._teller.name
            for number, name, value in block.all_ordinary(set(numbers).difference(known)):
                known[number] = f"{name_of(name)}+", value
            heads = map(known.get, numbers)
            made[first:last] = [
                f"{word:#x} {head[0]}{link - head[1]:#x}\n" if head else None
                for word, link, head in zip(asked[first:last], part, heads, strict=True)
            ]
            if not self._plain and not known.keys() >= set(numbers):
                self._make_others(block, numbers, first)

    def _make_others(self, block: Names, numbers: list[int], first: int) -> None:
        for at, number in enumerate(numbers, first):
            if self.made[at] is None:
                symbol = _Symbol(block, number)
                self.made[at] = self._line(self._asked[at], symbol, self._links[at])

    def find_symbols(self) -> None:
        """Find the symbol of each address."""
        symbols = self._symbols
        for block, first, last in self._groups(self._index.layer("names")):
            if not isinstance(block, Names):
                symbols += repeat(None, last - first)
                continue
            known: dict[int, _Symbol] = block.symbols
            numbers = block.numbers(self._links[first:last])
            for number in set(numbers).difference(known):
                known[number] = _Symbol(block, number)
            symbols += map(known.__getitem__, numbers)

    def without(self, first: int, last: int) -> None:
        """Make lines without places."""
        made = self.made
        columns = self._links, self._asked, self._symbols
        part = zip(range(first, last), *(each[first:last] for each in columns), strict=True)
        for at, link, word, symbol in part:
            if symbol is None:
                continue
            if not symbol.is_plain:
                made[at] = self._line(word, symbol, link)
                continue
            if symbol.entry[0] is not ANYWHERE:
                symbol.entry = self._entry(ANYWHERE, symbol)
            _, head, base, tail, _ = symbol.entry
            made[at] = f"{word:#x} {head}+{link - base:#x}{tail}\n"

    def with_places(self) -> None:
        """Make lines with places."""
        for block, first, last in self._groups(self._index.layer("lines")):
            if isinstance(block, Lines):
                self._of_unit(block, first, last)
            elif block is NONE:
                self.without(first, last)

    def _of_unit(self, block: Lines, first: int, last: int) -> None:
        made, known = self.made, self._call
        places, nodes = block.numbers(self._links[first:last])
        files, lines, columns = block.places
        calls: dict[int, Call] = block.kept
        for node in set(nodes).difference(calls, (-1,)):
            calls[node] = known(block, node)
        paths: dict[int, str] = {}
        for at, link, word, symbol, place, call in zip(
            range(first, last),
            self._links[first:last],
            self._asked[first:last],
            self._symbols[first:last],
            places,
            map(calls.get, nodes),
            strict=True,
        ):
            if symbol is None:
                continue
            if call is None or place < 0 or not symbol.is_plain or files[place] < 0:
                made[at] = self._line(word, symbol, link, block)
                continue
            if symbol.entry[0] != call[0]:
                symbol.entry = self._entry(call[0], symbol, lines=True)
            _, head, base, tail, has_place = symbol.entry
            if not has_place:
                made[at] = f"{word:#x} {head}+{link - base:#x}{tail}\n"
                continue
            path = paths.get(files[place])
            if path is None:
                path = paths[files[place]] = self._teller.path(block.string(files[place]))
            line, column = lines[place] or "?", columns[place]
            if column:
                line = f"{line}:{column}"
            made[at] = f"{word:#x} {head}+{link - base:#x}{tail} {path}:{line}{call[1]}\n"

    def _call(self, block: Lines, node: int) -> Call:
        frames, low = block.call(node)
        return (frames[-1].function, low), self._teller.chain(frames)

    def _entry(self, function: Function, symbol: _Symbol, *, lines: bool = False) -> Entry:
        """Return what is written of a symbol, in a function where there are lines."""
        if symbol.ordinary is not None:  # most are: of these nothing has to be made to be told
            name, value = symbol.ordinary
            if not lines or (name == function[0] and symbol.block.is_sized(symbol.number)):
                return function, self._teller.name(name), value, "", lines
        answer = symbol.at(0)
        if lines:
            name, low = function
            self._told.frames = (Frame(name, None, None, None, inlined=False),)
            self._told.low = low
            answer = joined(answer, self._told, low)  # type: ignore[arg-type]
        assert isinstance(answer, Found)
        head, tail = self._teller.ends(answer)
        return function, head, answer.value, tail, bool(answer.frames)

    def _line(
        self, word: int, symbol: _Symbol, link: int, block: Lines | None = None
    ) -> str | None:
        """Return the line of an answer that is like no other's."""
        if self._plain:
            return None
        answer = symbol.at(link)
        if block is not None:
            self._told.frames, self._told.low = block.at(link)
            answer = joined(answer, self._told, link)  # type: ignore[arg-type]
        return self._teller.line(f"{word:#x}", answer)

    def _groups(self, layer: Layer) -> Iterator[tuple[object, int, int]]:
        """Give each block of a layer that has some, with the first and the end of them."""
        at = 0
        while at < len(self._links):
            block, end = layer.find(self._links[at])
            first, at = at, bisect_left(self._links, end, at)
            yield block, first, at
