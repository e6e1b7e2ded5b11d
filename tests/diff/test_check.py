"""--check: what counts as worse."""

import pytest

from okrun.report.check import regressions
from okrun.report.diff import diff

BASE = {"kal_alloc": 1e6, "kal_free": 1e6}
HEAP = {
    "file": None, "blocks": 10, "bytes": 4096, "peak_blocks": 4, "peak_bytes": 1024,
    "end_blocks": 0, "end_bytes": 0, "overhead_ns": 150.0,
}  # fmt: skip


@pytest.fixture
def worse(timed):
    """Return what is worse in B: functions' times and counts there, where they differ from A."""

    def worse(times, counts=None, threshold=0.05, runs=10, counts_a=None):
        a, b = (
            [{name: ns * (1 + at / 1000) for name, ns in side.items()} for at in range(runs)]
            for side in (BASE, BASE | times)
        )
        changed = diff(timed(a, counts_a), timed(b, counts, first=1))
        return [(each.name, each.what) for each in regressions(changed, threshold)]

    return worse


@pytest.mark.spec("DIFF-11")
@pytest.mark.parametrize(
    ("factor", "threshold", "found"),
    [
        (1.0, 0.05, []),
        (1.04, 0.05, []),
        (1.04, 0.02, [("kal_alloc", "time")]),
        (1.08, 0.05, [("kal_alloc", "time")]),
        (1.2, 0.05, [("elapsed", "time"), ("kal_alloc", "time")]),
        (1.2, 0.15, [("kal_alloc", "time")]),
        (0.5, 0.05, []),
    ],
)
def test_slower_by_more_than_the_threshold(worse, factor, threshold, found):
    """A time that is marked and has grown by more; not one that is faster, or within it."""
    assert sorted(worse({"kal_alloc": factor * 1e6}, threshold=threshold)) == found


@pytest.mark.spec("DIFF-11")
def test_a_time_without_a_mark_is_no_regression(worse):
    """Three runs a side can tell nothing of times, however much they have grown."""
    assert worse({"kal_alloc": 9e6}, runs=3) == []


@pytest.mark.spec("DIFF-11")
def test_more_calls_in_every_run(worse):
    """A count is exact, so that one run is enough: a tenth more is worse, 4 in 100 more are not."""
    assert worse({}, {"kal_alloc": 1100}, runs=1) == [("kal_alloc", "count")]
    assert worse({}, {"kal_alloc": 1040}, runs=1) == []
    assert worse({}, {"kal_alloc": 900}, runs=1) == []


@pytest.mark.spec("DIFF-11")
def test_counts_that_vary_have_to_grow_in_every_run(worse):
    """The least of B against the greatest of A."""
    some = [{"kal_alloc": 1000 + 100 * (at % 3)} for at in range(10)]
    more = [{"kal_alloc": 1300 + 100 * (at % 3)} for at in range(10)]
    assert worse({}, some, counts_a=some) == []
    assert worse({}, some) == []
    assert ("kal_alloc", "count") in worse({}, more, counts_a=some)


@pytest.mark.spec("DIFF-11")
def test_a_new_call_is_a_regression(worse):
    """From nothing to something is more than any threshold; one that is gone is no regression."""
    assert worse({"kal_map_file": 10}, threshold=10, runs=1) == [("kal_map_file", "count")]


@pytest.mark.spec("DIFF-11")
def test_slower_calls_behind_fewer_of_them(worse):
    """A call that is slower is worse even where the run is not, and is named as that."""
    assert worse({}, {"kal_alloc": 800}) == [("kal_alloc", "time of a call")]


@pytest.mark.spec("DIFF-11")
def test_the_heap_is_judged_and_counters_are_not(make_side):
    """More bytes are worse; whether more of a program's own counter is, it alone knows."""
    more = {"heap": HEAP | {"bytes": 9000}, "counters": [{"name": "lines", "value": 900}]}
    changed = diff(make_side([{"heap": HEAP}]), make_side([more], first=1))
    found = [(each.kind, each.name, each.growth) for each in regressions(changed, 0.05)]
    assert found == [("heap", "bytes", pytest.approx(9000 / 4096 - 1))]
