"""The phases of the page: a lane for each report, then a line for each name, which opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okrun.report.export.elements import bar, heading, named, number, put
from okrun.report.export.stacks import OUTSIDE
from okrun.report.export.timeline import COLOURS, draw
from okrun.report.figures import count, duration, many, percent

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
    for row in rows[:NAMES]:
        _line(parent, row, row.name or "", colours.get(row.name or "", f"k{COLOURS}"), summary)
    if len(rows) > NAMES:
        put(parent, "p", f"{many(len(rows) - NAMES, 'more name')}.", class_="note")
    if summary.outside is not None:
        _line(parent, summary.outside, OUTSIDE, "", summary)


def _line(parent: Element, row: PhaseRow, name: str, colour: str, summary: Summary) -> None:
    details = put(parent, "details")
    line = put(details, "summary", class_="totals")
    label = put(line, "span")
    put(label, "i", class_=f"swatch {colour}")
    put(label, "b", name)
    share = row.elapsed_ns / summary.elapsed_ns if summary.elapsed_ns else 0.0
    put(line, "span", count(row.count) if row.count else "")
    put(line, "span", duration(row.elapsed_ns))
    bar(put(line, "span"), share)
    put(line, "span", percent(share))
    calls, times = _calls(row) if summary.calls_measured else (None, None)
    put(line, "span", count(calls))
    put(line, "span", duration(times))
    inside = put(details, "div", class_="inside")
    if row.functions:
        _functions(inside, row)
    else:
        nothing = "No calls." if summary.calls_measured else "Calls were not measured."
        put(inside, "p", nothing, class_="note")
    _counters(inside, row)


def _calls(row: PhaseRow) -> tuple[int, int | None]:
    """Return how many calls there are, and their time where all were timed."""
    times = [each.total_ns for each in row.functions if each.total_ns is not None]
    calls = sum(each.count for each in row.functions)
    return calls, sum(times) if len(times) == len(row.functions) else None


def _functions(parent: Element, row: PhaseRow) -> None:
    table = put(parent, "table")
    heading(put(put(table, "thead"), "tr"), ("function", "#calls", "#total", "#share"))
    body = put(table, "tbody")
    for each in row.functions[:ROWS]:
        line = put(body, "tr")
        named(line, each.name or "")
        number(line, each.count, count(each.count))
        number(line, each.total_ns, duration(each.total_ns))
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
