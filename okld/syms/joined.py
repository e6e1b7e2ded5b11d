"""One answer of two: what the symbol table says of an address, and what debug information says."""

from __future__ import annotations

from okld.syms.answer import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.answer import Miss
    from okld.syms.dwarf.reader import Lines


def joined(found: Found | Miss, lines: Lines | None, address: int) -> Found | Miss:
    """
    Return the answer for a link *address* of which the symbol table says *found*.

    The name is that of the function that covers the address by debug information, the mangled one
    where that has only a plain one; the symbol, and the offset in it, stay the table's.

    Source: ADR-6, ADR-7.
    """
    if lines is None:
        return found
    if not lines.frames:
        return _with_notes(found, lines.notes)
    low = lines.low
    if found.name is None or (low is not None and _only_before(found, low)):
        found = _of_function(address if low is None else low, address)
    elif found.kind == "object":  # data among code, where line tables go on as if it were code
        return found
    found.frames = lines.frames
    found.name = _name(found, lines.frames[-1].function)
    return _with_notes(found, lines.notes)


def _name(found: Found, function: str) -> str:
    """Return the name of a function, of which debug information has the name *function*."""
    symbol = found.symbol
    if not function or not symbol.startswith("_Z") or function.startswith("_Z"):
        return function or symbol
    from okld.syms.mangled import mangled_of  # few functions have a symbol alone that is mangled

    return mangled_of(function, (symbol, *found.aliases)) or function


def _only_before(found: Found, low: int) -> bool:
    """Say whether a symbol of unknown size only begins before the function at *low*."""
    return (found.size == 0 or found.approximate) and found.value < low


def _of_function(low: int, address: int) -> Found:
    return Found("", address - low, value=low, size=0, kind="function", symbol="")


def _with_notes(found: Found | Miss, notes: tuple[str, ...]) -> Found | Miss:
    if notes:
        found.notes = found.notes + notes
    return found
