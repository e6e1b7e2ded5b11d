"""A summary of reports as text for people. Nothing here reads a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okrun.cli.render_head import MANY, SOME, head, image_name, notes, some
from okrun.cli.table import table
from okrun.report.figures import duration, many, percent, rough_duration
from okrun.report.order import ordered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.files import Found
    from okrun.report.summary import PhaseRow, Row, Summary

    Cells = tuple[str, ...]

TIMES = ("total", "mean", "p50", "p90", "p99", "max")
SPARE = (("p90",), ("p50",), ("mean",), ("p99",), ("max",))


def as_text(
    summary: Summary, found: Found, order: str, *, width: int | None = None, bold: bool = False
) -> str:
    """
    Return the summary of what was found, as tables.

    Args:
        summary: What is told.
        found: Where it comes from.
        order: Of interfaces and functions, one of `okrun.report.order.ORDERS`.
        width: Of the terminal, or None.
        bold: Whether headings are written bold.

    Source: RPT-5 to RPT-10.
    """
    images = _images(summary) if len(summary.images) > 1 else []
    counters = [(f"{value:,}", name) for name, value in summary.counters]
    tables = (
        (("reports", "elapsed", "calls", "total", "image"), images),
        _rows("interface", summary, ordered(summary.interfaces, order)),
        _rows("function", summary, ordered(summary.functions, order)),
        (("of run", "elapsed", "begun", "calls", "total", "max", "phase"), _phases(summary, order)),
        (("value", "counter"), counters),
        (("blocks", "bytes", "heap"), _heap(summary)),
    )
    sections = (
        head(summary, found),
        *(table(*each, width=width, spare=SPARE, bold=bold) for each in tables),
        notes(summary),
    )
    return "\n".join(filter(None, sections))


def _images(summary: Summary) -> list[Cells]:
    """Return the images that ran longest, in order of first appearance."""
    longest = sorted(summary.images, key=lambda row: -row.elapsed_ns)
    left_out = longest[MANY:]
    dropped = {row.image for row in left_out}
    rows: list[Cells] = [
        (
            f"{row.reports:,}",
            duration(row.elapsed_ns),
            f"{row.count:,}" if row.calls_measured else "-",
            duration(row.total_ns if row.calls_measured else None),
            f"{image_name(row.image)}{_build(row.image.build_id)}",
        )
        for row in summary.images
        if row.image not in dropped
    ]
    if left_out:
        reports = f"{sum(row.reports for row in left_out):,}"
        elapsed = duration(sum(row.elapsed_ns for row in left_out))
        rows.append((reports, elapsed, "", "", f"and {many(len(left_out), 'more image')}"))
    return rows


def _build(build_id: str | None) -> str:
    return f" build id {build_id[:12]}" if build_id else ""


def _rows(what: str, summary: Summary, rows: Sequence[Row]) -> tuple[Cells, list[Cells]]:
    share = "of time" if summary.timed else "of calls"
    cells = [
        (percent(row.share), f"{row.count:,}", *_times(row), row.name or "(of no interface)")
        for row in rows
    ]
    return (share, "calls", *TIMES, what), cells


def _times(row: Row) -> Cells:
    estimates = (rough_duration(row.percentile(percent)) for percent in (50, 90, 99))
    return duration(row.total_ns), duration(row.mean_ns), *estimates, duration(row.max_ns)


def _phases(summary: Summary, order: str) -> list[Cells]:
    """Return the longest phases in order of their first beginning, each with its calls."""
    longest = sorted(summary.phases, key=lambda phase: -phase.elapsed_ns)
    left_out = longest[MANY:]
    dropped = {phase.name for phase in left_out}
    rows = []
    for phase in summary.phases:
        if phase.name not in dropped:
            rows += _phase(phase, summary, order, phase.name or "")
    if left_out:
        elapsed_ns = sum(phase.elapsed_ns for phase in left_out)
        share = percent(elapsed_ns / (summary.elapsed_ns or 1))
        more = f"and {many(len(left_out), 'shorter phase')}"
        begun = f"{sum(phase.count for phase in left_out):,}"
        rows.append((share, duration(elapsed_ns), begun, "", "", "", more))
    if summary.outside:
        rows += _phase(summary.outside, summary, order, "(outside any phase)")
    return rows


def _phase(phase: PhaseRow, summary: Summary, order: str, name: str) -> list[Cells]:
    functions = ordered(phase.functions, order)
    timed = summary.timed and summary.calls_measured
    total = sum(row.total_ns or 0 for row in functions) if timed else None
    rows: list[Cells] = [
        (
            percent(phase.elapsed_ns / (summary.elapsed_ns or 1)),
            duration(phase.elapsed_ns),
            f"{phase.count:,}" if phase.name is not None else "",
            f"{sum(row.count for row in functions):,}" if summary.calls_measured else "",
            duration(total),
            "",
            name,
        )
    ]
    for row in functions[:SOME]:
        times = duration(row.total_ns), duration(row.max_ns)
        rows.append(("", "", "", f"{row.count:,}", *times, f"  {row.name}"))
    told = []
    if functions[SOME:]:
        told.append(f"  and {many(len(functions) - SOME, 'more function')}")
    if phase.counters:
        grown = some(f"{name} {value:+,}" for name, value in phase.counters)
        told.append(f"  counters: {', '.join(grown)}")
    return [*rows, *(("", "", "", "", "", "", each) for each in told)]


def _heap(summary: Summary) -> list[Cells]:
    heap = summary.heap
    if heap is None:
        return []
    files = f", told by {heap.files[0]}" if len(heap.files) == 1 else ""
    if len(heap.files) > 1:
        files = f", told by {heap.files[0]} and {many(len(heap.files) - 1, 'more file')}"
    return [
        (f"{heap.blocks:,}", f"{heap.bytes:,}", f"allocated in all{files}"),
        (f"{heap.peak_blocks:,}", f"{heap.peak_bytes:,}", "at the peak of a process"),
        (f"{heap.end_blocks:,}", f"{heap.end_bytes:,}", "not freed at the end"),
    ]
