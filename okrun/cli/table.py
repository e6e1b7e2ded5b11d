"""Numbers and tables for people."""

from __future__ import annotations

from okld.base.errors import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3))
NOTHING = frozenset(("", "-"))
NAME = 32
"""Of a name, so many columns count when a table is fitted into a terminal; the longer ones wrap."""

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def duration(ns: float | None) -> str:
    """Return a time in the unit that leaves one to three digits before the point."""
    if ns is None:
        return "-"
    for unit, size in UNITS:
        if round(abs(ns) * 1000 / size, 1) >= 1000:
            return f"{ns / size:,.2f} {unit}"
    return f"{ns:.1f} ns" if isinstance(ns, float) else f"{ns} ns"


def rough_duration(ns: int | None) -> str:
    """Return a time with the two digits that count of one that is known no better."""
    if ns is None:
        return "-"
    unit, size = next((each for each in UNITS if ns >= each[1]), ("ns", 1))
    amount = float(f"{ns / size:.2g}")
    return f"{amount:.1f} {unit}" if amount < 10 and size > 1 else f"{amount:,.0f} {unit}"


def percent(share: float) -> str:
    """Return a share of 1 as percent; what is not nothing does not look like it."""
    return f"{100 * share:.1f} %" if share >= 0.0005 or not share else "<0.1 %"


def table(
    heading: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    width: int | None = None,
    spare: tuple[str, ...] = (),
    bold: bool = False,
) -> str:
    """
    Return lines of columns: numbers to the right, names last; nothing where there is no row.

    A column that says nothing in any row is left out.

    Args:
        heading: What each column is.
        rows: The cells of each row; what is not printable is escaped.
        width: Of the terminal, or None; names may be longer.
        spare: Headings of columns that are left out, one after another, until the rest fits.
        bold: Whether the heading is written bold.
    """
    if not rows:
        return ""
    shown = [heading, *(tuple(map(printable, row)) for row in rows)]
    columns = [each for each in zip(*shown, strict=True) if not NOTHING.issuperset(each[1:])]
    for name in spare:
        *numbers, names = (max(map(len, column)) for column in columns)
        if width is None or sum(numbers) + 2 * len(numbers) + min(names, NAME) <= width:
            break
        columns = [column for column in columns if column[0] != name]
    widths = [max(map(len, column)) for column in columns[:-1]]
    lines = [
        "".join(f"{cell:>{space}}  " for cell, space in zip(row, widths, strict=False)) + row[-1]
        for row in zip(*columns, strict=True)
    ]
    if bold:
        lines[0] = f"{BOLD}{lines[0]}{PLAIN}"
    return "\n".join(lines) + "\n"
