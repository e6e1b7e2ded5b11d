"""A whole unit at once: for an index, and for many addresses."""

from __future__ import annotations

from _bisect import bisect_left, bisect_right
from _struct import Struct

from okld.base.errors import FormatError, OkError
from okld.base.limits import MAX_FRAMES, MAX_NESTING
from okld.syms.dwarf.codes import FUNCTIONS, SPACES, TAG_SUBPROGRAM
from okld.syms.dwarf.frames import Scope, hop
from okld.syms.dwarf.leb import PAST_THE_END, damage
from okld.syms.dwarf.lines import sequences
from okld.syms.dwarf.ranges import ranges_of
from okld.syms.dwarf.reader import Lines, bounded, call_site, line_header, name_in, path_of
from okld.syms.dwarf.stretches import flatten
from okld.syms.dwarf.unit_table import UnitTable, frames_at
from okld.syms.dwarf.values import LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.line_header import LineHeader
    from okld.syms.dwarf.ranges import Ranges
    from okld.syms.dwarf.reader import Dwarf
    from okld.syms.dwarf.stretches import Span
    from okld.syms.dwarf.unit import Unit
    from okld.syms.dwarf.unit_table import Node, Place

    State = tuple[int, Ranges, int, bool]
    """Node, its ranges, the rank of its function, whether no function or type is around it."""

FEW = 4  # addresses in a unit that are cheaper to look up one by one than by a table
LARGE = 1 << 17  # bytes of a unit, for each of which one address more is
NODE = 128  # steps of work for a range of a function; half a million of them fill memory
INNER = 1 << 31
"""Added to the ranks of functions inside functions and types: `scopes_at` looks there last."""


class _Files:
    """Paths by the numbers that a line program gives them."""

    def __init__(self, header: LineHeader | None, notes: list[str]) -> None:
        self.paths: list[str] = []
        self._header = header
        self._notes = notes
        self._known: dict[int, int] = {}

    def index(self, file: int | None) -> int:
        if file is None:
            return -1
        known = self._known.get(file)
        if known is None:
            path = path_of(self._header, file, self._notes)
            known = -1 if path is None else len(self.paths)
            self._known[file] = known
            if path is not None:
                self.paths.append(path)
        return known


def tabulate(dwarf: Dwarf, unit: Unit) -> UnitTable:
    """
    Return all that a unit says of its addresses.

    What is damaged is a note, and the rest is in the table.
    """
    notes: list[str] = []
    entries = dwarf.entries(unit, notes)
    unit.units.source.budget.begin(whole=True)
    ranges: Ranges = []
    header: LineHeader | None = None
    rows: tuple[list[int], list[int], list[Place]] = [], [], []
    scopes: tuple[list[int], list[int], list[Node]] = [], [], []
    try:
        header = line_header(unit)
    except (OkError, *PAST_THE_END) as error:
        notes.append(damage("lines", error))
    files = _Files(header, notes)
    try:
        abbrev, values, _ = unit.root()
        ranges = sorted(ranges_of(unit, abbrev, values))
        if header:
            rows = _rows(header, files)
    except (OkError, *PAST_THE_END) as error:
        notes.append(damage("lines", error))
    try:
        walk = _Walk(entries, files, notes)
        scopes = *flatten(walk.spans), walk.nodes
    except (OkError, *PAST_THE_END) as error:
        notes.append(damage("functions", error))
    if LOST in "".join(files.paths) or any(node[0] == LOST for node in scopes[2]):
        notes.append(str(entries.units.alternate))
    return UnitTable(
        ranges=ranges,
        row_starts=rows[0],
        rows=rows[1],
        places=rows[2],
        scope_starts=scopes[0],
        scopes=scopes[1],
        nodes=scopes[2],
        files=files.paths,
        notes=tuple(notes),
    )


def _rows(header: LineHeader, files: _Files) -> tuple[list[int], list[int], list[Place]]:
    known = list(sequences(header))
    spans: list[Span] = [(s.low, s.high, n, n) for n, s in enumerate(known)]
    bounds, owners = flatten(spans)
    places = dict.fromkeys([row for sequence in known for row in sequence.rows])
    numbers = dict(zip(places, range(len(places)), strict=True))
    starts: list[int] = []
    rows: list[int] = []
    for bound, end, owner in zip(bounds, [*bounds, 0][1:], owners, strict=True):
        if owner < 0:
            starts.append(bound)
            rows.append(-1)
            continue
        sequence = known[owner]
        first = bisect_right(sequence.starts, bound) - 1
        last = bisect_left(sequence.starts, end)
        before, at = -2, -1
        for start, row in zip(
            [bound, *sequence.starts[first + 1 : last]],
            map(numbers.__getitem__, sequence.rows[first:last]),
            strict=True,
        ):
            if row == before:
                continue
            before = row
            if start == at:
                rows[-1] = row
            else:
                at = start
                starts.append(start)
                rows.append(row)
    paths = {file: files.index(file) for file in dict.fromkeys(file for file, _, _ in places)}
    shown = [(paths[file], bounded(line), bounded(column)) for file, line, column in places]
    return starts, rows, shown


class _Walk:
    """A walk through all entries of a unit, from the root down."""

    def __init__(self, unit: Unit, files: _Files, notes: list[str]) -> None:
        self.spans: list[Span] = []
        self.nodes: list[Node] = []
        self._depths: list[int] = []
        self._unit = unit
        self._files = files
        self._notes = notes
        self._functions = 1
        self._walk()

    def _walk(self) -> None:
        unit = self._unit
        data, abbrevs = unit.data, unit.abbrevs
        steps, hops = abbrevs.steps, unit.inner_hops
        word = Struct(unit.encoding.order + "I").unpack_from
        abbrev, _, at = unit.root()
        end = len(data) if abbrev.children else at
        outer: list[State] = []
        state: State = (-1, [], 0, True)
        budget = unit.units.source.budget
        for _ in budget.entries:
            if at >= end:
                return
            code = data[at]
            if steps[code]:
                at += steps[code]
            elif hops[code]:
                at = hop(at, word(data, at + hops[code])[0])
            elif not code:
                at += 1
                if not outer:
                    return
                state = outer.pop()
            else:
                start = at
                abbrev, at = abbrevs.at(data, at)
                budget.spend(abbrev.cost)
                inner = state
                if abbrev.scope:
                    values, at = abbrev.read(data, at)
                    inner = self._enter(start, abbrev, values, state)
                else:
                    at = abbrev.skip(data, at)
                    if abbrev.tag == TAG_SUBPROGRAM:
                        inner = (-1, [], 0, False)
                    elif abbrev.tag not in SPACES:
                        inner = (*state[:3], False)
                if abbrev.children:
                    if len(outer) >= MAX_NESTING:
                        raise FormatError("LIN-14", "entries inside entries", limit=MAX_NESTING)
                    outer.append(state)
                    state = inner
        raise budget.too_many(unit.offset + at)

    def _enter(self, at: int, abbrev: Abbrev, values: Values, state: State) -> State:
        """Note a scope that has addresses; return what holds for the entries that hang on it."""
        unit = self._unit
        node, within, base, direct = state
        ranges = ranges_of(unit, abbrev, values)
        if abbrev.tag == TAG_SUBPROGRAM:
            if not ranges:
                return -1, [], 0, False
            unit.units.source.spend(len(ranges) * len(within))
            if node < 0 or _clip(ranges, within) != ranges:
                base = self._functions + (0 if direct else INNER) << 32
                self._functions += 1
            node = -1
        elif node < 0:
            return state
        else:
            unit.units.source.spend(len(ranges) * len(within))
            ranges = _clip(ranges, within)
        if abbrev.tag not in FUNCTIONS or not ranges:
            return node, ranges, base, False
        unit.units.source.spend(NODE * len(ranges))
        scope = Scope(unit, at, abbrev, values, -1)
        file, line, column = call_site(scope)
        name = name_in(scope, self._notes)
        index = len(self.nodes)
        self._depths.append(self._depths[node] + 1 if node >= 0 else 1)
        if self._depths[index] > MAX_FRAMES:
            raise FormatError("LIN-14", "inlined calls", got=MAX_FRAMES + 1, limit=MAX_FRAMES)
        call = self._files.index(file), bounded(line), bounded(column)
        self.nodes.append((name, node, *call, min(ranges)[0]))
        for low, high in ranges:
            self.spans.append((low, high, base - index, index))
        return index, ranges, base, False


def _clip(ranges: Ranges, within: Ranges) -> Ranges:
    """Return the parts of *ranges* that lie in *within*."""
    if len(ranges) == 1 == len(within):
        (low, high), (first, last) = ranges[0], within[0]
        if first <= low and high <= last:
            return ranges
    return [
        (max(low, first), min(high, last))
        for low, high in ranges
        for first, last in within
        if low < last and first < high
    ]


def lookup_many(dwarf: Dwarf, addresses: list[int]) -> list[Lines | None]:
    """Return what `Dwarf.lookup` does for each address, in the same order."""
    if len(addresses) < FEW:
        return [dwarf.lookup(address) for address in addresses]
    asked: dict[int, list[int]] = {}
    for index, address in enumerate(addresses):
        head = dwarf.head_at(address)
        if head:
            asked.setdefault(head.offset, []).append(index)
    found: list[Lines | None] = [None] * len(addresses)
    for offset, indices in sorted(asked.items()):
        _answer(dwarf, offset, addresses, indices, found)
    return found


def _answer(
    dwarf: Dwarf, offset: int, addresses: list[int], indices: list[int], found: list[Lines | None]
) -> None:
    """Fill in what the unit at *offset* says of the addresses at *indices*."""
    try:
        unit = dwarf.unit(offset)
    except OkError as error:
        for index in indices:
            found[index] = Lines((), None, (str(error),))
        return
    if len(indices) < FEW + unit.size // LARGE:
        for index in indices:
            found[index] = dwarf.lookup_in(unit, addresses[index])
        return
    table = tabulate(dwarf, unit)
    for index in indices:
        frames, low = frames_at(table, addresses[index])
        if frames or table.notes:
            found[index] = Lines(frames, low, table.notes)
