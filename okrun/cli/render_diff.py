"""A comparison as text for people. Nothing here reads a file."""

from __future__ import annotations

import time
from math import inf, isinf
from typing import TYPE_CHECKING

from okld.base.errors import printable
from okrun.cli.render_head import image_name, some
from okrun.cli.table import BOLD, PLAIN, table
from okrun.report.difference import BOTH, CountRow, TimeRow
from okrun.report.figures import duration, many
from okrun.report.significance import OUTSIDE, can_tell, runs_to_tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from okrun.report.check import Regression
    from okrun.report.difference import Change, Diff
    from okrun.report.side import Side

HEADING = ("A", "B", "moved", "change", "95 %", "", "calls", "call A", "call B", "each", "time")
SPARE = (("moved",), ("call A", "call B"), ("95 %",), ("calls",), ("each",))
LABELS = {"call": "", "run": "", "phase": "phase ", "counter": "counter ", "heap": "heap "}


def as_text(
    diff: Diff,
    worse: Sequence[Regression] | None,
    threshold: float,
    *,
    width: int | None = None,
    bold: bool = False,
) -> str:
    """
    Return a comparison, as tables, and what is worse where that was asked.

    Args:
        diff: What is told.
        worse: What is worse by more than *threshold*, or None.
        threshold: A share of 1.
        width: Of the terminal, or None.
        bold: Whether headings are written bold.

    Source: DIFF-1, DIFF-3, DIFF-4, DIFF-6.
    """
    counts = {(row.kind, row.name): row for row in diff.counts}
    differing = [row for row in diff.counts if not row.same]
    same = len(diff.counts) - len(differing)
    times = [_time(row, counts.get((row.kind, row.name))) for row in diff.times]
    sections = (
        _side("A", diff.a, bold) + _side("B", diff.b, bold) + "+ is more in B, - is less\n",
        "".join(f"note: {printable(note)}\n" for note in diff.notes),
        table(HEADING, times, width=width, spare=SPARE, bold=bold) + _lines(_of_marks(diff)),
        table(("A", "B", "change", "count, exact"), [_count(row) for row in differing], bold=bold)
        + f"{many(same, 'count')}, the same in every run of both sides\n",
        "" if worse is None else _lines(_of_check(diff, worse, threshold)),
    )
    return "\n".join(filter(None, sections))


def _lines(texts: Iterator[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def _side(name: str, side: Side, bold: bool) -> str:
    first, last = (_when(side.runs[at].started_ns) for at in (0, -1))
    when = first if first == last else f"{first} to {last}"
    images = [
        f"{image_name(image)}, {f'build id {image.build_id}' if image.build_id else 'no build id'}"
        for image in side.images
    ]
    name = f"{BOLD}{name}{PLAIN}" if bold else name
    return f"{name}  {printable(side.path)}: {many(len(side.runs), 'run')}, {when} UTC\n" + "".join(
        f"   {printable(image)}\n" for image in some(images)
    )


def _when(ns: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ns // 10**9))


def _counted(row: CountRow | Regression) -> str:
    """Return what is counted; a call's name alone is that of its time."""
    return f"{'calls of ' if row.kind == 'call' else ''}{_label(row)}"


def _label(row: TimeRow | CountRow | Regression) -> str:
    return LABELS[row.kind] + row.name


def _time(row: TimeRow, count: CountRow | None) -> tuple[str, ...]:
    moved = duration(abs(row.moved_ns))
    return (
        duration(row.a_ns),
        duration(row.b_ns),
        f"{'-' if row.moved_ns < 0 else '+'}{moved}" if row.moved_ns else "0",
        row.presence if row.presence != BOTH else _change(row.total),
        _interval(row.total),
        _mark(row.total),
        _more(count) if count else "",
        duration(row.a_each_ns) if row.kind == "call" else "",
        duration(row.b_each_ns) if row.kind == "call" else "",
        f"{_change(row.each)} {_mark(row.each)}".strip() if row.each is not row.total else "",
        _label(row),
    )


def _mark(change: Change | None) -> str:
    return change.mark or "" if change else ""


def _change(change: Change | None) -> str:
    return _growth(change.shift.ratio) if change else ""


def _growth(ratio: float) -> str:
    return "from nothing" if isinf(ratio) else f"{100 * (ratio - 1):+,.1f} %"


def _interval(change: Change | None) -> str:
    if change is None or change.shift.low is None or change.shift.high is None:
        return ""
    return f"{_growth(change.shift.low)} to {_growth(change.shift.high)}"


def _count(row: CountRow) -> tuple[str, ...]:
    return _range(*row.a), _range(*row.b), _more(row), _counted(row)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _more(row: CountRow) -> str:
    """Return by how much a count has grown, as far as that is the same for all runs."""
    if row.presence != BOTH:
        return row.presence
    if row.same:
        return "="
    (a_least, a_most), (b_least, b_most) = row.a, row.b
    if b_least > a_most:
        growth = _growth(b_least / a_most if a_most else inf)
    elif b_most < a_least:
        growth = _growth(b_most / a_least)
    else:
        return "varies"
    return f"{growth} at least" if row.varies else growth


def _of_marks(diff: Diff) -> Iterator[str]:
    """Yield what the marks are worth, and how many runs it takes to have more."""
    changes = [change for row in diff.times for change in (row.total, row.each) if change]
    marked = len({id(change) for change in changes if change.mark})
    runs = len(diff.a.runs), len(diff.b.runs)
    if max(runs) > 1:
        yield "A and B: of the middle runs; change: from all pairs of runs, not from these alone"
    if diff.needs is not None:
        yield f"no mark: {runs[0]} and {runs[1]} runs are too few; record {_lack(runs, diff.needs)}"
    else:
        yield (
            f"marked: {marked} of {many(diff.tested, 'change')}; programs that do not differ show "
            "any mark in at most 1 of 100 comparisons"
        )
        needs = {id(change): change.needs for change in changes if change.needs}
        if needs:
            most = max(needs.values())
            yield f"too short to be marked by so few runs: {len(needs)}; record {_lack(runs, most)}"
    if not can_tell(*runs, OUTSIDE):
        yield f"no interval: it takes {runs_to_tell(OUTSIDE)} runs a side"


def _lack(runs: tuple[int, int], needed: int) -> str:
    lacking = ((needed - each, name) for each, name in zip(runs, "AB", strict=True))
    return " and ".join(f"{count} more of {name}" for count, name in lacking if count > 0)


def _of_check(diff: Diff, worse: Sequence[Regression], threshold: float) -> Iterator[str]:
    limit = f"threshold {100 * threshold:g} %"
    for each in worse:
        yield f"regression: {_why(each)}; {limit}"
    if not worse:
        judged = "nothing" if diff.needs is None else "no count"
        yield f"check: {judged} is worse; {limit}"
    if diff.needs is not None:
        yield "check: times are not judged, with so few runs; counts are"


def _why(worse: Regression) -> str:
    growth = "" if worse.growth is None else f", {_growth(1 + worse.growth)}"
    if worse.change is None:
        most = f"at most {worse.a:,}" if worse.a else "none"
        counts = f"{most} in a run of A, at least {worse.b:,} in one of B"
        return f"{printable(_counted(worse))}: {counts}{growth}"
    times = f"{worse.what} {duration(worse.a)} in A, {duration(worse.b)} in B"
    return f"{printable(_label(worse))}: {times}{growth} (95 %: {_interval(worse.change)})"
