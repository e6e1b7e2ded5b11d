"""A comparison as JSON for programs."""

from __future__ import annotations

import json
from math import isinf
from typing import TYPE_CHECKING

from attrs import asdict

from okrun.report.significance import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.check import Regression
    from okrun.report.difference import Change, CountRow, Diff, TimeRow
    from okrun.report.side import Side

SCHEMA = 1


def as_json(diff: Diff, worse: Sequence[Regression] | None, threshold: float) -> str:
    """
    Return a comparison, and what is worse where that was asked, as one line of JSON, in ASCII.

    Source: CLI-2, DIFF-12.
    """
    value = {
        "schema": SCHEMA,
        "a": _side(diff.a),
        "b": _side(diff.b),
        "notes": diff.notes,
        "level": LEVEL,
        "tested": diff.tested,
        "needs": diff.needs,
        "times": [_time(row) for row in diff.times],
        "counts": [_count(row) for row in diff.counts],
        "check": None if worse is None else _check(diff, worse, threshold),
    }
    return json.dumps(value, allow_nan=False) + "\n"


def _side(side: Side) -> dict[str, object]:
    return {
        "path": side.path,
        "runs": len(side.runs),
        "reports": len(side.reports),
        "left_out": side.left_out,
        "images": [asdict(image) for image in side.images],
        "first_started_ns": side.runs[0].started_ns,
        "last_started_ns": side.runs[-1].started_ns,
        "overhead_ns": side.overhead_ns,
    }


def _time(row: TimeRow) -> dict[str, object]:
    return {
        "kind": row.kind,
        "name": row.name,
        "interface": row.interface,
        "presence": row.presence,
        "a_ns": row.a_ns,
        "b_ns": row.b_ns,
        "moved_ns": row.moved_ns,
        "total": _change(row.total),
        "a_each_ns": row.a_each_ns,
        "b_each_ns": row.b_each_ns,
        "each": _change(row.each),
    }


def _change(change: Change | None) -> dict[str, object] | None:
    if change is None:
        return None
    shift = change.shift
    return {
        "ratio": _finite(shift.ratio),
        "low": _finite(shift.low),
        "high": _finite(shift.high),
        "p": shift.p,
        "p_adjusted": change.p_adjusted,
        "mark": change.mark,
        "needs": change.needs,
    }


def _finite(value: float | None) -> float | None:
    """Return a ratio, or None where it is to or from nothing: JSON has no infinity."""
    return None if value is None or isinf(value) else value


def _count(row: CountRow) -> dict[str, object]:
    return {
        "kind": row.kind,
        "name": row.name,
        "interface": row.interface,
        "presence": row.presence,
        "a": row.a,
        "b": row.b,
        "same": row.same,
        "varies": row.varies,
    }


def _check(diff: Diff, worse: Sequence[Regression], threshold: float) -> dict[str, object]:
    return {
        "threshold": threshold,
        "times_judged": diff.needs is None,
        "regressions": [
            {key: getattr(each, key) for key in ("kind", "name", "what", "a", "b", "growth")}
            for each in worse
        ],
    }
