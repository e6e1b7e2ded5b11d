"""The symbol table's answers of an index in one table, for a great many addresses.

A block of names has five hundred answers, and a hundred thousand addresses are in all of them: to
find the block first, and then to bring what was found back in order, takes as long as all else.
"""

from __future__ import annotations

from _bisect import bisect_left, bisect_right
from itertools import repeat
from sys import intern

from okld.syms.answer import Found
from okld.syms.index.blocks import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okld.syms.answer import Miss
    from okld.syms.index.layer import Layer

PAGE = 20  # bits of an address in a page, of which all pieces are taken together
NEAR = 64  # ascending addresses that are in some ten pieces


class SymbolPieces:
    """
    Pieces of the address space, each with one answer; they are numbered from 1.

    Attributes:
        heads: For each what stands before the offset, without the "+"; "" where the answer is like
            no other's, None where it was not yet asked for.
        values: From which address its offset counts, where it has a head.
        functions: The raw name, where that is known to be of a function of a known size; else "".
    """

    __slots__ = (
        "_are_functions_wanted",
        "_begun",
        "_blocks",
        "_firsts",
        "_gaps",
        "_layer",
        "_names",
        "_starts",
        "functions",
        "heads",
        "values",
    )

    def __init__(
        self, layer: Layer, names: Callable[[list[str]], list[str]], *, functions: bool
    ) -> None:
        """Stand before *layer*; *names* gives how raw names look, *functions* are worth knowing."""
        self._are_functions_wanted = functions
        self._layer = layer
        self._names = names
        self._begun: list[int] = []
        self._clear()

    def _clear(self) -> None:
        self._gaps: set[int] = set()
        self._starts: list[int] = []
        self._firsts: list[int] = []
        self._blocks: list[tuple[Names | None, int]] = []

    def find(self, links: Sequence[int], *, is_ascending: bool = False) -> list[int]:
        """Return for each of *links* its piece, of which the head is then known."""
        if not self._starts:
            self._cover(links)
        search = self._ascending if is_ascending else self._any
        found = search(links)
        new = self._new(found)
        if not self._gaps.isdisjoint(new):
            self._cover(links)
            found = search(links)
            new = self._new(found)
        self._make(new)
        return found

    def _new(self, found: list[int]) -> list[int]:
        heads = self.heads
        return sorted([piece for piece in set(found) if heads[piece] is None])

    def _any(self, links: Sequence[int]) -> list[int]:
        return list(map(bisect_right, repeat(self._starts), links))

    def _ascending(self, links: Sequence[int]) -> list[int]:
        """Return the pieces of ascending links, of which each that is near halves a part only."""
        starts, found = self._starts, list[int]()
        low = 0
        for at in range(0, len(links), NEAR):
            some = links[at : at + NEAR]
            high = bisect_right(starts, some[-1], low)
            found += map(bisect_right, repeat(starts), some, repeat(low), repeat(high))
            low = high
        return found

    def answer(self, piece: int, link: int) -> Found | Miss | None:
        """Return the answer for a link address in a piece, or None where it is not known."""
        block, number = self._home(piece)
        if block is None:
            return None
        answer, mask = block.answer(number)
        if isinstance(answer, Found):
            answer.offset = (link & mask) - answer.value
        return answer

    def counts_all(self, piece: int) -> bool:
        """Say whether all bits of an address in a piece count, of which the answer is known."""
        block, number = self._home(piece)
        return block is not None and block.answer(number)[1] == -1

    def _cover(self, links: Sequence[int]) -> None:
        """Take all pieces on the pages of *links*, and those that were taken before."""
        pages = {page << PAGE for page in {link >> PAGE for link in links}}
        pages.update(self._begun)
        self._begun = []
        self._clear()
        end = 0
        for page in sorted(pages):
            if page > end:
                self._leave_out(end)
                self._begun.append(page)
                end = page
            while end < page + (1 << PAGE):
                end = self._take(end)
        self._leave_out(end)
        count = len(self._starts) + 1
        self.heads: list[str | None] = [None] * count
        self.values = [0] * count
        self.functions = [""] * count

    def _leave_out(self, start: int) -> None:
        """Have a piece of which nothing is known; more is taken when it is asked for."""
        self._starts.append(start)
        self._gaps.add(len(self._starts))

    def _take(self, start: int) -> int:
        """Take the pieces of a block from *start* on; return where it ends."""
        block, end = self._layer.find(start)
        named: Names | None = None
        first, inner = 0, list[int]()
        if isinstance(block, Names):
            named = block
            first, inner = block.pieces(start, end)
        self._firsts.append(len(self._starts) + 1)
        self._blocks.append((named, first))
        self._starts.append(start)
        self._starts += inner
        return end

    def _make(self, pieces: list[int]) -> None:
        """Find out what is written of *pieces*, ascending ones."""
        heads = self.heads
        at = 0
        while at < len(pieces):
            home = bisect_right(self._firsts, pieces[at])
            end = self._firsts[home] if home < len(self._firsts) else len(heads)
            part = pieces[at : bisect_left(pieces, end, at)]
            at += len(part)
            block, first = self._blocks[home - 1]
            if block is None:
                for piece in part:
                    heads[piece] = ""
                continue
            self._make_in(block, first - self._firsts[home - 1], part)

    def _make_in(self, block: Names, before: int, pieces: list[int]) -> None:
        """Find out what is written of *pieces*, whose numbers in the block are *before* more."""
        heads, values, functions = self.heads, self.values, self.functions
        inner = [before + piece for piece in pieces]
        names, starts = block.ordinary(inner)
        shown = iter(self._names([name for name in names if name]))
        for piece, name, start in zip(pieces, names, starts, strict=True):
            heads[piece] = next(shown) if name else ""
            values[piece] = start
        if self._are_functions_wanted:
            for piece, name, each in zip(pieces, names, inner, strict=True):
                functions[piece] = intern(name) if name and block.is_function(each) else ""

    def _home(self, piece: int) -> tuple[Names | None, int]:
        """Return the block of a piece, and the number of its answer there."""
        home = bisect_right(self._firsts, piece) - 1
        block, first = self._blocks[home]
        return block, block.number(first + piece - self._firsts[home]) if block else 0
