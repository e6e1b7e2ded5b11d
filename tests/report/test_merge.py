"""Several reports, added up. The sums are those of the report in reporting.py, done by hand."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting import HEAP, call, call_in_phase, encode, report_object

from okrun.report.codec import decode
from okrun.report.merge import merge
from okrun.report.model import Clock, Ended, Image
from okrun.report.summary import HeapRow, ImageRow, Row

STEP_6 = (0,) * 6 + (1,)


def read(**edits):
    return decode(encode(report_object(**edits)))


@pytest.mark.spec("REP-3", "RPT-5")
def test_by_function_and_by_interface(make_report):
    """Calls add up by function and by interface, greatest share of the time first."""
    summary = merge([make_report()])
    assert summary.timed
    assert summary.interfaces == (
        Row(name="openkal.stream", interface="openkal.stream", count=5, total_ns=1900,
            max_ns=1000, log2_ns=(0, 0, 0, 0, 0, 2, 0, 0, 2, 1), share=0.95),
        Row(name=None, interface=None, count=1, total_ns=100, max_ns=100, log2_ns=STEP_6,
            share=0.05),
    )  # fmt: skip
    assert [(row.name, row.count, row.share) for row in summary.functions] == [
        ("kal_stream_write", 3, 0.9),
        ("kal_stdout", 2, 0.05),
        ("kal_version", 1, 0.05),
    ]
    assert summary.functions[0].mean_ns == 600


@pytest.mark.spec("REP-3", "RPT-5")
def test_two_reports_are_added(make_report, good):
    """
    Counts, times, counters and phases of two reports are added, and the longest call is the longer
    one.
    """
    calls = [*good["calls"][:2], call("kal_stream_write", "openkal.stream", 50, 60, 90)]
    calls[2]["count"] = 4
    summary = merge(
        [
            make_report(),
            make_report(
                image={"path": "other.ok", "build_id": None, "arch": "x86_64"},
                ended={"by": "signal", "status": 139, "signal": 11},
                calls=calls,
                counters=[{"name": "words", "value": 1}, {"name": "lines", "value": 2**64 - 1}],
                lost=["gone"],
                tasks=8,
                phases_left_out=3,
            ),
        ]
    )
    assert (summary.reports, summary.runs, summary.tasks) == (2, 2, 8)
    assert summary.images == (
        ImageRow(image=Image(path="hello.ok", build_id="00ff", arch="x86_64"), reports=1,
                 calls_measured=1, elapsed_ns=3_000_000, count=6, total_ns=2000),
        ImageRow(image=Image(path="other.ok", build_id=None, arch="x86_64"), reports=1,
                 calls_measured=1, elapsed_ns=3_000_000, count=7, total_ns=400),
    )  # fmt: skip
    assert summary.clocks == ((Clock(source="tsc", overhead_ns=21.5), 2),)
    assert summary.ends == (
        (Ended(by="exit", status=42, signal=None), 1),
        (Ended(by="signal", status=139, signal=11), 1),
    )
    assert summary.elapsed_ns == 6_000_000
    write = summary.functions[0]
    assert (write.name, write.count, write.returned) == ("kal_stream_write", 7, 6)
    assert (write.total_ns, write.max_ns, write.mean_ns) == (2000, 1000, 2000 / 6)
    assert write.log2_ns == (0, 0, 0, 0, 0, 2, 1, 0, 2, 1)
    assert summary.counters == (("lines", 7 + 2**64 - 1), ("words", 1))
    assert (summary.lost, summary.phases_left_out) == (("gone",), 3)


@pytest.mark.spec("RPT-8")
def test_phases_and_what_lies_outside(make_report):
    """
    Each phase has its own calls and counters, added up, and outside of any is all less the phases.
    """
    summary = merge([make_report(), make_report()])
    read, write = summary.phases
    assert [(each.name, each.count, each.elapsed_ns) for each in summary.phases] == [
        ("read", 4, 1500),
        ("write", 2, 480),
    ]
    assert [(row.name, row.count, row.total_ns, row.max_ns) for row in read.functions] == [
        ("kal_stream_write", 4, 2800, 1000),
        ("kal_stdout", 2, 120, 60),
    ]
    assert read.functions[1].interface == "openkal.stream"
    assert read.functions[0].share == 2800 / 2920
    assert (read.counters, write.counters) == ((("lines", 10),), (("lines", 2),))
    outside = summary.outside
    assert (outside.name, outside.count, outside.elapsed_ns) == (None, 0, 6_000_000 - 1980)
    assert [(row.name, row.count, row.total_ns, row.max_ns) for row in outside.functions] == [
        ("kal_version", 2, 200, None),
        ("kal_stdout", 2, 80, None),
    ]
    assert outside.functions[1].log2_ns == (0, 0, 0, 0, 0, 2)
    assert outside.counters == (("lines", 2),)


@pytest.mark.spec("RPT-8")
def test_outside_of_one_name_in_two_interfaces(make_report):
    """A name that two reports have in different interfaces is two functions, outside phases too."""
    reports = [
        make_report(calls=[call("kal_f", interface, 50, 50)], phase_totals=[
            {"name": "read", "count": 1, "elapsed_ns": 60, "counters": [],
             "calls": [call_in_phase("kal_f", 50)]}])
        for interface in ("openkal.fs", "openkal.net")
    ]  # fmt: skip
    outside = merge(reports).outside
    assert [(row.interface, row.count, row.total_ns) for row in outside.functions] == [
        ("openkal.fs", 1, 50),
        ("openkal.net", 1, 50),
    ]


@pytest.mark.spec("RPT-8")
def test_without_phases_nothing_lies_outside(make_report):
    """A program that names no phase has none, and no outside."""
    summary = merge([make_report(phases=[], phase_totals=[])])
    assert (summary.phases, summary.outside) == ((), None)


@pytest.mark.spec("RPT-8")
def test_a_counter_may_fall(make_report):
    """What fell in a phase, modulo 2^64 in a report, is less than nothing."""
    phases = [{"name": "undo", "count": 1, "elapsed_ns": 1, "calls": [],
               "counters": [{"name": "lines", "value": 2**64 - 5}]}]  # fmt: skip
    summary = merge([make_report(phase_totals=phases)])
    assert summary.phases[0].counters == (("lines", -5),)
    assert summary.outside.counters == (("lines", 12),)


@pytest.mark.spec("RPT-8")
def test_what_was_lost_is_not_put_outside(make_report):
    """A counter whose end is not known is in the phases that know it, and not outside."""
    summary = merge([make_report(counters=[{"name": "lines", "value": 0}], lost=["lines"])])
    assert summary.phases[0].counters == (("lines", 5),)
    assert summary.outside.counters == ()


@pytest.mark.spec("REP-3", "RPT-5")
def test_counts_only(make_report):
    """Where no times were taken there are none, and shares are of the calls."""
    summary = merge([make_report(what=["count"])])
    assert not summary.timed
    stream = summary.interfaces[0]
    assert (stream.count, stream.total_ns, stream.mean_ns, stream.max_ns) == (5, None, None, None)
    assert (stream.log2_ns, stream.returned, stream.percentile(50)) == (None, None, None)
    assert [row.share for row in summary.functions] == [3 / 6, 2 / 6, 1 / 6]
    assert [row.count for row in summary.outside.functions] == [1, 1]


@pytest.mark.spec("REP-3", "RPT-5")
def test_a_time_that_is_not_known_for_all_is_not_known(make_report):
    """A function that one report timed and another only counted has a count and no time."""
    summary = merge([make_report(), make_report(what=["count"])])
    assert [(row.count, row.total_ns) for row in summary.interfaces] == [(10, None), (2, None)]


@pytest.mark.spec("REP-3")
def test_no_calls(make_report):
    """A run that called nothing has no rows, and divides nothing by zero."""
    summary = merge([make_report(calls=[], phase_totals=[])])
    assert summary.functions == summary.interfaces == ()


@pytest.mark.spec("RPT-5")
def test_a_call_that_has_not_returned_has_no_mean(make_report):
    """The mean is of the calls that returned; where none did there is none."""
    calls = [call("kal_exit", "openkal.abort"), call("kal_alloc", "openkal.memory", 30)]
    for each in calls:
        each["count"] += 1
    summary = merge([make_report(calls=calls, phase_totals=[])])
    alloc, leave = summary.functions
    assert (leave.count, leave.returned, leave.mean_ns, leave.percentile(50)) == (1, 0, None, None)
    assert (alloc.count, alloc.returned, alloc.mean_ns) == (2, 1, 30)


@pytest.mark.spec("RPT-9")
def test_cost_of_measuring(make_report):
    """It is what measuring adds to a call, for each call, and to a block, for each block."""
    assert merge([make_report()]).measuring_ns == 6 * 21.5
    heap = make_report(heap=HEAP, clock={"source": "monotonic", "overhead_ns": 0})
    assert merge([make_report(), heap]).measuring_ns == 6 * 21.5 + 10 * 150


@pytest.mark.spec("RPT-5")
def test_heaps(make_report):
    """Blocks and bytes add up; the peak is that of the image that had the most."""
    more = HEAP | {"file": None, "peak_bytes": 2000, "peak_blocks": 1, "overhead_ns": 9}
    assert merge([make_report(heap=HEAP), make_report(), make_report(heap=more)]).heap == HeapRow(
        files=("dhat-heap-4f2a.json",),
        blocks=20,
        bytes=8192,
        peak_blocks=1,
        peak_bytes=2000,
        end_blocks=2,
        end_bytes=32,
        overhead_ns=150,
    )
    assert merge([make_report()]).heap is None


TIMES = st.lists(st.integers(0, 2**58), max_size=3)
FEW = settings(max_examples=40, deadline=None)


@st.composite
def reports(draw):
    """Reports with phases whose calls and counters are part of the report's."""
    drawn = []
    for _ in range(draw(st.integers(1, 3))):
        inside = {
            phase: {name: draw(TIMES) for name in draw(st.sets(st.sampled_from("ab")))}
            for phase in draw(st.lists(st.sampled_from(["p", "q"]), unique=True))
        }
        times = {name: draw(TIMES) for name in "ab"}
        for calls in inside.values():
            for name, each in calls.items():
                times[name] = times[name] + each
        grown = {phase: draw(st.integers(0, 2**60)) for phase in inside}
        drawn.append(
            read(
                run=draw(st.sampled_from([None, "r"])),
                elapsed_ns=2**40,
                calls=[call(name, None, *each) for name, each in times.items() if each],
                counters=[{"name": "n", "value": draw(st.integers(2**62, 2**63))}],
                phases=[],
                phase_totals=[
                    {
                        "name": phase,
                        "count": 1,
                        "elapsed_ns": draw(st.integers(0, 2**30)),
                        "calls": [
                            call_in_phase(name, *each) for name, each in calls.items() if each
                        ],
                        "counters": [{"name": "n", "value": grown[phase]}],
                    }
                    for phase, calls in inside.items()
                ],
            )
        )
    return drawn


def sums(summary):
    """What does not depend on the order of the reports."""
    return (
        summary.reports, summary.runs, summary.elapsed_ns, summary.measuring_ns, summary.interfaces,
        summary.functions, set(summary.counters), set(summary.clocks), set(summary.ends),
        {(each.name, each.count, each.elapsed_ns, each.functions, each.counters)
         for each in summary.phases},
        summary.outside,
    )  # fmt: skip


@pytest.mark.spec("RPT-5")
@FEW
@given(reports())
def test_sums_do_not_depend_on_the_order(drawn):
    """Reports in any order give the same sums."""
    want = sums(merge(drawn))
    for shuffled in itertools.permutations(drawn):
        assert sums(merge(shuffled)) == want


@pytest.mark.spec("RPT-5", "RPT-8")
@FEW
@given(reports())
def test_phases_and_outside_are_all(drawn):
    """Of every function and counter, the phases and what lies outside add up to all, exactly."""
    summary = merge(drawn)
    if not summary.phases:
        return
    parts = (*summary.phases, summary.outside)
    for row in summary.functions:
        rows = [each for part in parts for each in part.functions if each.name == row.name]
        assert sum(each.count for each in rows) == row.count
        assert sum(each.total_ns for each in rows) == row.total_ns
        assert sum(each.returned for each in rows) == row.returned
    grown = [value for part in parts for _, value in part.counters]
    assert sum(grown) == sum(value for _, value in summary.counters)
    assert sum(part.elapsed_ns for part in parts) == summary.elapsed_ns
