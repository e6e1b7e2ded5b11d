"""In which order rows are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from okrun.report.summary import Row

_KEYS: dict[str, Callable[[Row], float | None]] = {
    "time": lambda row: row.total_ns,
    "count": lambda row: row.count,
    "mean": lambda row: row.mean_ns,
    "max": lambda row: row.max_ns,
    "p50": lambda row: row.percentile(50),
    "p90": lambda row: row.percentile(90),
    "p99": lambda row: row.percentile(99),
}
ORDERS = (*_KEYS, "name")


def ordered(rows: Iterable[Row], order: str) -> tuple[Row, ...]:
    """
    Return *rows* in one of `ORDERS`: the greatest first, what is not known last, then by count.

    Source: RPT-7.
    """
    by_name = sorted(rows, key=lambda row: row.name or "")
    if order == "name":
        return tuple(by_name)
    value = _KEYS[order]

    def key(row: Row) -> tuple[float, int]:
        known = value(row)
        return (-1 if known is None else known, row.count)

    return tuple(sorted(by_name, key=key, reverse=True))
