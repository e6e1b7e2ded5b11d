"""In which order rows are told."""

import pytest

from okrun.report.order import ORDERS, ordered
from okrun.report.summary import Row


def row(name, *times, count=None):
    log2 = [0] * 64
    for ns in times:
        log2[max(ns, 1).bit_length() - 1] += 1
    return Row(
        name=name,
        interface=None,
        count=len(times) if count is None else count,
        total_ns=sum(times),
        max_ns=max(times, default=None),
        log2_ns=tuple(log2),
        share=0,
    )


OFTEN = row("often", *[100] * 90, *[300] * 10)
SELDOM = row("seldom", 40, 40_000)
STEADY = row("steady", *[2000] * 3)
NEVER = row("never", count=1)
FIRST = {
    "time": ("seldom", "often", "steady", "never"),
    "count": ("often", "steady", "seldom", "never"),
    "mean": ("seldom", "steady", "often", "never"),
    "max": ("seldom", "steady", "often", "never"),
    "p50": ("steady", "often", "seldom", "never"),
    "p90": ("seldom", "steady", "often", "never"),
    "p99": ("seldom", "steady", "often", "never"),
    "name": ("never", "often", "seldom", "steady"),
}


@pytest.mark.spec("RPT-7")
@pytest.mark.parametrize("order", ORDERS)
def test_greatest_first(order):
    """Each order puts the greatest first and what has no such time last; names ascend."""
    rows = (STEADY, NEVER, OFTEN, SELDOM)
    assert tuple(each.name for each in ordered(rows, order)) == FIRST[order]


@pytest.mark.spec("RPT-7")
def test_without_times_by_count():
    """Where no time is known the calls decide, and then the name."""
    rows = [
        Row(
            name=name,
            interface=None,
            count=count,
            total_ns=None,
            max_ns=None,
            log2_ns=None,
            share=0,
        )
        for name, count in (("b", 2), ("c", 7), ("a", 2))
    ]
    assert [each.name for each in ordered(rows, "time")] == ["c", "a", "b"]
    assert [each.name for each in ordered(rows, "p99")] == ["c", "a", "b"]
