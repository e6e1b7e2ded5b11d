"""Elements of the page. All text enters it here, and ElementTree escapes it when it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import SubElement

from okld.base.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element


LONG = 48
"""In characters; no function of the surface has a name as long."""


def put(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """
    Append an element to *parent* and return it; ``class_`` and ``data_v`` are class and data-v.

    No character of *text* is one that a terminal or a browser would act on, and none is a
    surrogate: the page is UTF-8. Attributes are the page's own, never a report's.

    Source: EXP-8.
    """
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    element = SubElement(parent, tag, named)
    element.text = printable(text)
    return element


def heading(row: Element, names: Iterable[str], by: str = "") -> None:
    """
    Append to a row of a table's head a cell for each name; those of numbers begin with #.

    *by* is the name by which the rows are sorted, the greatest first.
    """
    for name in names:
        cell = put(row, "th", name.removeprefix("#"), scope="col")
        if name.startswith("#"):
            cell.set("class", "n")
        if by and name == f"#{by}":
            cell.set("aria-sort", "descending")


def named(row: Element, text: str, more: str = "") -> None:
    """Append the cell that heads a row, with *more* below; it is broken where it is very long."""
    long = {"class_": "long"} if max(len(printable(each)) for each in (text, more)) > LONG else {}
    put(put(row, "th", text, scope="row", **long), "small", more)


def number(row: Element, value: float | None, text: str) -> None:
    """Append a cell that shows *text* and is sorted by *value*; what is not known is the least."""
    put(row, "td", text, class_="n", data_v="" if value is None else f"{value}")


def bar(cell: Element, share: float) -> None:
    """Append a bar whose length is *share*, from 0 to 1, of the cell's width."""
    drawing = put(cell, "svg", class_="bar", aria_hidden="true")
    put(drawing, "rect", width=f"{100 * min(1, max(0, share)):.2f}%", height="100%")
