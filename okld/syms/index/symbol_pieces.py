"""The symbol table's answers of an index in one table, for a great many addresses.

A block of names has five hundred answers, and a hundred thousand addresses are in all of them: to
find the block first, and then to bring what was found back in order, takes as long as all else.
"""

from __future__ import annotations

from _bisect import bisect_left, bisect_right
from itertools import repeat

from okld.syms.answer import Found
from okld.syms.index.blocks import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okld.syms.answer import Miss
    from okld.syms.index.layer import Layer


class SymbolPieces:
    """
    Pieces of the address space, each with one answer; they are numbered from 1.

    Attributes:
        heads: For each what stands between an address and the offset; "" where the answer is like
            no other's, None where it was not yet asked for.
        values: From which address its offset counts, where it has a head.
        functions: The raw name, where it is that of a function whose size is known; else "".
    """

    __slots__ = (
        "_blocks",
        "_firsts",
        "_high",
        "_layer",
        "_low",
        "_names",
        "_starts",
        "functions",
        "heads",
        "values",
    )

    def __init__(self, layer: Layer, names: Callable[[list[str]], list[str]]) -> None:
        """Stand before *layer*; *names* gives how raw names look."""
        self._layer = layer
        self._names = names
        self._low = self._high = 0
        self._clear()

    def _clear(self) -> None:
        self._starts: list[int] = []
        self._firsts: list[int] = []
        self._blocks: list[tuple[Names | None, int]] = []

    def find(self, links: Sequence[int]) -> list[int]:
        """Return for each of *links* its piece, of which the head is then known."""
        low, high = min(links), max(links) + 1
        if not self._low <= low < high <= self._high:
            self._cover(min(low, self._low) if self._high else low, max(high, self._high))
        found = list(map(bisect_right, repeat(self._starts), links))
        heads = self.heads
        self._make(sorted([piece for piece in set(found) if heads[piece] is None]))
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

    def _cover(self, low: int, high: int) -> None:
        """Take all pieces from the one of *low* on that begin before *high*."""
        self._clear()
        starts, at = self._starts, low
        while at < high:
            block, end = self._layer.find(at)
            named: Names | None = None
            first, inner = 0, list[int]()
            if isinstance(block, Names):
                named = block
                first, inner = block.pieces(at, end)
            self._firsts.append(len(starts) + 1)
            self._blocks.append((named, first))
            starts.append(at)
            starts += inner
            at = end
        self._low, self._high = low, at
        self.heads: list[str | None] = [None] * (len(starts) + 1)
        self.values = [0] * (len(starts) + 1)
        self.functions = [""] * (len(starts) + 1)

    def _make(self, pieces: list[int]) -> None:
        """Find out what is written of *pieces*, ascending ones."""
        heads, values, functions = self.heads, self.values, self.functions
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
            first -= self._firsts[home - 1]
            columns = block.ordinary([first + piece for piece in part])
            shown = iter(self._names([name for name in columns[0] if name]))
            for piece, name, value, is_function in zip(part, *columns, strict=True):
                if name:
                    heads[piece] = f" {next(shown)}+"
                    values[piece] = value
                    functions[piece] = name if is_function else ""
                else:
                    heads[piece] = ""

    def _home(self, piece: int) -> tuple[Names | None, int]:
        """Return the block of a piece, and the number of its answer there."""
        home = bisect_right(self._firsts, piece) - 1
        block, first = self._blocks[home]
        return block, block.number(first + piece - self._firsts[home]) if block else 0
