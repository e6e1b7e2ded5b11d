"""
Chrome's trace events.

Checked by "Trace Event Format" and by what Perfetto's importer of JSON does not take.
"""

import json

import pytest

from okrun.report.export.trace import PID_LIMIT, export

KINDS = set("MBECi")


def read(reports):
    """Return the events by process, after checking the file."""
    text = export(reports)
    assert "\\u" not in text, "Perfetto takes no escape of a surrogate, nor old ones any \\u"
    value = json.loads(text)
    assert set(value) == {"traceEvents", "displayTimeUnit"}
    assert value["displayTimeUnit"] in ("ms", "ns")
    processes = {}
    for event in value["traceEvents"]:
        assert event["ph"] in KINDS
        assert type(event["name"]) is type(event["cat"]) is str
        assert 0 < event["pid"] < 2**32
        assert event["tid"] == event["pid"], "Perfetto names a thread by its tid alone"
        assert type(event["ts"]) in (int, float)
        assert event["ts"] >= 0
        assert event["ph"] != "i" or event["s"] in ("g", "p", "t")
        assert event["ph"] != "C" or all(type(each) is int for each in event["args"].values())
        processes.setdefault(event["pid"], []).append(event)
    for events in processes.values():
        nests(events)
    return processes


def nests(events):
    """Each E ends the B before it that has not ended, and no time is before that of the last."""
    open_names, at = [], 0
    for event in events:
        if event["ph"] == "B":
            open_names.append(event["name"])
        elif event["ph"] == "E":
            assert open_names.pop() == event["name"]
        assert event["ph"] == "M" or event["ts"] >= at
        at = max(at, event["ts"])
    assert open_names == []


def of(events, kind):
    return [(event["name"], event["ts"]) for event in events if event["ph"] == kind]


@pytest.mark.spec("EXP-4")
def test_phases_are_where_they_were(make_report):
    """A run and its phases begin and end at their microseconds; what ended it is told there."""
    [events] = read([make_report()]).values()
    assert of(events, "B") == [("hello.ok", 0), ("read", 0.01), ("read", 0.51), ("write", 0.76)]
    assert of(events, "E") == [("read", 0.51), ("read", 0.76), ("write", 1), ("hello.ok", 3000)]
    assert of(events, "i") == [("exit 42", 3000)]
    names = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"process_name": "hello.ok (77)", "thread_name": "phases"}


@pytest.mark.spec("EXP-4")
def test_the_last_phase_of_a_name_has_its_sums(make_report):
    """No event pretends to know what one of several phases of a name did."""
    [events] = read([make_report()]).values()
    first, last, write, run = [event["args"] for event in events if event["ph"] == "E"]
    assert first == {}
    assert last == {
        "phases of this name": 2,
        "elapsed_ns": 750,
        "calls": {
            "kal_stdout": {"count": 1, "total_ns": 60, "max_ns": 60},
            "kal_stream_write": {"count": 2, "total_ns": 1400, "max_ns": 1000},
        },
        "counters": {"lines": 5},
    }
    assert write["phases of this name"] == 1
    assert run["calls"]["kal_version"] == {"count": 1, "total_ns": 100, "max_ns": 100}
    assert run["counters"] == {"lines": 7}


@pytest.mark.spec("EXP-4")
def test_counters_are_told_where_they_are_known(make_report):
    """A sum of a name at the end of its last phase, a counter's value at the end of the run."""
    [events] = read([make_report()]).values()
    assert [(e["ts"], e["name"], e["args"]) for e in events if e["ph"] == "C"] == [
        (0.76, "calls", {"read": 3}),
        (0.76, "ns in calls", {"read": 1460}),
        (0.76, "counter lines", {"read": 5}),
        (1, "calls", {"write": 1}),
        (1, "ns in calls", {"write": 400}),
        (1, "counter lines", {"write": 1}),
        (3000, "counter lines", {"end": 7}),
    ]


@pytest.mark.spec("EXP-4")
def test_sums_whose_last_phase_is_left_out_are_told_at_the_end(make_report):
    """Where phases were left out, the last of a name that is listed may not have been its last."""
    [events] = read([make_report(phases_left_out=3)]).values()
    *phases, run = [event for event in events if event["ph"] == "E"]
    assert [event["args"] for event in phases] == [{}, {}, {}]
    assert run["args"]["phases left out"] == 3
    assert run["args"]["phases"]["read"]["phases of this name"] == 2
    assert {event["ts"] for event in events if event["ph"] == "C"} == {3000}


@pytest.mark.spec("EXP-4")
def test_counts_have_no_times(make_report):
    """Where only counts were taken, there is no counter of times, and no time of a call."""
    [events] = read([make_report(what=["count"])]).values()
    assert "ns in calls" not in {event["name"] for event in events}
    assert events[-1]["args"]["calls"]["kal_stream_write"] == {"count": 3}


@pytest.mark.spec("EXP-4")
def test_each_report_is_a_process_from_its_start(make_report):
    """A pid that another report has, or that no process of Linux has, is replaced."""
    start = 1_700_000_000_000_000_000
    reports = [
        make_report(pid=77, started_ns=start + 1500),
        make_report(pid=77, started_ns=start),
        make_report(pid=0, started_ns=start),
        make_report(pid=2**32 + 78, started_ns=start),
    ]
    processes = read(reports)
    assert list(processes) == [77, PID_LIMIT, PID_LIMIT + 1, PID_LIMIT + 2]
    assert [of(events, "B")[0][1] for events in processes.values()] == [1.5, 0, 0, 0]
    assert [events[2]["args"]["pid"] for events in processes.values()] == [77, 77, 0, 2**32 + 78]


@pytest.mark.spec("EXP-4")
def test_phases_that_overlap_nest_all_the_same(make_report):
    """A phase ends the one before it; a report that says otherwise still gives a sound file."""
    phases = [
        {"name": "a", "start_ns": 5000, "elapsed_ns": 9_000_000},
        {"name": "b", "start_ns": 10, "elapsed_ns": 20},
    ]
    [events] = read([make_report(phases=phases, phase_totals=[])]).values()
    assert of(events, "B") == [("hello.ok", 0), ("a", 5), ("b", 9005)]
    assert of(events, "E") == [("a", 9005), ("b", 9005), ("hello.ok", 9005)]


@pytest.mark.spec("EXP-4")
def test_any_report_keeps_the_form(hostile, big, make_report):
    """Hostile, large, ended by a signal, without phases: the checks hold."""
    killed = {"by": "signal", "status": 139, "signal": 11}
    plain = make_report(phases=[], phase_totals=[], ended=killed, started_ns=1)
    processes = read([hostile, big, plain])
    assert [of(events, "i")[0][0] for events in processes.values()][-1] == "signal 11"
