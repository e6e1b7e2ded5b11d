"""Many answers of the index as text, line by line: what addresses have in common is made once.

A hundred thousand answers, each a value of its own, take five times as long to make as to find.
Here an address gives three numbers, by halving alone: that of its symbol, of its function or
inlined call, and of its place in the source. What is written of each is kept.
"""

from __future__ import annotations

from _bisect import bisect_left
from _operator import sub

from okld.syms.answer import Found, Frame
from okld.syms.index.blocks import Lines
from okld.syms.index.layer import FAULTS, NONE
from okld.syms.index.reader import Told
from okld.syms.index.symbol_pieces import SymbolPieces
from okld.syms.index.unit_texts import UnitTexts
from okld.syms.joined import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from okld.syms.answer import Miss
    from okld.syms.index.layer import Layer
    from okld.syms.index.reader import Index
    from okld.syms.index.unit_texts import Function

    class Teller(Protocol):
        """Says how answers look."""

        def line(self, word: str, found: Found | Miss) -> str:
            """Return the line of one answer."""

        def ends(self, found: Found) -> tuple[str, str]:
            """Return what stands before and behind the offset, without the "+" before it."""

        def name(self, raw: str) -> str:
            """Return how a name looks."""

        def names(self, raws: list[str]) -> list[str]:
            """Return how each of many names looks, of which none comes again."""

        def path(self, file: str) -> str:
            """Return the path of a file, of which the line and the column follow."""

        def caller(self, frame: Frame) -> str:
            """
            Return the line of a caller, from the end of the line before on; "" where callers are
            not shown.
            """

    Head = tuple[str, int]
    """What stands before the offset, and from which address that counts; "" where the line is like
    no other's."""


def texts(
    index: Index, links: Sequence[int], asked: Sequence[int], teller: Teller, *, lines: bool
) -> list[str | None]:
    """
    Return a line for each of the link addresses *links*, or None where the index does not know it.

    Args:
        index: The index, which always has the same teller.
        links: Link addresses, in any order.
        asked: What they are called in their lines.
        teller: Says how answers look.
        lines: Whether places in the source are wanted.
    """
    made: list[str | None] = [None] * len(links)
    if links:
        try:
            if index.pieces is None:
                index.pieces = SymbolPieces(index.layer("names"), teller.names)
            if lines:
                _WithPlaces(index, links, asked, teller, made).make()
            else:
                _names(index.pieces, links, asked, teller, made)
        except FAULTS:
            return made  # what was made is right: every block is checked by itself
    return made


def _names(
    pieces: SymbolPieces,
    links: Sequence[int],
    asked: Sequence[int],
    teller: Teller,
    made: list[str | None],
) -> None:
    """Make lines without places."""
    found = pieces.find(links)
    heads = map(pieces.heads.__getitem__, found)
    offsets = map(hex, map(sub, links, map(pieces.values.__getitem__, found)))
    made[:] = [
        f"{word}{head}{offset}\n" if head else None
        for word, head, offset in zip(map(hex, asked), heads, offsets, strict=True)
    ]
    if not all(made):
        for at in [at for at, text in enumerate(made) if text is None]:
            answer = pieces.answer(found[at], links[at])
            made[at] = teller.line(hex(asked[at]), answer) if answer else None


class _WithPlaces:
    """The lines of addresses with places in the source: unit by unit, in ascending order."""

    def __init__(
        self,
        index: Index,
        links: Sequence[int],
        asked: Sequence[int],
        teller: Teller,
        made: list[str | None],
    ) -> None:
        assert index.pieces is not None
        self._layer = index.layer("lines")
        self._teller = teller
        self._made = made
        self._order = order = sorted(range(len(links)), key=links.__getitem__)
        self._links = [links[at] for at in order]
        self._asked = [asked[at] for at in order]
        self._pieces = index.pieces
        self._found = index.pieces.find(self._links)
        self._told = Told()

    def make(self) -> None:
        """Make all lines that the index knows."""
        for block, first, last in self._groups(self._layer):
            if isinstance(block, Lines):
                self._of_unit(block, first, last)
            elif block is NONE:
                part = slice(first, last)
                made: list[str | None] = [None] * (last - first)
                columns = self._links[part], self._asked[part]
                _names(self._pieces, *columns, self._teller, made)
                for at, text in zip(self._order[part], made, strict=True):
                    self._made[at] = text

    def _groups(self, layer: Layer) -> Iterator[tuple[object, int, int]]:
        """Give each block of a layer that has some, with the first and the end of them."""
        at = 0
        while at < len(self._links):
            block, end = layer.find(self._links[at])
            first, at = at, bisect_left(self._links, end, at)
            yield block, first, at

    def _of_unit(self, block: Lines, first: int, last: int) -> None:
        """Make the lines of the addresses from *first* up to *last*, which are in one unit."""
        made, part = self._made, slice(first, last)
        places, nodes = block.numbers(self._links[part])
        unit = block.texts
        if unit is None:
            unit = block.texts = UnitTexts(block, self._teller)
        unit.know(set(nodes))
        files, rows, columns = block.sites(places)
        before, around, head, base = -1, None, "", 0
        for at, link, word, piece, path, line, column, function, tail in zip(
            self._order[part],
            self._links[part],
            map(hex, self._asked[part]),
            self._found[part],
            map(unit.paths(files).get, files),
            rows,
            columns,
            map(unit.functions.get, nodes),
            map(unit.tails.get, nodes),
            strict=True,
        ):
            if piece != before or function is not around:
                before, around = piece, function
                head, base = self._head(piece, function) if function else ("", 0)
            if head and path and line and column:
                made[at] = f"{word}{head}{hex(link - base)}{path}{line}:{column}{tail}"
            elif head and path:
                place = f"{path}{line or '?'}{f':{column}' if column else ''}"
                made[at] = f"{word}{head}{hex(link - base)}{place}{tail}"
            else:
                made[at] = self._line(word, piece, link, block)

    def _head(self, piece: int, function: Function) -> Head:
        """Return what is written of a symbol in a function, where a place follows."""
        pieces = self._pieces
        if pieces.functions[piece] == function[0] and function[0]:  # most are alike
            return pieces.heads[piece] or "", pieces.values[piece]
        answer = pieces.answer(piece, 0)
        if not isinstance(answer, Found) or answer.notes or not pieces.counts_all(piece):
            return "", 0
        name, low = function
        self._told.frames = (Frame(name, None, None, None, inlined=False),)
        self._told.low = low
        answer = joined(answer, self._told, low)  # type: ignore[arg-type]
        assert isinstance(answer, Found)
        head, tail = self._teller.ends(answer)
        if answer.frames and answer.name != name and self._teller.caller(answer.frames[-1]):
            return "", 0  # what is written of the unit's callers has the plain name
        return ("", 0) if tail or not answer.frames else (f" {head}+", answer.value)

    def _line(self, word: str, piece: int, link: int, block: Lines) -> str | None:
        """Return the line of an answer that is like no other's."""
        answer = self._pieces.answer(piece, link)
        if answer is None:
            return None
        self._told.frames, self._told.low = block.at(link)
        return self._teller.line(word, joined(answer, self._told, link))  # type: ignore[arg-type]
