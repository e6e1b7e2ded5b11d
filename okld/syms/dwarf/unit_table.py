"""All that a unit says of its addresses, in sorted tables: what an index keeps.

`tabulate` makes one from debug information, an index from its own file; `frames_at` is how either
becomes an answer.
"""

from __future__ import annotations

from _bisect import bisect_right

from okld.syms.answer import Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Place = tuple[int, int, int]
    Node = tuple[str, int, int, int, int, int]


class UnitTable:
    """
    One unit. All addresses are link addresses; -1 stands for none among indices.

    Attributes:
        ranges: The unit's own (low, high), ascending.
        row_starts: Where another row of the line table begins, ascending.
        rows: For each of them the index in `places`, or -1: up to the next start there is none.
        places: (index in `files` or -1, line or 0, column or 0).
        scope_starts: Where another function or inlined call begins, ascending.
        scopes: For each of them the index in `nodes` of the innermost, or -1.
        nodes: (raw name, index of the node that this one is inlined into or -1, index in `files`
            of the call or -1, line of the call or 0, its column or 0, lowest address).
        files: Paths of source files, with the directory they were compiled in.
        notes: What was lost on the way, a line each.
    """

    __slots__ = (
        "files",
        "nodes",
        "notes",
        "places",
        "ranges",
        "row_starts",
        "rows",
        "scope_starts",
        "scopes",
    )

    def __init__(
        self,
        *,
        ranges: Sequence[tuple[int, int]],
        row_starts: Sequence[int],
        rows: Sequence[int],
        places: Sequence[Place],
        scope_starts: Sequence[int],
        scopes: Sequence[int],
        nodes: Sequence[Node],
        files: Sequence[str],
        notes: tuple[str, ...] = (),
    ) -> None:
        """State a unit; the sequences are kept, not copied."""
        self.ranges = ranges
        self.row_starts = row_starts
        self.rows = rows
        self.places = places
        self.scope_starts = scope_starts
        self.scopes = scopes
        self.nodes = nodes
        self.files = files
        self.notes = notes


def frames_at(table: UnitTable, address: int) -> tuple[tuple[Frame, ...], int | None]:
    """
    Return the frames of a link address, innermost first, and the function's lowest address.

    There are none where the unit has neither a function nor a line for it; a line without a
    function gives one frame whose name is "".
    """
    at = bisect_right(table.row_starts, address) - 1
    row = table.rows[at] if at >= 0 else -1
    at = bisect_right(table.scope_starts, address) - 1
    node = table.scopes[at] if at >= 0 else -1
    file, line, column = table.places[row] if row >= 0 else (-1, 0, 0)
    if node < 0:
        alone = Frame("", _path(table, file), line or None, column or None, inlined=False)
        return ((alone,) if row >= 0 else ()), None
    frames = []
    low = 0
    while node >= 0:
        name, outer, call_file, call_line, call_column, low = table.nodes[node]
        path = _path(table, file)
        frames.append(Frame(name, path, line or None, column or None, inlined=outer >= 0))
        file, line, column = call_file, call_line, call_column
        node = outer
    return tuple(frames), low


def _path(table: UnitTable, file: int) -> str | None:
    return table.files[file] if file >= 0 else None
