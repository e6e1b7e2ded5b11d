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


TOGETHER = 1 << 6  # lines that are made in one; each of C++ can have 1 KB


def texts(
    index: Index, links: Sequence[int], asked: Sequence[int], teller: Teller, *, lines: bool
) -> list[str | None]:
    """
    Return a line for each of the link addresses *links*, or None where the index does not know it.

    Where all of them are known, and alike, a text can have many lines.

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
                layer = index.layer("names")
                index.pieces = SymbolPieces(layer, teller.names, functions=lines)
            if lines:
                _WithPlaces(index, links, asked, teller, made).make()
            else:
                return _names(index.pieces, links, asked, teller)
        except FAULTS:
            return made  # what was made is right: every block is checked by itself
    return made


def _names(
    pieces: SymbolPieces, links: Sequence[int], asked: Sequence[int], teller: Teller
) -> list[str | None]:
    """Return lines without places, as `texts` does."""
    found = pieces.find(links)
    heads = list(map(pieces.heads.__getitem__, found))
    if not all(heads):
        return _one_by_one(pieces, found, links, asked, teller)
    values = map(pieces.values.__getitem__, found)
    columns: tuple[Sequence[object], ...] = asked, heads, list(map(sub, links, values))
    parts = (slice(at, at + TOGETHER) for at in range(0, len(links), TOGETHER))
    return [_together([column[part] for column in columns]) for part in parts]


def _one_by_one(
    pieces: SymbolPieces,
    found: Sequence[int],
    links: Sequence[int],
    asked: Sequence[int],
    teller: Teller,
) -> list[str | None]:
    """Return lines without places, of addresses whose pieces are *found*."""
    heads = map(pieces.heads.__getitem__, found)
    offsets = map(hex, map(sub, links, map(pieces.values.__getitem__, found)))
    made: list[str | None] = [
        f"{word} {head}+{offset}\n" if head else None
        for word, head, offset in zip(map(hex, asked), heads, offsets, strict=True)
    ]
    for at in [at for at, text in enumerate(made) if text is None]:
        answer = pieces.answer(found[at], links[at])
        made[at] = teller.line(hex(asked[at]), answer) if answer else None
    return made


def _together(columns: Sequence[Sequence[object]]) -> str:
    """Return the lines of addresses, names and offsets: one by one they take twice as long."""
    fields: list[object] = [None] * (3 * len(columns[0]))
    for at, column in enumerate(columns):
        fields[at::3] = column
    return "%#x %s+%#x\n" * len(columns[0]) % tuple(fields)


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
        is_same = asked is links
        self._asked = self._links if is_same else [asked[at] for at in order]
        self._pieces = index.pieces
        self._found = index.pieces.find(self._links, is_ascending=True)
        self._told = Told()

    def make(self) -> None:
        """Make all lines that the index knows."""
        for block, first, last in self._groups(self._layer):
            if isinstance(block, Lines):
                self._of_unit(block, first, last)
            elif block is NONE:
                part = slice(first, last)
                columns = self._found[part], self._links[part], self._asked[part]
                made = _one_by_one(self._pieces, *columns, self._teller)
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
        unit = block.texts
        if unit is None:
            unit = block.texts = UnitTexts(block, self._teller)
        found = unit.rows(self._links[part])
        unit.know(set(found[0]), set(found[1]))
        heads, values, functions = self._pieces.heads, self._pieces.values, self._pieces.functions
        names, paths, tails = unit.names, unit.paths, unit.tails
        for at, link, word, piece, node, file, line, column in zip(
            self._order[part],
            self._links[part],
            map(hex, self._asked[part]),
            self._found[part],
            *found,
            strict=True,
        ):
            path = paths[file]
            if functions[piece] == names[node] and path and line and column:  # most are alike
                offset = hex(link - values[piece])
                made[at] = f"{word} {heads[piece]}+{offset} {path}:{line}:{column}{tails[node]}"
                continue
            head, base = self._head(unit, block, piece, node) if node >= 0 else ("", 0)
            if head and path:
                place = f"{path}:{line or '?'}{f':{column}' if column else ''}{tails[node]}"
                made[at] = f"{word} {head}+{hex(link - base)} {place}"
            else:
                made[at] = self._line(word, piece, link, block)

    def _head(self, unit: UnitTexts, block: Lines, piece: int, node: int) -> Head:
        """Return what is written of a symbol in a function, where a place follows."""
        key = piece, unit.functions[node]
        head = unit.heads.get(key)
        if head is None:
            head = unit.heads[key] = self._new_head(block, *key)
        return head

    def _new_head(self, block: Lines, piece: int, function: int) -> Head:
        pieces, name = self._pieces, block.name(function)
        if name and pieces.functions[piece] == name:
            return pieces.heads[piece] or "", pieces.values[piece]
        answer = pieces.answer(piece, 0)
        if not isinstance(answer, Found) or answer.notes or not pieces.counts_all(piece):
            return "", 0
        low = block.low(function)
        self._told.frames = (Frame(name, None, None, None, inlined=False),)
        self._told.low = low
        answer = joined(answer, self._told, low)  # type: ignore[arg-type]
        assert isinstance(answer, Found)
        head, tail = self._teller.ends(answer)
        if answer.frames and answer.name != name and self._teller.caller(answer.frames[-1]):
            return "", 0  # what is written of the unit's callers has the plain name
        return ("", 0) if tail or not answer.frames else (head, answer.value)

    def _line(self, word: str, piece: int, link: int, block: Lines) -> str | None:
        """Return the line of an answer that is like no other's."""
        answer = self._pieces.answer(piece, link)
        if answer is None:
            return None
        self._told.frames, self._told.low = block.at(link)
        return self._teller.line(word, joined(answer, self._told, link))  # type: ignore[arg-type]
