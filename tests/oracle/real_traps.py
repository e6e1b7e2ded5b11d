"""What explains that two right tools say different things: the traps, each by what can be checked.

The numbers are those of the traps; see tests/traps. Of names: a label inside of the function that
has the address (2); of several symbols at an address each tool has chosen another one (4); the
symbol is of another alias or of a folded function than debug information names (5), of what an
indirect function is called by (10), or of a clone (23); it has a version (22).
"""

from __future__ import annotations

from dataclasses import dataclass

from real_programs import Program, Row
from real_tools import Frame, frames

from okld.syms.answer import Found, Miss

UNCONFIRMED = "33 alone"
"""A name that llvm-symbolizer lost, of an inlined call that gdb does not tell of."""

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
        lost = _lost(case, name, theirs[0], depth)
        if lost:
            found.add(lost)
        elif depth == len(mine) - 1 and case.share(name, theirs[0]):
            found.add("5")
        else:
            return None
    return found


def _lost(case: Case, name: str, theirs: str, depth: int) -> str:
    """
    Return the trap where a name is in an alternate file, which llvm-symbolizer does not read, else
    "". gdb reads it, but tells of a few inlined calls at some of their addresses only.
    """
    if not case.program.has_alternate:
        return ""
    if len(case.others) == len(case.bare):
        return "33" if _is_called(name, case.others[depth]) else ""
    return "" if theirs else UNCONFIRMED


def _is_called(name: str, other: str) -> bool:
    """Say whether gdb's name is the same; it makes one for people where there is no other."""
    return name == other or f"::{name}(" in f"::{other}("


def _places(case: Case, ours: Found) -> set[str] | None:
    """Compare what llvm-symbolizer says by the symbols, but for the name."""
    if case.named[:-1] == case.bare[:-1] and case.named[-1][1:] == case.bare[-1][1:]:
        return set()
    _, file, *place = case.named[-1]
    files = (row.type for row in case.program.rows.get(file, ()))
    is_known = case.bare[-1][1:] != ("", 0, 0) or case.named[:-1] != case.bare[:-1]
    return None if is_known or any(place) or "FILE" not in files else {OBJECT}


def _name(case: Case, ours: Found) -> set[str] | None:
    """Compare the name of the function, and check the symbol and the offset in it."""
    theirs, _, version = case.named[-1][0].partition("@")
    is_label = _is_label(case, ours, theirs)
    starts = {row.value for row in case.rows(ours.symbol)}
    if case.address - ours.offset not in starts or not _is_known(ours):
        return None
    if not (is_label or case.share(theirs, ours.symbol)):
        return None
    found = {"22"} if version else set()
    if theirs == ours.name:
        return found
    if is_label:
        return found | {"2"}
    if ours.kind == "ifunc":
        return found | {"10"}
    if theirs.startswith(f"{ours.name}."):
        return found | {"23"}
    return found | {"4" if ours.name == ours.symbol else "5"}


def _is_known(ours: Found) -> bool:
    """Say whether the name is debug information's; or the mangled one of a function without one."""
    function = _frames(ours)[-1][0]
    stems = [symbol.partition(".")[0] for symbol in (ours.symbol, *ours.aliases)]
    is_whole = ours.name in stems and not function.startswith("_Z")
    return is_whole or ours.name == (function or ours.symbol)


def _is_label(case: Case, ours: Found, name: str) -> bool:
    """Say whether a name is that of a label without a size, inside of the symbol."""
    labels = [row for row in case.rows(name) if not row.size]
    is_inside = any(case.address - ours.offset < label.value for label in labels)
    return is_inside and ours.offset < ours.size
