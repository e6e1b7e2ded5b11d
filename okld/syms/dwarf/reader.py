"""From an address to functions, files and lines, reading only the unit that holds it."""

from __future__ import annotations

from okld.base.errors import OkError, printable
from okld.syms.answer import Frame
from okld.syms.dwarf.codes import (
    AT_CALL_COLUMN,
    AT_CALL_FILE,
    AT_CALL_LINE,
    AT_COMP_DIR,
    AT_STMT_LIST,
)
from okld.syms.dwarf.frames import scopes_at
from okld.syms.dwarf.leb import PAST_THE_END, damage
from okld.syms.dwarf.line_header import LineHeader
from okld.syms.dwarf.lines import row_at
from okld.syms.dwarf.names import name_of
from okld.syms.dwarf.ranges import Code
from okld.syms.dwarf.source import Budget
from okld.syms.dwarf.unit import Unit
from okld.syms.dwarf.unit_map import UnitMap
from okld.syms.dwarf.units import Units
from okld.syms.dwarf.values import LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from okld.syms.dwarf.frames import Scope
    from okld.syms.dwarf.lines import Row
    from okld.syms.dwarf.source import DebugBytes
    from okld.syms.dwarf.unit_map import UnitHead
    from okld.syms.dwarf.units import Companions

MAX_NUMBER = 0xFFFFFFFF
"""The greatest line and column: wider ones are damage."""

MANY = 16  # notes; a damaged table of strings would make one for each


class Lines:
    """
    What debug information says of an address.

    Attributes:
        frames: Innermost first, the function itself last; a line that belongs to no function is
            one frame whose name is "". None where only `notes` are left.
        low: The function's lowest link address, or None.
        notes: What was lost on the way, a line each.
    """

    __slots__ = ("frames", "low", "notes")

    def __init__(
        self, frames: tuple[Frame, ...], low: int | None, notes: tuple[str, ...] = ()
    ) -> None:
        """State them."""
        self.frames = frames
        self.low = low
        self.notes = notes


class Dwarf:
    """One file's debug information."""

    __slots__ = ("_budget", "_map", "_splits", "_units")

    def __init__(
        self,
        sections: DebugBytes,
        *,
        code: Sequence[tuple[int, int]],
        companions: Companions | None = None,
    ) -> None:
        """Stand before *sections*; *code*: where code can lie, as (start, end) link addresses."""
        self._budget = Budget()
        self._units = Units(sections, Code(code), companions, self._budget)
        self._map = UnitMap(self._units)
        self._splits: dict[int, tuple[Unit, str]] = {}

    def lookup(self, address: int) -> Lines | None:
        """
        Return what is known of a link address, or None where that is nothing.

        What is damaged is a note, and the rest is the answer.
        """
        try:
            unit = self.unit_at(address)
        except OkError as error:
            return Lines((), None, (str(error),))
        if unit:
            return self._lookup_in(unit, address)
        return Lines((), None, (self._map.damage,)) if self._map.damage else None

    def lookup_in(self, unit: Unit, address: int) -> Lines | None:
        """Return what `lookup` does, of a link address that is known to be in *unit*."""
        self._budget.begin()
        return self._lookup_in(unit, address)

    def _lookup_in(self, unit: Unit, address: int) -> Lines | None:
        notes: list[str] = []
        entries = self.entries(unit, notes)
        scopes: list[Scope] = []
        header: LineHeader | None = None
        row: Row | None = None
        try:
            scopes = scopes_at(entries, address)
        except (OkError, *PAST_THE_END) as error:
            notes.append(damage("functions", error))
        try:
            header = line_header(unit)
            row = row_at(header, address) if header else None
        except (OkError, *PAST_THE_END) as error:
            notes.append(damage("lines", error))
        return self._answer(entries, scopes, header, row, notes)

    def _answer(
        self,
        unit: Unit,
        scopes: list[Scope],
        header: LineHeader | None,
        row: Row | None,
        notes: list[str],
    ) -> Lines | None:
        file, line, column = row or (None, 0, 0)
        frames = []
        if row and not scopes:
            path = path_of(header, file, notes)
            frames.append(_frame("", path, line, column, inlined=False))
        for depth in range(len(scopes) - 1, -1, -1):
            scope = scopes[depth]
            name = name_in(scope, notes)
            path = path_of(header, file, notes)
            frames.append(_frame(name, path, line, column, inlined=depth > 0))
            file, line, column = call_site(scope)
        if any(LOST in (frame.file or "") or frame.function == LOST for frame in frames):
            notes.append(str(unit.units.alternate))
        if not frames and not notes:
            return None
        low = _low(scopes[0], notes) if scopes else None
        return Lines(tuple(frames), low, tuple(notes))

    def lookup_many(self, addresses: Iterable[int]) -> list[Lines | None]:
        """Return what `lookup` does for each, in the same order; each unit is read once."""
        from okld.syms.dwarf.tabulate import lookup_many

        return lookup_many(self, list(addresses))

    def units(self) -> list[UnitHead]:
        """Return all units that have code, by offset."""
        self._budget.begin(whole=True)
        return self._map.heads()

    def head_at(self, address: int) -> UnitHead | None:
        """Return the one of `units` that has a link address, or None."""
        self._budget.begin(whole=True)
        return self._map.head(address)

    def unit_at(self, address: int) -> Unit | None:
        """
        Return the unit that has a link address, or None.

        Raises:
            FormatError: If its header is damaged (LIN-1).
        """
        self._budget.begin()
        return self._map.find(address)

    def unit(self, offset: int) -> Unit:
        """
        Return the unit whose header is at *offset* of `.debug_info`.

        Raises:
            FormatError: If there is none (LIN-1).
        """
        return self._units.unit(offset)

    def entries(self, unit: Unit, notes: list[str]) -> Unit:
        """
        Return the unit that has the entries of *unit*: itself, or the one split off from it.

        Why a split unit is missing is added to *notes*.
        """
        found = self._splits.get(unit.offset)
        if found is None:
            found = self._splits[unit.offset] = self._split(unit)
        if found[1]:
            notes.append(found[1])
        return found[0]

    def _split(self, unit: Unit) -> tuple[Unit, str]:
        units = self._units
        try:
            name = unit.dwo_name
            if name is None:
                return unit, ""
            dwo_id = unit.dwo_id
            if units.companions is None or dwo_id is None:
                return unit, f"split unit {printable(name)} is not looked for"
            found = units.companions.dwo(name, unit.text(AT_COMP_DIR) or "", dwo_id)
            if isinstance(found, str):
                return unit, found
            split = Units(found.sections, units.code, budget=self._budget)
            return Unit(split, "info", found.offset, skeleton=unit), ""
        except (OkError, *PAST_THE_END) as error:
            return unit, damage("a split unit", error)


def line_header(unit: Unit) -> LineHeader | None:
    """
    Return the line program of a unit, or None where it has none.

    Raises:
        FormatError: If it is damaged (LIN-1).
    """
    offset = unit.number(AT_STMT_LIST)
    return None if offset is None else LineHeader(unit, offset)


def call_site(scope: Scope) -> tuple[int | None, int, int]:
    """Return the number of the file or None, the line and the column that a call was in."""
    kind, file = scope.abbrev.typed(scope.values, AT_CALL_FILE)
    return (
        file if kind else None,
        _constant(scope, AT_CALL_LINE),
        _constant(scope, AT_CALL_COLUMN),
    )


def _constant(scope: Scope, attribute: int) -> int:
    raw = scope.values.get(attribute, 0)
    return raw if isinstance(raw, int) else scope.abbrev.typed(scope.values, attribute)[1]


def path_of(header: LineHeader | None, file: int | None, notes: list[str]) -> str | None:
    """Return the path of a file by its number, or None; why it cannot be read is noted."""
    if header is None or file is None:
        return None
    try:
        return header.path(file)
    except (OkError, *PAST_THE_END) as error:
        _note(notes, damage("files", error))
        return None


def name_in(scope: Scope, notes: list[str]) -> str:
    """Return the name of a scope; why it cannot be read is noted."""
    try:
        return name_of(scope.unit, scope.at, scope.abbrev, scope.values)
    except (OkError, *PAST_THE_END) as error:
        _note(notes, damage("a name", error))
        return ""


def _low(scope: Scope, notes: list[str]) -> int | None:
    try:
        return scope.low()
    except (OkError, *PAST_THE_END) as error:
        _note(notes, damage("ranges", error))
        return None


def _note(notes: list[str], note: str) -> None:
    if len(notes) < MANY and note not in notes:
        notes.append(note)


def _frame(name: str, path: str | None, line: int, column: int, *, inlined: bool) -> Frame:
    return Frame(name, path, bounded(line) or None, bounded(column) or None, inlined=inlined)


def bounded(number: int) -> int:
    """Return a line or a column; 0, which means none, for what is none."""
    return number if 0 < number <= MAX_NUMBER else 0
