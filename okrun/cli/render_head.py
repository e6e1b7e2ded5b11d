"""What stands above and below the tables of a report: whose it is, and what to know of it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from okld.base.errors import printable
from okrun.report.figures import duration, many, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from okrun.report.files import Found, Unfinished
    from okrun.report.model import Ended, Image
    from okrun.report.summary import Row, Summary

SOME = 5
"""How many of a kind are mentioned one by one."""

MANY = 50
"""How many phases, and images, are shown: some programs name a phase for each of their inputs, and
some tests make an image for each of theirs."""


def head(summary: Summary, found: Found) -> str:
    """Return the lines above the tables: what ran, how it ended, how long it took."""
    images = [row.image for row in summary.images]
    of = image_name(images[0]) if len(images) == 1 else f"{len(images)} images"
    runs = f" in {many(summary.runs, 'run')}" if summary.runs != summary.reports else ""
    return (
        _lines("", [f"{many(summary.reports, 'report')}{runs} of {of}"])
        + _lines("ended by   ", [", ".join(_end(*each) for each in summary.ends)])
        + _lines("elapsed    ", [duration(summary.elapsed_ns)])
        + _lines("in calls   ", [_in_calls(summary)])
        + _lines("measuring  ", [_measuring(summary)])
        + "".join(_lines(f"{what:<11}", whose) for what, whose in begun(found).items())
    )


def begun(found: Found) -> dict[str, list[str]]:
    """Return whose reports were begun and not ended, by what has become of them."""
    running = [_process(each) for each in found.unfinished if each.running]
    gone = [_process(each) for each in found.unfinished if not each.running]
    unreadable = [f"{path} cannot be read" for path in found.headless]
    return {"running": some(running), "no report": some(gone), "begun": some(unreadable)}


def elsewhere(folders: Sequence[str]) -> str:
    """Return what to say of *folders* of reports beside where they were looked for, or ""."""
    if not folders:
        return ""
    which = f", the last is {folders[-1]}" if folders[1:] else f": {folders[0]}"
    return f"; {many(len(folders), 'folder')} of okprof record in it{which}"


def notes(summary: Summary) -> str:
    """Return the lines below the tables."""
    lines = []
    if summary.timed and summary.functions:
        lines.append("p50, p90 and p99 are estimates, from steps of a factor of two")
    if summary.tasks > 1 or (_total(summary) or 0) > summary.elapsed_ns:
        lines.append("times of several tasks add up: calls may take longer than their run")
    if 0 < summary.calls_measured < summary.reports:
        without = summary.reports - summary.calls_measured
        lines.append(
            f"{without:,} of {many(summary.reports, 'report')} did not measure calls: "
            "the time of these runs is in elapsed, and their calls are not known"
        )
    if not summary.timed and _any_timed(summary):
        lines.append("what one run timed and another counted has a count and no time")
    waiting = [
        f"{row.name} {row.count - row.returned:,}"
        for row in summary.functions
        if row.returned is not None and row.returned < row.count
    ]
    if waiting:
        lines.append(f"calls that had not returned: {', '.join(some(waiting))}")
    lines += [f"counter not read whole: {name}" for name in some(summary.lost)]
    if any(row.returned not in (None, row.count) for row in _of_phases(summary)):
        lines.append("of phases: a call counts where it began, its time where it returned")
    if _is_abridged(summary):
        lines.append("of phases: not all is shown; --json has it")
    if summary.phases_left_out:
        left_out = many(summary.phases_left_out, "phase")
        lines.append(f"{left_out} too many for the list of a report; the sums have them")
    return _lines("note: ", lines)


def _any_timed(summary: Summary) -> bool:
    return any(row.total_ns is not None for row in summary.functions)


def _of_phases(summary: Summary) -> list[Row]:
    return [row for phase in summary.phases for row in phase.functions]


def _is_abridged(summary: Summary) -> bool:
    shown = (*summary.phases, *filter(None, (summary.outside,)))
    return len(summary.phases) > MANY or any(
        len(each.functions) > SOME or len(each.counters) > SOME for each in shown
    )


def some(items: Iterable[str]) -> list[str]:
    """Return the first of *items*, and how many more there are."""
    first = list(items)
    left_out = len(first) - SOME
    return [*first[:SOME], f"and {left_out:,} more"] if left_out > 0 else first


def image_name(image: Image) -> str:
    """Return what an image is called."""
    return f"{image.path} ({image.arch})"


def _lines(label: str, texts: Iterable[str]) -> str:
    return "".join(f"{label}{printable(text)}\n" for text in texts)


def _end(ended: Ended, count: int) -> str:
    what = f"{ended.by} {ended.status}"
    if ended.signal is not None:
        known = ended.signal in set(signal.Signals)
        what = f"signal {signal.Signals(ended.signal).name if known else ended.signal}"
    return f"{what} ({count:,})" if count > 1 else what


def _total(summary: Summary) -> int | None:
    """Return the time of all calls, or None where some were counted only."""
    return sum(row.total_ns or 0 for row in summary.functions) if summary.timed else None


def _in_calls(summary: Summary) -> str:
    if not summary.calls_measured:
        return "not measured"
    calls = many(sum(row.count for row in summary.functions), "call")
    total = _total(summary)
    if total is None:
        return f"{calls}, not all timed" if _any_timed(summary) else f"{calls}, not timed"
    return f"{duration(total)} ({_share(total, summary)}), waiting included; {calls}"


def _measuring(summary: Summary) -> str:
    """Return what measuring has cost: it is never hidden."""
    costs: dict[str, list[float]] = {}
    for clock, _ in summary.clocks:
        if clock.overhead_ns:  # 0 where calls were not measured
            costs.setdefault(clock.source, []).append(clock.overhead_ns)
    each = [f"{_range(known)} a call by {source}" for source, known in costs.items()]
    if summary.heap:
        each.append(f"up to {duration(summary.heap.overhead_ns)} a block")
    cost = summary.measuring_ns
    of = f": {', '.join(each)}" if each else ""
    return f"cost about {duration(cost)} ({_share(cost, summary)}){of}"


def _range(costs: list[float]) -> str:
    least, most = duration(min(costs)), duration(max(costs))
    return least if least == most else f"{least} to {most}"


def _share(ns: float, summary: Summary) -> str:
    return percent(ns / summary.elapsed_ns if summary.elapsed_ns else 0)


def _process(unfinished: Unfinished) -> str:
    return f"{unfinished.image.path} (pid {unfinished.pid})"
