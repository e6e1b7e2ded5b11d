"""The phases of the page: a lane for each report, then a line for each name, which opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okrun.report.export.elements import bar, heading, named, number, put
from okrun.report.export.figures import count, percent, some, span
from okrun.report.export.stacks import OUTSIDE
from okrun.report.export.timeline import COLOURS, draw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from okrun.report.model import Report
    from okrun.report.summary import PhaseRow, Summary

NAMES = 100
ROWS = 20
"""How many functions, and counters, of a phase there are; `okprof report` has all."""


def lanes_and_totals(section: Element, reports: Sequence[Report], summary: Summary) -> None:
    """
    Draw the lanes, and below them what the phases of each name took, the greatest first.

    Source: EXP-9.
    """
    rows = sorted(summary.phases, key=lambda row: -row.elapsed_ns)
    coloured = [row.name for row in rows[:COLOURS] if row.name is not None]
    colours = {name: f"k{at}" for at, name in enumerate(coloured)}
    lanes, totals = section.findall("div")
    draw(lanes, reports, colours)
    _totals(totals, rows, summary, colours)


def _totals(
    parent: Element, rows: Sequence[PhaseRow], summary: Summary, colours: dict[str, str]
) -> None:
    head = put(parent, "p", class_="totals", aria_hidden="true")
    for name in ("phase", "times", "total", "", "of the time", "calls", "in calls"):
        put(head, "span", name)
    whole = summary.elapsed_ns
    for row in rows[:NAMES]:
        _line(parent, row, row.name or "", colours.get(row.name or "", f"k{COLOURS}"), whole)
    if len(rows) > NAMES:
        put(parent, "p", f"{some(len(rows) - NAMES, 'more name')}.", class_="note")
    if summary.outside is not None:
        _line(parent, summary.outside, OUTSIDE, "", whole)


def _line(parent: Element, row: PhaseRow, name: str, colour: str, whole_ns: int) -> None:
    details = put(parent, "details")
    line = put(details, "summary", class_="totals")
    label = put(line, "span")
    put(label, "i", class_=f"swatch {colour}")
    put(label, "b", name)
    times = [each.total_ns for each in row.functions if each.total_ns is not None]
    share = row.elapsed_ns / whole_ns if whole_ns else 0.0
    put(line, "span", count(row.count) if row.count else "")
    put(line, "span", span(row.elapsed_ns))
    bar(put(line, "span"), share)
    put(line, "span", percent(share))
    put(line, "span", count(sum(each.count for each in row.functions)))
    put(line, "span", span(sum(times) if len(times) == len(row.functions) else None))
    inside = put(details, "div", class_="inside")
    _functions(inside, row)
    _counters(inside, row)


def _functions(parent: Element, row: PhaseRow) -> None:
    if not row.functions:
        put(parent, "p", "No calls.", class_="note")
        return
    table = put(parent, "table")
    heading(put(put(table, "thead"), "tr"), ("function", "#calls", "#total", "#share"))
    body = put(table, "tbody")
    for each in row.functions[:ROWS]:
        line = put(body, "tr")
        named(line, each.name or "")
        number(line, each.count, count(each.count))
        number(line, each.total_ns, span(each.total_ns))
        number(line, each.share, percent(each.share))
    _more(body, len(row.functions), "4")


def _counters(parent: Element, row: PhaseRow) -> None:
    if not row.counters:
        return
    table = put(parent, "table")
    heading(put(put(table, "thead"), "tr"), ("counter", "#grew by"))
    body = put(table, "tbody")
    for counter, value in row.counters[:ROWS]:
        line = put(body, "tr")
        named(line, counter)
        number(line, value, count(value))
    _more(body, len(row.counters), "2")


def _more(body: Element, rows: int, columns: str) -> None:
    if rows > ROWS:
        put(put(body, "tr"), "td", f"{count(rows - ROWS)} more", class_="note", colspan=columns)
