"""A summary of reports as text for people and as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from okld.base.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.merge import Row, Summary

SCHEMA = 1


def as_json(summary: Summary) -> str:
    """
    Return the summary as one line of JSON, in ASCII.

    Source: CLI-2.
    """
    value = {
        "schema": SCHEMA,
        "reports": summary.reports,
        "images": [{"path": path, "arch": arch} for path, arch in summary.images],
        "clocks": [{"source": name, "overhead_ns": cost} for name, cost in summary.clocks],
        "ended": dict(summary.ends),
        "elapsed_ns": summary.elapsed_ns,
        "interfaces": [_row(row, ()) for row in summary.interfaces],
        "calls": [_row(row, ("interface",)) for row in summary.functions],
        "counters": [{"name": name, "value": value} for name, value in summary.counters],
        "phases": [
            {"name": phase.name, "count": phase.count, "elapsed_ns": phase.elapsed_ns}
            for phase in summary.phases
        ],
        "lost": list(summary.lost),
    }
    return json.dumps(value) + "\n"


def _row(row: Row, more: tuple[str, ...]) -> dict[str, object]:
    keys = ("name", *more, "count", "total_ns", "mean_ns", "max_ns", "share")
    return {key: getattr(row, key) for key in keys}


def as_text(summary: Summary) -> str:
    """Return the summary as tables."""
    share = "of time" if summary.timed else "of calls"
    heading = ("calls", "total", "mean", "max", share)
    tables = [
        _table(("interface", *heading), [_cells(row) for row in summary.interfaces]),
        _table(("function", *heading), [_cells(row) for row in summary.functions]),
        _table(("counter", "value"), [(name, str(value)) for name, value in summary.counters]),
        _table(
            ("phase", "times", "total"),
            [(each.name, str(each.count), _time(each.elapsed_ns)) for each in summary.phases],
        ),
    ]
    lost = [f"not read whole: {printable(name)}\n" for name in summary.lost]
    return "\n".join([_head(summary), *filter(None, [*tables, "".join(lost)])])


def _head(summary: Summary) -> str:
    runs = "1 run" if summary.reports == 1 else f"{summary.reports} runs"
    images = ", ".join(f"{printable(path)} ({printable(arch)})" for path, arch in summary.images)
    ends = ", ".join(f"{by} ({count})" for by, count in summary.ends)
    clocks = ", ".join(
        f"{printable(source)}, which adds {_time(cost)} to a call"
        for source, cost in summary.clocks
    )
    return (
        f"{runs} of {images}, {_time(summary.elapsed_ns)} in all\n"
        f"ended by: {ends}\n"
        f"clock: {clocks}\n"
    )


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name or "-",
        str(row.count),
        _time(row.total_ns),
        _time(row.mean_ns),
        _time(row.max_ns),
        f"{100 * row.share:.1f} %",
    )


def _time(ns: float | None) -> str:
    """Return a time in the unit that leaves one to three digits before the point."""
    if ns is None:
        return "-"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.1f} ns" if isinstance(ns, float) else f"{ns} ns"


def _table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return lines of columns, the first to the left; nothing where there is no row."""
    if not rows:
        return ""
    shown = [heading, *[tuple(map(printable, row)) for row in rows]]
    widths = [max(len(row[column]) for row in shown) for column in range(len(heading))]
    return "".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in shown
    )
