"""What is written of a unit's functions and places, each made once: many addresses are at them."""

from __future__ import annotations

from _bisect import bisect_right
from _operator import itemgetter
from itertools import repeat
from sys import intern

from okld.syms.index.format import Unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.index.blocks import Lines
    from okld.syms.index.bulk import Head, Teller


class UnitTexts:
    """
    The texts of one unit.

    Attributes:
        functions: Of each function or inlined call that `know` was told of, the function's number.
        names: Of each, the function's raw name; None where it has none, and of -1.
        tails: Of each, what stands behind a place; of -1 "".
        paths: Of each file that `know` was told of, what stands before a line; None of those that
            are none.
        heads: What `okld.syms.index.bulk` has found out, by piece and function.
    """

    __slots__ = ("_block", "_teller", "functions", "heads", "names", "paths", "tails")

    def __init__(self, block: Lines, teller: Teller) -> None:
        """Begin with none; *teller* says how names and paths look."""
        self._block = block
        self._teller = teller
        block.strings.decode()
        self.functions: dict[int, int] = {}
        self.names: dict[int, str | None] = {-1: None}
        self.tails = {-1: ""}
        self.paths: dict[int, str | None] = {}
        self.heads: dict[tuple[int, int], Head] = {}

    def rows(self, addresses: Sequence[int]) -> list[Sequence[int]]:
        """
        Return for link addresses that the directory has led here the numbers of the functions or
        inlined calls and of the files' paths, the lines and the columns, a sequence each.
        """
        base, starts, columns = self._block.steps
        inside = [address - base for address in addresses]
        found = list(map(bisect_right, repeat(starts), inside))
        if len(found) == 1:  # of one, an itemgetter gives no tuple
            return [column[found[0] : found[0] + 1] for column in columns]
        return list(map(itemgetter(*found), columns))

    def know(self, nodes: set[int], files: set[int]) -> None:
        """
        Find out what is written of functions or inlined calls, and of files.

        Raises:
            Unusable: If they are not as they should be.
        """
        block, teller = self._block, self._teller
        for node in nodes.difference(self.tails):
            if block.outers[node] < 0:
                self._note(node, node)
                self.tails[node] = "\n"
            else:
                name = teller.name(block.name(node))
                self.tails[node] = f" in {name}{self._find_callers(node)}\n"
        for file in files.difference(self.paths):
            self.paths[file] = teller.path(block.strings[file]) if file >= 0 else None

    def _note(self, node: int, function: int) -> None:
        self.functions[node] = function
        if function in self.names:
            self.names[node] = self.names[function]
        else:
            self.names[node] = self.names[function] = intern(self._block.name(function)) or None

    def _find_callers(self, node: int) -> str:
        """Return the lines of the callers of an inlined call, and note what function it is in."""
        block, outers = self._block, self._block.outers
        inner: list[int] = []
        while outers[node] >= 0:
            if len(inner) > len(outers):
                raise Unusable("calls that are inlined into themselves")
            inner.append(node)
            node = outers[node]
        text = ""
        for each in reversed(inner):
            self._note(each, node)
            text = self._teller.caller(block.caller(each)) + text
        return text
