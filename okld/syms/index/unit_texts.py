"""What is written of a unit's functions and places, each made once: many addresses are at them."""

from __future__ import annotations

from okld.syms.index.format import Unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.index.blocks import Lines
    from okld.syms.index.bulk import Teller

    Function = tuple[str, int]
    """A function's name and its lowest address."""


class UnitTexts:
    """
    The texts of one unit.

    Attributes:
        functions: Of each function or inlined call that `know` was told of, the function.
        tails: Of each, what stands behind a place.
    """

    __slots__ = ("_block", "_paths", "_teller", "functions", "tails")

    def __init__(self, block: Lines, teller: Teller) -> None:
        """Begin with none; *teller* says how names and paths look."""
        self._block = block
        self._teller = teller
        block.strings.decode()
        self._paths: dict[int, str] = {}
        self.functions: dict[int, Function] = {}
        self.tails: dict[int, str] = {}

    def know(self, nodes: set[int]) -> None:
        """
        Find out what is written of *nodes*; -1 is none of them.

        Raises:
            Unusable: If they are not as they should be.
        """
        name, block, outers = self._teller.name, self._block, self._block.outers
        for node in nodes.difference(self.tails, (-1,)):
            if outers[node] < 0:
                self.functions.setdefault(node, (block.name(node), block.low(node)))
                self.tails[node] = "\n"
            else:
                self.tails[node] = f" in {name(block.name(node))}{self._find_callers(node)}\n"

    def _find_callers(self, node: int) -> str:
        """Return the lines of the callers of an inlined call, and note what function it is in."""
        block, outers = self._block, self._block.outers
        inner: list[int] = []
        while outers[node] >= 0:
            if len(inner) > len(outers):
                raise Unusable("calls that are inlined into themselves")
            inner.append(node)
            node = outers[node]
        function = self.functions.get(node)
        if function is None:
            function = self.functions[node] = block.name(node), block.low(node)
        text = ""
        for node in reversed(inner):
            self.functions[node] = function
            text = self._teller.caller(block.caller(node)) + text
        return text

    def paths(self, files: list[int]) -> dict[int, str]:
        """Return what stands between an offset and a line, for each of *files* but -1."""
        known, strings = self._paths, self._block.strings
        for file in set(files).difference(known, (-1,)):
            known[file] = f" {self._teller.path(strings[file])}:"
        return known
