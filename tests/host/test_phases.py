"""Calls and counters by phase; phased.c does what is said."""

import json
import os

import pytest
from reports import CALLS, COUNT, COUNTERS, runner

WORD = 2**64


@pytest.fixture
def run(build, tmp_path):
    """Run one scenario, with the report in a directory that does not exist yet."""
    return runner(build, "phased.c", tmp_path)


def counts(part):
    return {call["name"]: call["count"] for call in part["calls"]}


def returned(part):
    return {call["name"]: sum(call["log2_ns"]) for call in part["calls"]}


def counters(part):
    return {counter["name"]: counter["value"] for counter in part["counters"]}


def by_name(report):
    totals = {total["name"]: total for total in report["phase_totals"]}
    assert len(totals) == len(report["phase_totals"])
    return totals


def added(report):
    """Return the sums over all phases, by function or counter: counts, buckets, and values."""
    sums, buckets, values = {}, {}, {}
    for total in report["phase_totals"]:
        for call in total["calls"]:
            sums[call["name"]] = sums.get(call["name"], 0) + call["count"]
            row = buckets.setdefault(call["name"], [0] * 64)
            for bucket, count in enumerate(call["log2_ns"] or ()):
                row[bucket] += count
        for counter in total["counters"]:
            name = counter["name"]
            values[name] = (values.get(name, 0) + counter["value"]) % WORD
    return sums, buckets, values


def hold_whole(report, outside=1):
    """
    Hold a run that is in a phase from its first call of kal_prof_phase on to its totals: the
    phases come to the whole but for *outside*, the calls of that function that began before.
    """
    sums, buckets, values = added(report)
    sums["kal_prof_phase"] = sums.get("kal_prof_phase", 0) + outside
    for call in report["calls"]:
        name, parts = call["name"], times(report, call["name"])
        if name == "kal_prof_counter":
            continue
        assert sums.get(name, 0) == call["count"]
        if call["log2_ns"] is None:
            continue
        whole = call["log2_ns"] + [0] * (64 - len(call["log2_ns"]))
        assert buckets.get(name, [0] * 64) == whole
        assert max((part["max_ns"] for part in parts), default=0) == call["max_ns"]
        total = sum(part["total_ns"] for part in parts)
        assert total <= call["total_ns"] <= total + len(parts)
        for part in parts:
            assert part["max_ns"] <= part["total_ns"]
            least = sum(n << i for i, n in enumerate(part["log2_ns"]) if i)
            assert part["total_ns"] >= least * 0.95
    for counter in report["counters"]:
        assert values.get(counter["name"], 0) == counter["value"]


def times(report, name):
    return [c for total in report["phase_totals"] for c in total["calls"] if c["name"] == name]


@pytest.mark.spec("RI-3", "PROF-6")
def test_phases_follow_one_another(run):
    """Each begins where the one before ended, unless that was ended before; the last ends last."""
    report = run("times", what=COUNTERS).report
    read, work, again, last = report["phases"]
    assert [phase["name"] for phase in report["phases"]] == ["read", "work", "read", "last"]
    assert read["elapsed_ns"] >= 3_000_000
    assert read["start_ns"] + read["elapsed_ns"] == work["start_ns"]
    assert work["start_ns"] + work["elapsed_ns"] == again["start_ns"]
    assert last["start_ns"] - again["start_ns"] - again["elapsed_ns"] >= 3_000_000
    assert last["elapsed_ns"] >= 1_000_000
    assert last["start_ns"] + last["elapsed_ns"] == report["elapsed_ns"]
    assert [(total["name"], total["count"]) for total in report["phase_totals"]] == [
        ("read", 2), ("work", 1), ("last", 1),
    ]  # fmt: skip
    elapsed = read["elapsed_ns"] + again["elapsed_ns"]
    assert by_name(report)["read"]["elapsed_ns"] == elapsed


@pytest.mark.spec("PROF-6", "RI-7")
@pytest.mark.parametrize("what", [COUNT, CALLS, COUNTERS])
def test_what_falls_into_each_phase(run, what):
    """
    Calls and growth of counters are those between the changes of the source; a change itself begins
    in the phase that it ends, and returns in the one that it begins.
    """
    report = run("script", what=what).report
    totals = by_name(report)
    assert list(totals) == ["one", "two", "three"]
    assert [total["count"] for total in totals.values()] == [2, 1, 1]
    assert counters(totals["one"]) == {"a": 6}
    assert counters(totals["two"]) == {"b": 7}
    assert counters(totals["three"]) == {"b": WORD - 2, "c": 10}
    assert counters(report) == {"a": 106, "b": 5, "c": 60}
    calls = {} if what == COUNTERS else {name: counts(total) for name, total in totals.items()}
    if what != COUNTERS:
        assert calls["one"] == {"kal_version": 8, "kal_memory_granularity": 1, "kal_prof_phase": 2}
        assert calls["two"] == {"kal_version": 4, "kal_prof_phase": 1}
        assert counts(report)["kal_version"] == 27
        assert counts(report)["kal_prof_phase"] == 5
    if what == COUNT:
        assert calls["three"] == {"kal_version": 7, "kal_prof_counter": 1}
        assert totals["one"]["calls"][0]["total_ns"] is None
    if what == CALLS:
        assert calls["three"] == {"kal_version": 7, "kal_prof_counter": 1, "kal_prof_phase": 0}
        assert [returned(total)["kal_prof_phase"] for total in totals.values()] == [2, 1, 1]


@pytest.mark.spec("PROF-2", "PROF-6")
@pytest.mark.parametrize("what", [COUNT, CALLS])
def test_tasks_and_changes_at_once_lose_nothing(run, what):
    """
    Eight tasks call while two change the phase: the phases come to the whole, in every bucket.
    """
    report = run("at-once", what=what).report
    assert counts(report) == {
        "kal_version": 8 * 10000, "kal_memory_granularity": 8 * 20000,
        "kal_prof_counter": 8, "kal_prof_phase": 2 * 300 + 1,
    }  # fmt: skip
    assert counters(report) == {"work": 8 * 20000}
    assert len(report["phases"]) == 2 * 300 + 1
    assert sum(total["count"] for total in report["phase_totals"]) == 2 * 300 + 1
    assert report["tasks"] == 11
    hold_whole(report)


@pytest.mark.spec("REP-2", "PROF-6")
@pytest.mark.parametrize("scenario", ["end-while-it-changes", "signal-while-it-changes"])
def test_an_end_in_a_change(run, scenario):
    """
    The process ends in the middle of a change, beside the task that makes it or above it: what is
    reported is that before it, or after it, and whole.
    """
    for turn in range(12):
        done = run(scenario, str(300 + 137 * turn), to=str(turn))
        assert done.status in (7, 142)
        report = done.report
        hold_whole(report)
        assert sum(total["count"] for total in report["phase_totals"]) == len(report["phases"])
        last = report["phases"][-1]
        assert last["start_ns"] + last["elapsed_ns"] == report["elapsed_ns"]


@pytest.mark.spec("PROF-6")
def test_as_many_names_as_there_may_be(run):
    """One more is refused, and the phase before goes on; those that there are can be begun."""
    report = run("names", what=COUNT).report
    totals = by_name(report)
    assert list(totals) == [str(i) for i in range(4096)]
    assert totals["0"]["count"] == 2
    assert counts(totals["4095"]) == {"kal_version": 1, "kal_prof_phase": 2}
    hold_whole(report)


@pytest.mark.spec("PROF-6")
def test_as_many_phases_as_are_listed(run):
    """The first 100,000 are listed, the others counted; the totals have all of them."""
    report = run("list", what=COUNT).report
    totals = by_name(report)
    assert (len(report["phases"]), report["phases_left_out"]) == (100_000, 3)
    assert [totals[name]["count"] for name in ("p0", "p1", "p2")] == [50_000, 50_002, 1]
    assert counts(totals["p2"]) == {"kal_version": 4, "kal_prof_phase": 1}
    last = report["phases"][-1]
    assert last["start_ns"] + last["elapsed_ns"] < report["elapsed_ns"]
    assert sum(total["elapsed_ns"] for total in totals.values()) <= report["elapsed_ns"]
    hold_whole(report)


@pytest.mark.spec("RI-2", "RI-7")
def test_a_cell_that_is_not_there(run):
    """What it grew by while nobody could read it falls into the phase at whose end one could."""
    report = run("lost", what=COUNTERS).report
    totals = by_name(report)
    assert report["lost"] == ["absent once", "gone"]
    assert counters(report) == {"absent once": 9, "gone": 0, "there": 7}
    assert counters(totals["one"]) == {"gone": 5, "there": 5}
    assert counters(totals["two"]) == {"absent once": 9, "there": 2}
    assert counters(totals["three"]) == {}


@pytest.mark.spec("RI-1", "RI-7")
def test_ten_thousand_counters_in_phases(run):
    """Each of 10,000 counters has what it grew by in each of five phases."""
    report = run("many", what=COUNTERS).report
    totals = by_name(report)
    values = {f"counter {i}": 20 * i for i in range(10000)}
    assert counters(report) == values
    for at, total in enumerate(totals.values()):
        assert counters(total) == {f"counter {i}": 20 * i for i in range(at or 5, 10000, 5)}


@pytest.mark.spec("RI-1", "PROF-6")
def test_more_than_there_is_memory_for(run):
    """
    What is too much is refused; all else is kept, and a phase that cannot be ended goes on to the
    end with what falls into it.
    """
    report = run("full", what=COUNTERS).report
    assert counters(report) == {"last": 7, "all": 5}
    (one,) = report["phase_totals"]
    assert (one["name"], one["count"]) == ("one", 2)
    assert counters(one) == {"last": 7, "all": 5}


@pytest.mark.spec("RI-8")
def test_counters_that_come_while_it_ends(run):
    """What is registered while the report is written is in it whole or not at all."""
    for turn in range(20):
        report = run("register-while-it-ends", what=COUNTERS, to=str(turn)).report
        assert counters(report) == {str(i): 7 for i in range(len(report["counters"]))}
        assert report["counters"]
        assert report["lost"] == []


@pytest.mark.spec("RI-9", "REP-6")
def test_a_copy_counts_from_its_beginning(run):
    """Two reports: the copy's has its own calls, phases and growth, and no more descriptors."""
    done = run("copy", env={**os.environ, "RUN": "run 1"})
    assert (done.status, done.err) == (3, b"")
    reports = [json.loads(path.read_text()) for path in sorted(done.directory.iterdir())]
    first, copy = sorted(reports, key=lambda report: report["started_ns"])
    assert (first["ended"]["status"], copy["ended"]["status"]) == (3, 9)
    assert first["id"] != copy["id"]
    assert first["pid"] != copy["pid"]
    assert first["run"] == copy["run"] == "run 1"
    assert counters(first) == {"cell": 120, "absent once": 0}
    assert counters(copy) == {"cell": 5, "absent once": 0, "other": 2}
    assert (first["lost"], copy["lost"]) == (["absent once"], [])
    assert counts(first) == {"kal_version": 7, "kal_prof_counter": 2, "kal_prof_phase": 2}
    assert counts(copy) == {"kal_version": 3, "kal_prof_counter": 2, "kal_prof_phase": 1}
    assert (list(by_name(first)), list(by_name(copy))) == (["first"], ["second"])
    assert counters(by_name(first)["first"]) == {"cell": 20}
    assert counters(by_name(copy)["second"]) == {"cell": 5, "other": 2}
    assert counts(by_name(copy)["second"]) == {"kal_version": 2, "kal_prof_phase": 0}
