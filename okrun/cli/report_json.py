"""A summary of reports as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import asdict

from okrun.report.order import ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from okrun.report.files import Found
    from okrun.report.summary import PhaseRow, Row, Summary

SCHEMA = 2
"""1 had neither percentiles nor images, phases or heap as they are now."""


def as_json(summary: Summary, found: Found, order: str) -> str:
    """
    Return the summary of what was found as one line of JSON, in ASCII.

    Source: CLI-2, RPT-11.
    """
    value = {
        "schema": SCHEMA,
        "reports": summary.reports,
        "runs": summary.runs,
        "calls_measured": summary.calls_measured,
        "images": [
            {
                **asdict(row.image),
                "reports": row.reports,
                "calls_measured": row.calls_measured,
                "elapsed_ns": row.elapsed_ns,
                "count": row.count,
                "total_ns": row.total_ns,
            }
            for row in summary.images
        ],
        "ended": [{**asdict(ended), "reports": count} for ended, count in summary.ends],
        "clocks": [{**asdict(clock), "reports": count} for clock, count in summary.clocks],
        "elapsed_ns": summary.elapsed_ns,
        "measuring_ns": summary.measuring_ns,
        "tasks": summary.tasks,
        "timed": summary.timed,
        "interfaces": _rows(summary.interfaces, order, ()),
        "calls": _rows(summary.functions, order, ("interface",)),
        "counters": _counters(summary.counters),
        "phases": [_phase(phase, order, ("name", "count")) for phase in summary.phases],
        "outside_phases": summary.outside and _phase(summary.outside, order, ()),
        "phases_left_out": summary.phases_left_out,
        "lost": summary.lost,
        "heap": summary.heap and asdict(summary.heap),
        "unfinished": [asdict(each) for each in found.unfinished],
        "headless": found.headless,
    }
    return json.dumps(value) + "\n"


def _rows(rows: Iterable[Row], order: str, more: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "name": row.name,
            **{key: getattr(row, key) for key in more},
            "count": row.count,
            "returned": row.returned,
            "total_ns": row.total_ns,
            "mean_ns": row.mean_ns,
            **{f"p{percent}_ns": row.percentile(percent) for percent in (50, 90, 99)},
            "max_ns": row.max_ns,
            "log2_ns": row.log2_ns,
            "share": row.share,
        }
        for row in ordered(rows, order)
    ]


def _phase(phase: PhaseRow, order: str, keys: Sequence[str]) -> dict[str, object]:
    return {
        **{key: getattr(phase, key) for key in keys},
        "elapsed_ns": phase.elapsed_ns,
        "calls": _rows(phase.functions, order, ("interface",)),
        "counters": _counters(phase.counters),
    }


def _counters(counters: Iterable[tuple[str, int]]) -> list[dict[str, object]]:
    return [{"name": name, "value": value} for name, value in counters]
