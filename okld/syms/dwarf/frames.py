"""Functions and inlined calls at one address, without reading the whole unit.

A unit is a tree, written from the root down, without an index. Where a compiler states siblings,
the walk hops over everything that cannot hold the address; else it has to step over it.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_FRAMES
from okld.syms.dwarf.codes import AT_SIBLING, BLOCKS, FUNCTIONS, SPACES, TAG_SUBPROGRAM
from okld.syms.dwarf.forms import REFERENCE, REFERENCE_INFO
from okld.syms.dwarf.leb import RULE, WORDS
from okld.syms.dwarf.ranges import covers, ranges_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.abbreviation import Abbrev, Values
    from okld.syms.dwarf.unit import Unit


ANYWHERE = 1 << 62  # a depth that nothing ends
UNKNOWN = 0, None, 0  # as `Abbrevs.far` has what is not in it


class Scope:
    """
    A function, or a call inlined into one.

    Attributes:
        unit: The unit that its entry is in.
        at: Position of its entry.
        abbrev: The entry's abbreviation.
        values: The entry's values.
        inner: Where the entries that hang on it begin; -1: there are none.
    """

    __slots__ = ("abbrev", "at", "inner", "unit", "values")

    def __init__(self, unit: Unit, at: int, abbrev: Abbrev, values: Values, inner: int) -> None:
        """State them; *inner*: where the entry's own values end."""
        self.unit = unit
        self.at = at
        self.abbrev = abbrev
        self.values = values
        self.inner = inner if abbrev.children else -1

    def low(self) -> int:
        """
        Return the lowest of its link addresses, of which it has one.

        Raises:
            FormatError: As `ranges_of` does.
        """
        return min(low for low, _ in ranges_of(self.unit, self.abbrev, self.values))


def scopes_at(unit: Unit, address: int) -> list[Scope]:
    """
    Return the function that holds a link address, and the calls inlined there, innermost last.

    The first function of the unit that holds it: those of namespaces before those inside of
    functions and types, which are searched only then.

    Raises:
        FormatError: If the unit is not as DWARF has it (LIN-1).
    """
    function = _function(unit, address) or _inner_function(unit, address)
    if function is None:
        return []
    scopes = [function]
    at = function.inner
    while at >= 0:
        scope = _inner_scope(unit, at, address)
        if scope is None:
            break
        if scope.abbrev.tag == TAG_SUBPROGRAM:
            scopes.clear()
        if scope.abbrev.tag in FUNCTIONS:
            scopes.append(scope)
        if len(scopes) > MAX_FRAMES:
            raise FormatError("LIN-14", "inlined calls", got=len(scopes), limit=MAX_FRAMES)
        at = scope.inner
    return scopes


def _function(unit: Unit, address: int) -> Scope | None:
    """Return the first function of the unit itself and its namespaces that has the address."""
    abbrev, _, at = unit.root()
    depth = 0 if abbrev.children else -1
    while True:
        start, depth = _next(unit, at, depth, unit.abbrevs.hops)
        if start < 0:
            return None
        abbrev, at = _abbrev(unit, start)
        if abbrev.scope and abbrev.tag == TAG_SUBPROGRAM:
            values, inner = abbrev.read(unit.data, at)
            if covers(unit, abbrev, values, address):
                return Scope(unit, start, abbrev, values, inner)
            at = after(unit, abbrev, values, inner)
        elif abbrev.tag in SPACES:
            at = abbrev.skip(unit.data, at)
            depth += abbrev.children
        else:
            at = past(unit, abbrev, at)


def _inner_function(unit: Unit, address: int) -> Scope | None:
    """Return the first function, wherever in the unit, that has the address."""
    at = unit.root()[2]
    while True:
        start, _ = _next(unit, at, ANYWHERE, unit.inner_hops)
        if start < 0:
            return None
        abbrev, at = _abbrev(unit, start)
        if abbrev.scope and abbrev.tag == TAG_SUBPROGRAM:
            values, at = abbrev.read(unit.data, at)
            if covers(unit, abbrev, values, address):
                return Scope(unit, start, abbrev, values, at)
        else:
            at = abbrev.skip(unit.data, at)


def _inner_scope(unit: Unit, at: int, address: int) -> Scope | None:
    """Return the first scope that has the address, of those from *at* on that have one parent."""
    depth = 0
    while True:
        start, depth = _next(unit, at, depth, unit.abbrevs.hops)
        if start < 0:
            return None
        abbrev, at = _abbrev(unit, start)
        if abbrev.scope:
            values, inner = abbrev.read(unit.data, at)
            if covers(unit, abbrev, values, address):
                return Scope(unit, start, abbrev, values, inner)
            at = after(unit, abbrev, values, inner)
        elif abbrev.tag in BLOCKS:
            at = abbrev.skip(unit.data, at)
            depth += abbrev.children
        else:
            at = past(unit, abbrev, at)


def _next(unit: Unit, at: int, depth: int, hops: list[int]) -> tuple[int, int]:
    """
    Return the position of the first entry from *at* on that has to be looked at, and how deep it
    is where the one at *at* is *depth* deep; -1 for the position where all above depth 0 are over.
    """
    data, steps = unit.data, unit.abbrevs.steps
    word = WORDS[unit.encoding.order]
    budget = unit.units.source.budget
    if depth < 0:
        return -1, depth
    try:
        for _ in budget.entries:
            code = data[at]
            if steps[code]:
                at += steps[code]
            elif hops[code]:
                sibling = word(data, at + hops[code])[0]
                at = sibling if sibling > at else hop(at, sibling)
            elif code:
                return at, depth
            else:
                at += 1
                depth -= 1
                if depth < 0:
                    return -1, depth
    except IndexError:  # the unit ends here
        return -1, depth
    raise budget.too_many(unit.offset + at)


def _abbrev(unit: Unit, at: int) -> tuple[Abbrev, int]:
    """Return the abbreviation of the entry at *at*, which is paid for, and where values begin."""
    abbrev, at = unit.abbrevs.at(unit.data, at)
    unit.units.source.budget.spend(abbrev.cost)
    return abbrev, at


def hop(at: int, sibling: int) -> int:
    """
    Return the position of a sibling of the entry at *at*.

    Raises:
        FormatError: If it leads back (LIN-1).
    """
    if sibling <= at:
        raise FormatError(RULE, "sibling of an entry", got=sibling, limit=at)
    return sibling


def past(unit: Unit, abbrev: Abbrev, at: int) -> int:
    """Return where the entry whose values begin at *at* ends, with all that hangs on it."""
    if not abbrev.children:
        return abbrev.skip(unit.data, at)
    if AT_SIBLING not in abbrev.forms:
        return _children_end(unit, abbrev.skip(unit.data, at))
    values, inner = abbrev.read(unit.data, at)
    return after(unit, abbrev, values, inner)


def after(unit: Unit, abbrev: Abbrev, values: Values, inner: int) -> int:
    """Return where what hangs on an entry ends, which begins at *inner*."""
    if not abbrev.children:
        return inner
    kind, sibling = abbrev.typed(values, AT_SIBLING)
    if kind == REFERENCE_INFO:
        sibling -= unit.offset
    elif kind != REFERENCE:
        return _children_end(unit, inner)
    if not inner < sibling <= unit.size:
        raise FormatError(RULE, "sibling of an entry", got=sibling, limit=unit.size)
    return sibling


def _children_end(unit: Unit, at: int) -> int:
    data, abbrevs = unit.data, unit.abbrevs
    lengths, nests, variables, far = abbrevs.lengths, abbrevs.nests, abbrevs.variables, abbrevs.far
    depth = 1
    budget = unit.units.source.budget
    for _ in budget.entries:
        if not depth:
            return at
        code = data[at]
        if lengths[code]:
            at += lengths[code]
            depth += nests[code]
            continue
        variable, nest = variables[code], nests[code]
        if code > 0x7F and data[at + 1] < 0x80:
            length, variable, nest = far.get((data[at + 1] << 7) + code - 0x80, UNKNOWN)
            if length:
                at += length
                depth += nest
                continue
        if variable:
            before, block, behind = variable
            size = data[at + before]
            if size < 0x80:
                at += before + 1 + behind + (size if block else 0)
                depth += nest
                continue
        abbrev, at = _abbrev(unit, at)
        at = abbrev.skip(data, at)
        depth += abbrev.children
    raise budget.too_many(unit.offset + at)
