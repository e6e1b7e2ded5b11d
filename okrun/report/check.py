"""Is anything worse than it was?"""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

from attrs import frozen

from okrun.report.difference import SLOWER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from okrun.report.difference import Change, CountRow, Diff, TimeRow

THRESHOLD = 0.05
"""By how much of itself something may grow, where nothing else is said."""

JUDGED = ("call", "heap")
"""The counts that are work. Which way a counter is worse is known to its program alone."""


@frozen(kw_only=True)
class Regression:
    """
    Something that is worse in B.

    Attributes:
        kind, name: See `okrun.report.side.Key`.
        what: ``time`` (of a run), ``time of a call`` or ``count``.
        a, b: Its times in nanoseconds; or the greatest count of A's runs and the least of B's.
        growth: By how much of itself; None from nothing.
        change: Of the time, or None.
    """

    kind: str
    name: str
    what: str
    a: float
    b: float
    growth: float | None
    change: Change | None


def regressions(diff: Diff, threshold: float = THRESHOLD) -> tuple[Regression, ...]:
    """
    Return what is worse by more than *threshold*, a share of 1: marked times and exact counts.

    Source: DIFF-11.
    """
    return (
        *(each for row in diff.times for each in _slower(row, threshold)),
        *(each for row in diff.counts for each in _more(row, threshold)),
    )


def _slower(row: TimeRow, threshold: float) -> Iterator[Regression]:
    if row.total and _beyond(row.total, threshold):
        yield _of_time(row, "time", row.a_ns, row.b_ns, row.total)
    if row.each and row.each is not row.total and _beyond(row.each, threshold):
        yield _of_time(row, "time of a call", row.a_each_ns or 0, row.b_each_ns or 0, row.each)


def _beyond(change: Change, threshold: float) -> bool:
    return change.mark == SLOWER and change.shift.ratio > 1 + threshold


def _of_time(row: TimeRow, what: str, a: float, b: float, change: Change) -> Regression:
    growth = None if isinf(change.shift.ratio) else change.shift.ratio - 1
    return Regression(
        kind=row.kind, name=row.name, what=what, a=a, b=b, growth=growth, change=change
    )


def _more(row: CountRow, threshold: float) -> Iterator[Regression]:
    most, least = row.a[1], row.b[0]
    if row.kind in JUDGED and least > most * (1 + threshold):
        yield Regression(
            kind=row.kind,
            name=row.name,
            what="count",
            a=most,
            b=least,
            growth=least / most - 1 if most else None,
            change=None,
        )
