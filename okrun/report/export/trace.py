"""Runs and their phases on a time line, for Perfetto and other readers of Chrome's trace events.

A file is a JSON object whose ``traceEvents`` have a kind ``ph``, a time ``ts`` in microseconds, and
the process and thread that they belong to. Format: "Trace Event Format", a document of the Chromium
project. What Perfetto makes of it is stricter: a thread's events nest, a thread's name goes by its
number alone, a process has a number below 2^32, and text has no surrogates, not even in pairs.

A report has no times of single calls, so none are here: a phase carries the sums of its name.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from okld.base.errors import printable
from okrun.report.figures import how

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from okrun.report.model import Call, Counter, PhaseTotal, Report

    Event = dict[str, object]

PID_LIMIT = 1 << 22
"""No process of Linux has this number or a greater one (``PID_MAX_LIMIT`` of the kernel)."""


def export(reports: Sequence[Report]) -> str:
    """
    Return the reports as one trace, a process each, with the start of the first as its beginning.

    Source: EXP-4.
    """
    first = min(report.started_ns for report in reports)
    events = [
        event
        for report, pid in zip(reports, _pids(reports), strict=True)
        for event in _Track(pid, report.started_ns - first).run(report)
    ]
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    return f'{{"traceEvents":[\n{lines}\n],"displayTimeUnit":"ns"}}\n'


def _pids(reports: Sequence[Report]) -> Iterator[int]:
    """Yield a number for each report that no other has: its pid, unless an earlier one took it."""
    taken: set[int] = set()
    spare = itertools.count(PID_LIMIT)
    for report in reports:
        free = 0 < report.pid < PID_LIMIT and report.pid not in taken
        taken.add(report.pid)
        yield report.pid if free else next(spare)


class _Track:
    """The events of one run, whose process has one thread, of the process's number."""

    def __init__(self, pid: int, origin_ns: int) -> None:
        self._pid = pid
        self._origin_ns = origin_ns

    def run(self, report: Report) -> Iterator[Event]:
        spans = list(_spans(report))
        end = max([report.elapsed_ns, *(end for _, _, end in spans[-1:])])
        name = printable(report.image.path)
        yield self._event("M", 0, "process_name", args={"name": f"{name} ({report.pid})"})
        yield self._event("M", 0, "thread_name", args={"name": "phases"})
        yield self._event("B", 0, name, args=_begun(report))
        totals = {} if report.phases_left_out else _by_last(report)
        for at, (phase, start, stop) in enumerate(spans):
            yield self._event("B", start, phase)
            total = totals.get(at)
            yield self._event("E", stop, phase, args=_sums(total) if total else {})
            yield from self._counters(stop, [total] if total else [])
        shown = {total.name for total in totals.values()}
        rest = [total for total in report.phase_totals if total.name not in shown]
        yield from self._counters(end, rest)
        for counter in report.counters:
            yield self._counter(end, f"counter {printable(counter.name)}", "end", counter.value)
        yield self._event("i", end, how(report.ended), s="p")
        yield self._event("E", end, name, args=_ended(report, rest))

    def _counters(self, ns: int, totals: Sequence[PhaseTotal]) -> Iterator[Event]:
        """Yield what is known when the last phase of a name has ended: the sums of all of them."""
        for total in totals:
            series = printable(total.name)
            yield self._counter(ns, "calls", series, sum(call.count for call in total.calls))
            times = [call.total_ns for call in total.calls if call.total_ns is not None]
            if times:
                yield self._counter(ns, "ns in calls", series, sum(times))
            for counter in total.counters:
                yield self._counter(ns, f"counter {printable(counter.name)}", series, counter.value)

    def _counter(self, ns: int, name: str, series: str, value: int) -> Event:
        return self._event("C", ns, name, args={series: value})

    def _event(self, kind: str, ns: int, name: str, **more: object) -> Event:
        ts = (self._origin_ns + ns) / 1000
        place = {"pid": self._pid, "tid": self._pid}
        return {"ph": kind, "ts": ts, **place, "cat": "okprof", "name": name, **more}


def _spans(report: Report) -> Iterator[tuple[str, int, int]]:
    """Yield (name, start, end) of the phases, each from the end of the one before it or later."""
    at = 0
    for phase in report.phases:
        start = max(at, phase.start_ns)
        at = max(start, phase.start_ns + phase.elapsed_ns)
        yield printable(phase.name), start, at


def _by_last(report: Report) -> dict[int, PhaseTotal]:
    """Return the sums of each name by the index of its last phase."""
    last = {phase.name: at for at, phase in enumerate(report.phases)}
    return {last[total.name]: total for total in report.phase_totals if total.name in last}


def _begun(report: Report) -> dict[str, object]:
    return {
        "image": printable(report.image.path),
        "build_id": printable(report.image.build_id or ""),
        "arch": printable(report.image.arch),
        "argv": [printable(word) for word in report.argv],
        "pid": report.pid,
        "what": [printable(word) for word in report.what],
        "clock": printable(report.clock.source),
        "overhead_ns": report.clock.overhead_ns,
    }


def _ended(report: Report, rest: Sequence[PhaseTotal]) -> dict[str, object]:
    return {
        "tasks": report.tasks,
        "calls": _calls(report.calls),
        "counters": _values(report.counters),
        "counters not read whole": [printable(name) for name in report.lost],
        "phases left out": report.phases_left_out,
        "phases": {printable(total.name): _sums(total) for total in rest},
    }


def _sums(total: PhaseTotal) -> dict[str, object]:
    return {
        "phases of this name": total.count,
        "elapsed_ns": total.elapsed_ns,
        "calls": _calls(total.calls),
        "counters": _values(total.counters),
    }


def _calls(calls: Sequence[Call]) -> dict[str, object]:
    return {printable(call.name): _times(call) for call in calls}


def _times(call: Call) -> dict[str, int]:
    if call.total_ns is None or call.max_ns is None:
        return {"count": call.count}
    return {"count": call.count, "total_ns": call.total_ns, "max_ns": call.max_ns}


def _values(counters: Sequence[Counter]) -> dict[str, int]:
    return {printable(counter.name): counter.value for counter in counters}
