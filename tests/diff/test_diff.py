"""Rows: which there are, in which order, and what they say."""

import pytest

from okrun.report.diff import diff

HEAP = {
    "file": None, "blocks": 10, "bytes": 4096, "peak_blocks": 4, "peak_bytes": 1024,
    "end_blocks": 0, "end_bytes": 0, "overhead_ns": 150.0,
}  # fmt: skip


def row(rows, name, kind="call"):
    (found,) = [each for each in rows if (each.kind, each.name) == (kind, name)]
    return found


def ten(**times):
    """Return ten runs that take that, each a thousandth longer than the one before."""
    return [{name: ns * (1 + at / 1000) for name, ns in times.items()} for at in range(10)]


@pytest.mark.spec("DIFF-3")
def test_what_moved_most_comes_first(timed):
    """By nanoseconds a run, up or down; not by percent, and not by how much it takes."""
    a = timed([{"kal_alloc": 9_000_000, "kal_free": 1000, "kal_stream_write": 50_000}])
    b = timed([{"kal_alloc": 9_000_100, "kal_free": 4000, "kal_stream_write": 30_000}], first=1)
    names = [(each.name, each.moved_ns) for each in diff(a, b).times]
    assert names == [
        ("kal_stream_write", -20_000),
        ("elapsed", -16_900),
        ("kal_free", 3000),
        ("kal_alloc", 100),
    ]


@pytest.mark.spec("DIFF-3")
def test_new_and_vanished_rows_are_kept(timed):
    """A call that one side alone makes is a row of times and one of counts, and marked as such."""
    changed = diff(timed(ten(kal_alloc=1000)), timed(ten(kal_free=500), first=1))
    alloc, free = (row(changed.times, f"kal_{name}") for name in ("alloc", "free"))
    assert (alloc.presence, free.presence) == ("gone", "new")
    assert (alloc.b_ns, alloc.b_each_ns, free.a_ns, free.a_each_ns) == (0, None, 0, None)
    assert {alloc.total, alloc.each, free.total, free.each} == {None}
    assert row(changed.counts, "kal_alloc").presence == "gone"
    assert row(changed.counts, "kal_free").b == (1000, 1000)


@pytest.mark.spec("DIFF-3")
def test_a_call_that_some_runs_alone_make(timed):
    """It is on both sides, at no time in the runs that do not make it."""
    some = ten(kal_alloc=1000)
    for each in some[:3]:
        each["kal_free"] = 500
    found = row(diff(timed(some), timed(some, first=1)).times, "kal_free")
    assert (found.presence, found.a_ns, found.a_each_ns) == ("both", 0, 0.5)


@pytest.mark.spec("DIFF-4")
def test_more_calls_are_not_slower_calls(timed):
    """A fifth more calls that each take as long: the run is marked slower, the call is not."""
    a = timed(ten(kal_alloc=1e6, kal_free=1e6))
    b = timed(ten(kal_alloc=1.2e6, kal_free=1e6), {"kal_alloc": 1200}, first=1)
    found = row(diff(a, b).times, "kal_alloc")
    assert found.total.mark == "slower"
    assert found.total.shift.ratio == pytest.approx(1.2)
    assert (found.each.mark, found.each.shift.ratio) == (None, pytest.approx(1))
    assert (found.a_each_ns, found.b_each_ns) == (pytest.approx(1004.5), pytest.approx(1004.5))


@pytest.mark.spec("DIFF-4")
def test_slower_calls_are_found_behind_fewer_of_them(timed):
    """A fifth slower, and a sixth fewer: the run takes as long, the call is marked slower."""
    a = timed(ten(kal_alloc=1e6, kal_free=1e6), {"kal_alloc": 1200})
    b = timed(ten(kal_alloc=1e6, kal_free=1e6), {"kal_alloc": 1000}, first=1)
    found = row(diff(a, b).times, "kal_alloc")
    assert (found.total.mark, found.each.mark) == (None, "slower")
    assert found.each.shift.ratio == pytest.approx(1.2)


@pytest.mark.spec("DIFF-4")
def test_with_as_many_calls_a_change_is_tested_once(timed):
    """Where every run has as many calls, the call's change is the run's, and no test of its own."""
    times = ten(kal_alloc=1e6, kal_free=1e6)
    changed = diff(timed(times), timed(times, first=1))
    assert changed.tested == 3
    assert all(each.each is each.total for each in changed.times if each.kind == "call")
    varied = [{"kal_alloc": 1000 + at} for at in range(10)]
    assert diff(timed(times, varied), timed(times, first=1)).tested == 4


@pytest.mark.spec("DIFF-4")
def test_calls_that_never_returned(make_side):
    """A call that ends the program is counted and has no time, in a run and on average."""
    ends = {"name": "kal_exit", "interface": "openkal.abort", "count": 1, "total_ns": 0,
            "max_ns": 0, "log2_ns": []}  # fmt: skip
    edits = {"calls": [ends], "phases": [], "phase_totals": []}
    changed = diff(make_side([edits]), make_side([edits], first=1))
    assert [each.name for each in changed.times] == ["elapsed"]
    assert row(changed.counts, "kal_exit").same


@pytest.mark.spec("DIFF-2")
def test_a_run_is_all_its_reports(make_side):
    """Reports of one okprof record are one run, whose times and counts are their sums."""
    a = make_side([{"run": "x"}, {"run": "x"}, {"run": "y"}, {"run": None}, {"run": None}])
    b = make_side([{"run": "z"}], first=1)
    assert (len(a.runs), len(b.runs)) == (4, 1)
    assert a.times["run", "elapsed"] == [6_000_000, 3_000_000, 3_000_000, 3_000_000]
    assert a.counts["call", "kal_stream_write"] == [6, 3, 3, 3]
    assert a.counts["run", "images"] == [2, 1, 1, 1]
    assert a.counts["counter", "lines"] == [14, 7, 7, 7]
    assert a.times["phase", "read"] == [1500, 750, 750, 750]
    assert a.counts["phase", "read"] == [4, 2, 2, 2]


@pytest.mark.spec("DIFF-3", "DIFF-10")
def test_phases_counters_and_the_heap_are_compared_too(make_side):
    """Phases by time and by how often they began; counters and the heap exactly."""
    longer = [
        {"name": "read", "count": 3, "elapsed_ns": 950, "calls": [], "counters": []},
    ]
    a = make_side([{"heap": HEAP}])
    b = make_side(
        [
            {
                "heap": HEAP | {"bytes": 8192},
                "phases": [],
                "phase_totals": longer,
                "counters": [{"name": "lines", "value": 9}],
            }
        ],
        first=1,
    )
    changed = diff(a, b)
    assert row(changed.times, "read", "phase").moved_ns == 200
    assert row(changed.times, "write", "phase").presence == "gone"
    counts = {(each.kind, each.name): (each.a, each.b) for each in changed.counts if not each.same}
    assert counts == {
        ("phase", "read"): ((2, 2), (3, 3)),
        ("phase", "write"): ((1, 1), (0, 0)),
        ("counter", "lines"): ((7, 7), (9, 9)),
        ("heap", "bytes"): ((4096, 4096), (8192, 8192)),
    }


@pytest.mark.spec("DIFF-10")
def test_counts_that_vary(timed):
    """A count that differs between runs of one side is told from the least to the greatest."""
    times = ten(kal_alloc=1e6, kal_free=1e6)
    varied = [{"kal_alloc": 1000 + at} for at in range(10)]
    changed = diff(timed(times, varied), timed(times, first=1))
    alloc, free = (row(changed.counts, f"kal_{name}") for name in ("alloc", "free"))
    assert (alloc.a, alloc.b, alloc.varies, alloc.same) == ((1000, 1009), (1000, 1000), True, False)
    assert (free.varies, free.same) == (False, True)


@pytest.mark.spec("DIFF-10")
@pytest.mark.parametrize(
    ("what", "times", "counts"),
    [
        (["count"], {"run", "phase"}, {"run", "phase", "counter", "call"}),
        (["counters"], {"run", "phase"}, {"run", "phase", "counter"}),
    ],
    ids=["counts alone", "neither"],
)
def test_what_one_side_did_not_measure_is_not_compared(make_side, what, times, counts):
    """It is not nothing: calls that were not counted are not gone, nor is the heap."""
    edits = {"what": what} if what == ["count"] else {"what": what, "calls": []}
    if what == ["counters"]:
        edits |= {"phase_totals": [{"name": "read", "count": 2, "elapsed_ns": 750, "calls": [],
                                    "counters": []}]}  # fmt: skip
    changed = diff(make_side([{"heap": HEAP}]), make_side([edits], first=1))
    assert {each.kind for each in changed.times} == times
    assert {each.kind for each in changed.counts} == counts


@pytest.mark.spec("DIFF-10")
def test_a_counter_that_was_not_read_whole_is_not_compared(make_side):
    """Its value is not exact, so it is no exact count."""
    changed = diff(make_side([{"lost": ["lines"]}]), make_side([{}], first=1))
    assert "counter" not in {each.kind for each in changed.counts}


@pytest.mark.spec("DIFF-6")
def test_too_few_runs_for_a_mark(timed):
    """However far apart, three and three runs get none, and it is said how many would do."""
    a, b = timed(ten(kal_alloc=1e6)[:3]), timed(ten(kal_alloc=9e6)[:3], first=1)
    changed = diff(a, b)
    assert {each.total.mark for each in changed.times} == {None}
    assert {each.total.shift.low for each in changed.times} == {None}
    assert changed.needs > 3
    enough = changed.needs
    a, b = timed(ten(kal_alloc=1e6)[:enough]), timed(ten(kal_alloc=9e6)[:enough], first=1)
    again = diff(a, b)
    assert again.needs is None
    assert {each.total.mark for each in again.times} == {"slower"}


@pytest.mark.spec("DIFF-5", "DIFF-7")
def test_thousands_of_runs(timed, rng):
    """Of 600 runs a side a tenth is found as of ten."""
    runs = [rng.lognormvariate(10, 0.05) for _ in range(600)]
    a, b = (
        timed([{"kal_alloc": by * ns} for ns in runs], first=at) for at, by in ((0, 1), (1, 1.1))
    )
    changed = {row.name: row.total for row in diff(a, b).times}["kal_alloc"]
    assert changed.mark == "slower"
    assert changed.shift.ratio == pytest.approx(1.1, rel=0.01)


@pytest.mark.spec("DIFF-6")
def test_too_few_runs_for_what_takes_little(timed):
    """What takes little of the time needs more runs before it can be marked, and says so."""
    means = {f"kal_{at}": 1e7 if at == 0 else 1e4 for at in range(60)}
    changed = diff(timed(ten(**means)[:7]), timed(ten(**means)[:7], first=1))
    needs = {each.total.needs for each in changed.times}
    assert changed.needs is None
    assert None in needs
    assert max(filter(None, needs)) > 7


@pytest.mark.spec("DIFF-8")
@pytest.mark.parametrize(("factor", "mark"), [(1.008, None), (1.02, "slower"), (0.98, "faster")])
def test_less_than_one_percent_gets_no_mark(timed, factor, mark):
    """However sure it is: code that lies elsewhere makes as much."""
    a = [{"kal_alloc": 1e6 * (1 + at / 1e6)} for at in range(10)]
    b = [{"kal_alloc": factor * each["kal_alloc"]} for each in a]
    found = row(diff(timed(a), timed(b, first=1)).times, "kal_alloc")
    assert found.total.shift.p < 0.0001
    assert found.total.mark == mark


@pytest.mark.spec("DIFF-8")
@pytest.mark.parametrize(("cost", "mark"), [(30, "slower"), (32.1, None)])
def test_what_measuring_itself_may_have_changed_gets_no_mark(make_side, cost, mark):
    """A call is 2 ns slower: no more than by what the sides differ in the cost of measuring it."""

    def times(total, overhead):
        calls = [{"name": "kal_alloc", "interface": "openkal.memory", "count": 1000,
                  "total_ns": total, "max_ns": 90, "log2_ns": [1000]}]  # fmt: skip
        clock = {"source": "tsc", "overhead_ns": overhead}
        return {"calls": calls, "clock": clock, "phases": [], "phase_totals": []}

    a = make_side([times(40_000 + at, 30.0) for at in range(10)])
    b = make_side([times(42_000 + at, float(cost)) for at in range(10)], first=1)
    assert row(diff(a, b).times, "kal_alloc").total.mark == mark
