"""Several reports, added up: by interface, by function, by image, by counter and by phase."""

from __future__ import annotations

from collections import Counter as Tally
from math import fsum
from typing import TYPE_CHECKING

from attrs import evolve

from okrun.report.histogram import added, less
from okrun.report.runs import runs
from okrun.report.summary import HeapRow, ImageRow, PhaseRow, Row, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from okrun.report.model import Call, Counter, Heap, Image, PhaseTotal, Report

SIGN = 1 << 63


def merge(reports: Sequence[Report]) -> Summary:
    """
    Add up reports.

    Source: REP-3, RPT-5 to RPT-9.
    """
    calls = [call for report in reports for call in report.calls]
    functions = _rows(calls, lambda call: (call.name, call.interface))
    elapsed_ns = sum(report.elapsed_ns for report in reports)
    counters = _sums((each.name, each.value) for report in reports for each in report.counters)
    lost = tuple(dict.fromkeys(name for report in reports for name in report.lost))
    phases = _phases(reports)
    return Summary(
        reports=len(reports),
        runs=len(runs(reports)),
        calls_measured=_measured(reports),
        images=_images(reports),
        clocks=tuple(Tally(report.clock for report in reports).items()),
        ends=tuple(Tally(report.ended for report in reports).items()),
        elapsed_ns=elapsed_ns,
        tasks=max((report.tasks for report in reports), default=0),
        timed=_timed(calls),
        measuring_ns=fsum(_measuring(report) for report in reports),
        interfaces=_rows(calls, lambda call: (call.interface, call.interface)),
        functions=functions,
        counters=tuple(counters.items()),
        phases=phases,
        outside=_outside(functions, elapsed_ns, counters, lost, phases) if phases else None,
        phases_left_out=sum(report.phases_left_out for report in reports),
        lost=lost,
        heap=_heap([report.heap for report in reports if report.heap is not None]),
    )


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0) + value
    return sums


def _timed(calls: Iterable[Call]) -> bool:
    return all(call.total_ns is not None for call in calls)


def _measured(reports: Iterable[Report]) -> int:
    return sum(report.counts_calls for report in reports)


def _measuring(report: Report) -> float:
    calls = sum(call.count for call in report.calls) * report.clock.overhead_ns
    return calls + (report.heap.blocks * report.heap.overhead_ns if report.heap else 0)


def _rows(
    calls: Sequence[Call], key: Callable[[Call], tuple[str | None, str | None]]
) -> tuple[Row, ...]:
    timed = _timed(calls)
    groups: dict[tuple[str | None, str | None], list[Call]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    whole = sum(_weight(call, timed) for call in calls)
    rows = []
    for (name, interface), group in groups.items():
        histograms = [call.log2_ns for call in group if call.log2_ns is not None]
        rows.append(
            Row(
                name=name,
                interface=interface,
                count=sum(call.count for call in group),
                total_ns=_if_all(sum, [call.total_ns for call in group]),
                max_ns=_if_all(max, [call.max_ns for call in group]),
                log2_ns=added(histograms) if len(histograms) == len(group) else None,
                share=sum(_weight(call, timed) for call in group) / whole if whole else 0.0,
            )
        )
    return _greatest_first(rows)


def _greatest_first(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.share, -row.count, row.name or "")))


def _weight(call: Call | Row, timed: bool) -> int:
    return call.total_ns or 0 if timed else call.count


def _if_all(combine: Callable[[list[int]], int], values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return combine(known) if len(known) == len(values) else None


def _images(reports: Iterable[Report]) -> tuple[ImageRow, ...]:
    groups: dict[Image, list[Report]] = {}
    for report in reports:
        groups.setdefault(report.image, []).append(report)
    rows = []
    for image, group in groups.items():
        calls = [call for report in group for call in report.calls]
        rows.append(
            ImageRow(
                image=image,
                reports=len(group),
                calls_measured=_measured(group),
                elapsed_ns=sum(report.elapsed_ns for report in group),
                count=sum(call.count for call in calls),
                total_ns=_if_all(sum, [call.total_ns for call in calls]),
            )
        )
    return tuple(rows)


def _grown(counters: Iterable[Counter]) -> Iterable[tuple[str, int]]:
    """Return what counters grew by: a report has it modulo 2^64, and what fell fell below 0."""
    return ((each.name, (each.value ^ SIGN) - SIGN) for each in counters)


def _phases(reports: Iterable[Report]) -> tuple[PhaseRow, ...]:
    groups: dict[str, list[PhaseTotal]] = {}
    for total in (each for report in reports for each in report.phase_totals):
        groups.setdefault(total.name, []).append(total)
    rows = []
    for name, group in groups.items():
        calls = [call for total in group for call in total.calls]
        grown = (pair for total in group for pair in _grown(total.counters))
        rows.append(
            PhaseRow(
                name=name,
                count=sum(total.count for total in group),
                elapsed_ns=sum(total.elapsed_ns for total in group),
                functions=_rows(calls, lambda call: (call.name, call.interface)),
                counters=tuple(_sums(grown).items()),
            )
        )
    return tuple(rows)


def _outside(
    functions: Iterable[Row],
    elapsed_ns: int,
    counters: dict[str, int],
    lost: Sequence[str],
    phases: Sequence[PhaseRow],
) -> PhaseRow:
    """Return all, less the phases; what was lost at the end is not known to lie outside."""
    inside: dict[tuple[str | None, str | None], list[Row]] = {}
    for row in (each for phase in phases for each in phase.functions):
        inside.setdefault((row.name, row.interface), []).append(row)
    rows = [_rest(row, inside.get((row.name, row.interface), [])) for row in functions]
    rows = [row for row in rows if row.count or row.returned]
    timed = all(row.total_ns is not None for row in rows)
    whole = sum(_weight(row, timed) for row in rows)
    grown = _sums(pair for phase in phases for pair in phase.counters)
    left = ((name, value - grown.get(name, 0)) for name, value in counters.items())
    return PhaseRow(
        name=None,
        count=0,
        elapsed_ns=elapsed_ns - sum(phase.elapsed_ns for phase in phases),
        functions=_greatest_first(
            evolve(row, share=_weight(row, timed) / whole if whole else 0.0) for row in rows
        ),
        counters=tuple((name, value) for name, value in left if value and name not in lost),
    )


def _rest(whole: Row, parts: Sequence[Row]) -> Row:
    """Return *whole* without *parts*; the longest of what is left is not known."""
    total_ns, log2_ns = whole.total_ns, whole.log2_ns
    if total_ns is not None:
        total_ns -= sum(part.total_ns or 0 for part in parts)
    if log2_ns is not None:
        log2_ns = less(log2_ns, added(part.log2_ns or () for part in parts))
    count = whole.count - sum(part.count for part in parts)
    return evolve(whole, count=count, total_ns=total_ns, log2_ns=log2_ns, max_ns=None)


def _heap(heaps: Sequence[Heap]) -> HeapRow | None:
    if not heaps:
        return None
    peak = max(heaps, key=lambda heap: (heap.peak_bytes, heap.peak_blocks))
    return HeapRow(
        files=tuple(heap.file for heap in heaps if heap.file is not None),
        blocks=sum(heap.blocks for heap in heaps),
        bytes=sum(heap.bytes for heap in heaps),
        peak_blocks=peak.peak_blocks,
        peak_bytes=peak.peak_bytes,
        end_blocks=sum(heap.end_blocks for heap in heaps),
        end_bytes=sum(heap.end_bytes for heap in heaps),
        overhead_ns=max(heap.overhead_ns for heap in heaps),
    )
