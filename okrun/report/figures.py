"""Numbers for people, in ASCII."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okrun.report.model import Ended

UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3))


def duration(ns: float | None) -> str:
    """Return a time in the unit that leaves one to three digits before the point."""
    if ns is None:
        return "-"
    for unit, size in UNITS:
        if round(abs(ns) * 1000 / size, 1) >= 1000:
            return f"{ns / size:,.2f} {unit}"
    return f"{ns:.1f} ns" if isinstance(ns, float) else f"{ns} ns"


def rough_duration(ns: int | None) -> str:
    """Return a time with the two digits that count of one that is known no better."""
    if ns is None:
        return "-"
    unit, size = next((each for each in UNITS if ns >= each[1]), ("ns", 1))
    amount = float(f"{ns / size:.2g}")
    return f"{amount:.1f} {unit}" if amount < 10 and size > 1 else f"{amount:,.0f} {unit}"


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


def many(value: int, noun: str) -> str:
    """Return how many there are of what the noun says."""
    return f"{value:,} {noun}{'s' * (value != 1)}"


def how(ended: Ended) -> str:
    """Return how the run ended."""
    if ended.signal is not None:
        return f"signal {ended.signal}"
    return f"{ended.by} {ended.status}"
