"""Tables for people."""

from __future__ import annotations

from okld.base.errors import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = frozenset(("", "-"))
NAME = 32
"""Of a name, so many columns count when a table is fitted into a terminal; the longer ones wrap."""

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def table(
    heading: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *,
    width: int | None = None,
    spare: Sequence[Sequence[str]] = (),
    bold: bool = False,
) -> str:
    """
    Return lines of columns: numbers to the right, names last; nothing where there is no row.

    A column that says nothing in any row is left out.

    Args:
        heading: What each column is.
        rows: The cells of each row; what is not printable is escaped.
        width: Of the terminal, or None; names may be longer.
        spare: Headings of columns that are left out until the rest fits, an entry's all at once.
        bold: Whether the heading is written bold.
    """
    if not rows:
        return ""
    shown = [heading, *(tuple(map(printable, row)) for row in rows)]
    columns = [each for each in zip(*shown, strict=True) if not NOTHING.issuperset(each[1:])]
    for left_out in spare:
        *numbers, names = (max(map(len, column)) for column in columns)
        if width is None or sum(numbers) + 2 * len(numbers) + min(names, NAME) <= width:
            break
        columns = [column for column in columns if column[0] not in left_out]
    widths = [max(map(len, column)) for column in columns[:-1]]
    lines = [
        "".join(f"{cell:>{space}}  " for cell, space in zip(row, widths, strict=False)) + row[-1]
        for row in zip(*columns, strict=True)
    ]
    if bold:
        lines[0] = f"{BOLD}{lines[0]}{PLAIN}"
    return "\n".join(lines) + "\n"
