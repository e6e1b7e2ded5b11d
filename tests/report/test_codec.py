"""What is a report and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reporting import HEAD, HEAP, KEYS

from okld.base.errors import FormatError
from okrun.report.codec import decode, decode_head
from okrun.report.model import (
    Call,
    Clock,
    Counter,
    Ended,
    Head,
    Heap,
    Image,
    Phase,
    PhaseTotal,
)


def refused(data):
    with pytest.raises(FormatError) as caught:
        decode(data)
    assert caught.value.rule == "REP-1"
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.spec("REP-1")
def test_every_key_is_read(good, encoded):
    """Each key of the schema comes back with its value."""
    report = decode(encoded(good))
    assert report.id == "4f2a"
    assert report.image == Image(path="hello.ok", build_id="00ff", arch="x86_64")
    assert (report.pid, report.argv, report.what) == (77, ("hello.ok", "a", "\udcff"), ("calls",))
    assert (report.started_ns, report.elapsed_ns) == (1_700_000_000_000_000_000, 3_000_000)
    assert report.ended == Ended(by="exit", status=42, signal=None)
    assert report.clock == Clock(source="tsc", overhead_ns=21.5)
    assert (report.run, report.tasks, report.phases_left_out) == (None, 1, 0)
    assert report.calls[1] == Call(
        name="kal_stdout",
        interface="openkal.stream",
        count=2,
        total_ns=100,
        max_ns=60,
        log2_ns=(0, 0, 0, 0, 0, 2),
    )
    assert report.counters == (Counter(name="lines", value=7),)
    assert report.phases[1] == Phase(name="read", start_ns=510, elapsed_ns=250)
    assert report.phase_totals[1] == PhaseTotal(
        name="write",
        count=1,
        elapsed_ns=240,
        calls=(
            Call(
                name="kal_stream_write",
                interface="openkal.stream",
                count=1,
                total_ns=400,
                max_ns=400,
                log2_ns=(0,) * 8 + (1,),
            ),
        ),
        counters=(Counter(name="lines", value=1),),
    )
    assert report.lost == ()
    assert report.heap is None


@pytest.mark.spec("REP-1")
def test_heap_is_read(good, encoded):
    """What was taken from the heap comes back; the file is null where none could be written."""
    good["heap"] = HEAP
    assert decode(encoded(good)).heap == Heap(
        file="dhat-heap-4f2a.json",
        blocks=10,
        bytes=4096,
        peak_blocks=4,
        peak_bytes=1024,
        end_blocks=1,
        end_bytes=16,
        overhead_ns=150.0,
    )
    good["heap"] = HEAP | {"file": None}
    assert decode(encoded(good)).heap.file is None


@pytest.mark.spec("REP-1")
def test_run_is_read(good, encoded):
    """The run that a report belongs to comes back as text."""
    good["run"] = "ab-1"
    assert decode(encoded(good)).run == "ab-1"


@pytest.mark.spec("REP-1")
def test_counts_without_times(counted, encoded):
    """Times are None where only counts were taken."""
    call = decode(encoded(counted)).calls[2]
    assert (call.count, call.total_ns, call.max_ns, call.log2_ns) == (3, None, None, None)


@pytest.mark.spec("REP-1")
def test_more_keys_are_fine(good, encoded):
    """Keys of a later writer are left alone."""
    good["weather"] = {"rain": 1}
    good["image"]["size"] = 4096
    assert decode(encoded(good)).id == "4f2a"


def without(key):
    return lambda report: report.pop(key)


def having(value, *path):
    def edit(report):
        for key in path[:-1]:
            report = report[key]
        report[path[-1]] = value

    return edit


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize("key", KEYS)
def test_no_key_may_lack(good, encoded, key):
    """A report without one of its keys is refused, and the key named."""
    del good[key]
    assert f"no {key}" in refused(encoded(good))


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(having(1, "okprof"), id="schema 1"),
        pytest.param(having(3, "okprof"), id="schema 3"),
        pytest.param(having("1", "okprof"), id="schema as text"),
        pytest.param(having(True, "okprof"), id="schema as a truth value"),
        pytest.param(having(-1, "pid"), id="a negative pid"),
        pytest.param(having(2**64, "elapsed_ns"), id="a time past 64 bits"),
        pytest.param(having(1.5, "started_ns"), id="a fraction of a nanosecond"),
        pytest.param(having("hello.ok", "argv"), id="argv as text"),
        pytest.param(having([1], "argv"), id="argv of numbers"),
        pytest.param(having([], "image"), id="image as a list"),
        pytest.param(having(None, "image", "path"), id="no path"),
        pytest.param(having("killed", "ended", "by"), id="an end nobody knows"),
        pytest.param(having(256, "ended", "status"), id="a status past eight bits"),
        pytest.param(having("tsc", "clock"), id="clock as text"),
        pytest.param(having("fast", "clock", "overhead_ns"), id="overhead as text"),
        pytest.param(having({}, "calls"), id="calls as an object"),
        pytest.param(having([7], "calls"), id="a call as a number"),
        pytest.param(having(None, "calls", 0, "count"), id="a call without a count"),
        pytest.param(having(None, "calls", 0, "max_ns"), id="a call with half its times"),
        pytest.param(having([0] * 65, "calls", 0, "log2_ns"), id="65 entries of log2_ns"),
        pytest.param(having(["1"], "calls", 0, "log2_ns"), id="text in log2_ns"),
        pytest.param(having(-7, "counters", 0, "value"), id="a negative counter"),
        pytest.param(having([], "phases", 0, "name"), id="a phase's name as a list"),
        pytest.param(having([None], "lost"), id="lost of nulls"),
        pytest.param(having(7, "run"), id="a run as a number"),
        pytest.param(having([-1], "calls", 0, "log2_ns"), id="a negative entry of log2_ns"),
        pytest.param(having([True], "calls", 0, "log2_ns"), id="a truth value in log2_ns"),
        pytest.param(having("1", "phase_totals", 0, "count"), id="a phase's count as text"),
        pytest.param(having(7, "phase_totals", 0, "calls"), id="a phase's calls as a number"),
        pytest.param(having([], "heap"), id="heap as a list"),
        pytest.param(having({"file": None}, "heap"), id="a heap without its numbers"),
    ],
)
def test_wrong_types_and_values_are_refused(good, encoded, edit):
    """A value of another type, or out of its range, is refused with one line."""
    edit(good)
    refused(encoded(good))


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(
            lambda report: report["calls"].append(report["calls"][0]), id="a function twice"
        ),
        pytest.param(
            lambda report: report["counters"].append({"name": "lines", "value": 1}),
            id="a counter twice",
        ),
        pytest.param(
            lambda report: report["phase_totals"].append(report["phase_totals"][0]),
            id="a phase's sums twice",
        ),
        pytest.param(
            lambda report: report["phase_totals"][1]["calls"].append(
                report["phase_totals"][1]["calls"][0]
            ),
            id="a function twice in a phase",
        ),
        pytest.param(
            having("kal_exit", "phase_totals", 0, "calls", 0, "name"),
            id="a phase has calls that the run has not",
        ),
        pytest.param(
            lambda report: report["phase_totals"][0]["calls"][0].update(
                total_ns=None, max_ns=None, log2_ns=None
            ),
            id="a phase lacks the times that the run has",
        ),
        pytest.param(having(2, "calls", 2, "count"), id="more returned than began"),
        pytest.param(having(1801, "calls", 2, "max_ns"), id="the longest is longer than all"),
        pytest.param(having(401, "phase_totals", 1, "calls", 0, "max_ns"), id="so in a phase"),
        pytest.param(having(9, "ended", "signal"), id="an exit by a signal"),
        pytest.param(having("signal", "ended", "by"), id="a signal without a number"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(good, encoded, edit):
    """A report that says two things of one is refused with one line."""
    edit(good)
    refused(encoded(good))


@pytest.mark.spec("REP-1")
def test_more_calls_may_return_in_a_phase_than_began_in_it(good, encoded):
    """A call that began before a phase and returned in it has its time there, and its count not."""
    good["phase_totals"][1]["calls"][0]["count"] = 0
    assert decode(encoded(good)).phase_totals[1].calls[0].log2_ns == (0,) * 8 + (1,)


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize("schema", [1, 3])
def test_other_schemas_are_refused_by_their_number(good, encoded, schema):
    """What is refused is said: the schema that the report has, and the one that is read."""
    good["okprof"] = schema
    assert f"schema {schema}, and this okprof reads 2" in refused(encoded(good))


@pytest.mark.spec("REP-1")
def test_head_is_the_first_line(good, encoded):
    """What was begun and not ended says what its first line does."""
    line = encoded(good).split(b"\n")[0] + b"\n"
    assert decode_head(line) == Head(
        id="4f2a",
        run=None,
        image=Image(path="hello.ok", build_id="00ff", arch="x86_64"),
        pid=77,
        argv=("hello.ok", "a", "\udcff"),
        what=("calls",),
        started_ns=1_700_000_000_000_000_000,
    )


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize("key", HEAD)
def test_no_key_of_a_head_may_lack(good, encoded, key):
    """A head without one of its keys is refused, and so is one that was cut."""
    del good[key]
    line = encoded(good).split(b"\n")[0]
    with pytest.raises(FormatError, match=f"no {key}"):
        decode_head(line)
    with pytest.raises(FormatError):
        decode_head(line[:-9])


@pytest.mark.spec("REP-1", "REP-3")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x7fELF", id="another file"),
        pytest.param(b"\xff\xfe{}", id="not UTF-8"),
        pytest.param(b"[" * 200_000, id="lists in lists"),
        pytest.param(b'{"a":' * 200_000, id="objects in objects"),
        pytest.param(b'{"okprof":' + b"9" * 10_000 + b"}", id="a number of 10,000 digits"),
        pytest.param(b'{"okprof": NaN}', id="no number"),
        pytest.param(b'{"okprof": Infinity}', id="endless"),
        pytest.param(b'{"okprof": 2, "okprof": 2}', id="a key twice"),
        pytest.param(b'"okprof"', id="text"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"okprof": 2} {"okprof": 2}', id="two objects"),
    ],
)
def test_other_bytes_are_refused(data):
    """
    Bytes that are no JSON object, or one that could be read in two ways, are refused with one line.
    """
    refused(data)


@pytest.mark.spec("REP-1")
def test_a_binary_is_no_text():
    """Whoever names an image, say, is told so in words of this command's own."""
    with pytest.raises(FormatError, match=r"not a report: not UTF-8 \(at byte 0x4\)"):
        decode(b"\x7fELF\xff")


@pytest.mark.spec("REP-1")
@pytest.mark.parametrize("number", [b"NaN", b"1e999", b"-1", b"1" * 400])
def test_overhead_is_a_sane_number(good, encoded, number):
    """The one number that may be a fraction is neither negative nor endless."""
    refused(encoded(good).replace(b"21.5", number))


@pytest.mark.spec("REP-1")
def test_no_prefix_is_a_report(good, encoded):
    """A report cut at any byte is refused."""
    data = encoded(good).rstrip()
    for length in range(0, len(data), 7):
        refused(data[:length])


@pytest.mark.spec("ERR-1", "REP-1")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=8)
        ),
        max_leaves=20,
    )
)
def test_any_json_gives_a_report_or_a_refusal(value):
    """No JSON value raises anything else."""
    refused(json.dumps(value).encode())
