"""What explains that two right tools say different things: the traps, each by what can be checked.

The numbers are those of the traps; see tests/traps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from real_programs import Program, Row
from real_tools import Frame, frames

from okld.syms.answer import Found, Miss

OBJECT = "STT_FILE"
"""Where debug information has no place llvm-symbolizer tells from what file a local symbol came."""


@dataclass(frozen=True)
class Case:
    """
    One address: what okld says of it, what llvm-symbolizer says, and what that says of a copy of
    the file whose symbols name no address; and the names of gdb where it was asked.
    """

    program: Program
    address: int
    ours: Found | Miss
    named: list[Frame]
    bare: list[Frame]
    others: list[str]

    def rows(self, name: str) -> list[Row]:
        """Return the symbols of a name that begin at or before the address, in its section."""
        rows = self.program.rows.get(name, ())
        return [row for row in rows if row.section and row.value <= self.address]

    def share(self, first: str, second: str) -> bool:
        """Say whether symbols of these names lie at one address."""
        firsts = {(row.section, row.value) for row in self.rows(first)}
        return any((row.section, row.value) in firsts for row in self.rows(second))


def differ(ours: Found | Miss, theirs: list[Frame]) -> bool:
    """Say whether okld's frames are not those of debug information by llvm-symbolizer."""
    return isinstance(ours, Found) and _frames(ours) != theirs


def _frames(ours: Found) -> list[Frame]:
    return frames(ours) or [("", "", 0, 0)]


def explain(case: Case) -> set[str] | None:
    """Return the traps that explain the differences; None: something is not explained."""
    found: set[str] = set()
    if not isinstance(case.ours, Found):
        return None
    for part in (_debug_information, _places, _name):
        trap = part(case, case.ours)
        if trap is None:
            return None
        found.update(trap)
    return found


def _debug_information(case: Case, ours: Found) -> set[str] | None:
    """Compare what debug information says."""
    found: set[str] = set()
    mine = _frames(ours)
    if [frame[1:] for frame in mine] != [frame[1:] for frame in case.bare]:
        return None
    for depth, (frame, theirs) in enumerate(zip(mine, case.bare, strict=True)):
        name = frame[0]
        if name == theirs[0]:
            continue
        if _is_lost(case, name, depth):
            found.add("33")
        elif depth == len(mine) - 1 and case.share(name, theirs[0]):
            found.add("5")
        else:
            return None
    return found


def _is_lost(case: Case, name: str, depth: int) -> bool:
    """The name is in an alternate file, which llvm-symbolizer does not read and gdb does."""
    if not case.program.has_alternate or len(case.others) <= depth:
        return False
    other = case.others[depth]
    without_linkage_name = other.endswith(f"::{name}") or f"{name}(" in other
    return name == other or without_linkage_name


def _places(case: Case, ours: Found) -> set[str] | None:
    """Compare what llvm-symbolizer says by the symbols, but for the name."""
    if case.named[:-1] == case.bare[:-1] and case.named[-1][1:] == case.bare[-1][1:]:
        return set()
    _, file, *place = case.named[-1]
    files = (row.type for row in case.program.rows.get(file, ()))
    is_known = case.bare[-1][1:] != ("", 0, 0) or case.named[:-1] != case.bare[:-1]
    return None if is_known or any(place) or "FILE" not in files else {OBJECT}


def _name(case: Case, ours: Found) -> set[str] | None:
    """Compare the name of the function."""
    theirs = case.named[-1][0]
    found: set[str] = set()
    if theirs == ours.name:
        return found
    if "@" in theirs:
        theirs = theirs.partition("@")[0]
        found.add("22")
    for trap, explains in NAMES.items():
        if theirs == ours.name:
            return found
        if explains(case, ours, theirs):
            return found | {trap}
    return None


def _is_alias(case: Case, ours: Found, theirs: str) -> bool:
    """Of several symbols at an address each has chosen another one."""
    return ours.name == ours.symbol and case.share(theirs, ours.symbol)


def _is_folded(case: Case, ours: Found, theirs: str) -> bool:
    """The symbol that was chosen is of another function or alias than debug information names."""
    return theirs == ours.symbol or case.share(theirs, ours.symbol)


def _is_clone(case: Case, ours: Found, theirs: str) -> bool:
    """The symbol is that of a clone or a part of the function."""
    return theirs.startswith(f"{ours.name}.") and _is_folded(case, ours, theirs)


def _is_resolver(case: Case, ours: Found, theirs: str) -> bool:
    """The symbol is that of what an indirect function is called by."""
    return ours.kind == "ifunc" and _is_folded(case, ours, theirs)


def _is_label(case: Case, ours: Found, theirs: str) -> bool:
    """A label without a size, inside of a function that has one and the address."""
    labels = [row for row in case.rows(theirs) if not row.size]
    return any(ours.value <= label.value for label in labels) and ours.offset < ours.size


NAMES: dict[str, Callable[[Case, Found, str], bool]] = {
    "10": _is_resolver,
    "23": _is_clone,
    "4": _is_alias,
    "5": _is_folded,
    "2": _is_label,
}
"""Traps that concern the name of a function, with what has to hold for each."""
