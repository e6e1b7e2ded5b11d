"""One side of a comparison: what each of its runs took and did, by name."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from okrun.report.model import Call, Image, Report
    from okrun.report.runs import Run

Key = tuple[str, str]
"""A kind, and a name among those of its kind.

Of times the kinds are ``run`` (the one name is ``elapsed``), ``call`` and ``phase``; of counts
``run`` (``images`` and ``tasks``), ``call``, ``phase``, ``counter`` and ``heap``."""

ELAPSED = ("run", "elapsed")
HEAP = ("blocks", "bytes", "peak_blocks", "peak_bytes", "end_blocks", "end_bytes")


@frozen(kw_only=True)
class Side:
    """
    The runs of one side. Each value of a key is a list with one entry a run, in order of start.

    Attributes:
        path: Where they were found.
        runs: They themselves; at least one.
        left_out: How many more there are that go on, or ended without all of their reports.
        interfaces: By function.
        times: In nanoseconds.
        returned: How many calls returned within each of *times*.
        counts: Of what was counted.
        unknown: The kinds that some run did not measure: ``("times", KIND)``, ``("counts", KIND)``.
        lost: The counters that some run could not read whole; they are not among *counts*.
    """

    path: str
    runs: tuple[Run, ...]
    left_out: int
    interfaces: Mapping[str, str | None]
    times: Mapping[Key, Sequence[int]]
    returned: Mapping[Key, Sequence[int]]
    counts: Mapping[Key, Sequence[int]]
    unknown: frozenset[tuple[str, str]]
    lost: tuple[str, ...]

    @property
    def reports(self) -> tuple[Report, ...]:
        """All reports of all runs."""
        return tuple(report for run in self.runs for report in run.reports)

    @property
    def images(self) -> tuple[Image, ...]:
        """The images that ran, each once, in order of first appearance."""
        return tuple(dict.fromkeys(report.image for report in self.reports))

    @property
    def overhead_ns(self) -> float:
        """What measuring adds to one call, as the middle one of the reports says."""
        return median(report.clock.overhead_ns for report in self.reports)


def side(path: str, runs: Sequence[Run], left_out: int = 0) -> Side:
    """
    Return one side of a comparison.

    Source: DIFF-2.
    """
    times, returned, counts = _Sums(len(runs)), _Sums(len(runs)), _Sums(len(runs))
    for at, run in enumerate(runs):
        for report in run.reports:
            for key, value, calls in _times(report):
                times.add(key, at, value)
                returned.add(key, at, calls)
            for key, value in _counts(report):
                counts.add(key, at, value)
    reports = [report for run in runs for report in run.reports]
    lost = tuple(dict.fromkeys(name for report in reports for name in report.lost))
    for name in lost:
        counts.values.pop(("counter", name), None)
    return Side(
        path=path,
        runs=tuple(runs),
        left_out=left_out,
        interfaces={call.name: call.interface for each in reports for call in each.calls},
        times=times.values,
        returned=returned.values,
        counts=counts.values,
        unknown=frozenset(kind for report in reports for kind in _unknown(report)),
        lost=lost,
    )


class _Sums:
    """Values by key and run, added up."""

    def __init__(self, runs: int) -> None:
        self.values: dict[Key, list[int]] = {}
        self._runs = runs

    def add(self, key: Key, run: int, value: int) -> None:
        if key not in self.values:
            self.values[key] = [0] * self._runs
        self.values[key][run] += value


def _unknown(report: Report) -> Iterator[tuple[str, str]]:
    if "calls" not in report.what:
        yield "times", "call"
        if "count" not in report.what:
            yield "counts", "call"
    if report.heap is None:
        yield "counts", "heap"


def _times(report: Report) -> Iterator[tuple[Key, int, int]]:
    yield ELAPSED, report.elapsed_ns, _returned(report.calls)
    for call in report.calls:
        if call.total_ns is not None:
            yield ("call", call.name), call.total_ns, _returned([call])
    for phase in report.phase_totals:
        yield ("phase", phase.name), phase.elapsed_ns, _returned(phase.calls)


def _returned(calls: Sequence[Call]) -> int:
    return sum(sum(call.log2_ns or ()) for call in calls)


def _counts(report: Report) -> Iterator[tuple[Key, int]]:
    yield ("run", "images"), 1
    yield ("run", "tasks"), report.tasks
    for call in report.calls:
        yield ("call", call.name), call.count
    for phase in report.phase_totals:
        yield ("phase", phase.name), phase.count
    for counter in report.counters:
        yield ("counter", counter.name), counter.value
    if report.heap is not None:
        for name in HEAP:
            yield ("heap", name), getattr(report.heap, name)
