"""Numbers for people, as the page shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okrun.report.model import Ended

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def span(ns: float | None, digits: int = 3) -> str:
    """Return a time with its first *digits* digits, in the greatest unit that it has one of."""
    if ns is None:
        return "-"
    for size, unit in UNITS:
        if abs(ns) >= 0.9995 * size:  # 999.9 us and more would be shown as 1,000
            return f"{_digits(ns / size, digits)} {unit}"
    return f"{_digits(ns, digits) if isinstance(ns, float) else ns} ns"


def about(ns: int | None) -> str:
    """Return a time that is known no better than to two digits."""
    return span(None if ns is None else int(float(f"{ns:.2g}")), digits=2)


def _digits(value: float, digits: int) -> str:
    before = 1 if abs(value) < 9.995 else 2 if abs(value) < 99.95 else 3
    return f"{value:,.{max(0, digits - before)}f}"


def count(value: int | None) -> str:
    """Return a number with its thousands apart."""
    return "-" if value is None else f"{value:,}"


def percent(share: float) -> str:
    """Return a share of 1 in percent; what is not nothing does not look like it."""
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def moment(ns: int) -> str:
    """Return a time since 1970 as UTC, to the millisecond."""
    second, rest = divmod(ns, 10**9)
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}.{rest // 10**6:03} UTC"


def some(value: int, what: str) -> str:
    """Return how many there are of *what*, which takes an s where they are several."""
    return f"{count(value)} {what}{'' if value == 1 else 's'}"


def how(ended: Ended) -> str:
    """Return how the run ended."""
    if ended.signal is not None:
        return f"signal {ended.signal}"
    return f"{ended.by} {ended.status}"
