"""The report of a measured run, at every end and in every trouble; measured.c does what is said."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from reports import CALLS, COUNT, COUNTERS, HOST, runner

KEYS = [
    "okprof", "id", "run", "image", "pid", "argv", "what", "started_ns", "elapsed_ns", "ended",
    "clock", "tasks", "calls", "counters", "phases", "phases_left_out", "phase_totals", "lost",
    "heap",
]  # fmt: skip
INTERFACES = {
    "kal_version": None,
    "kal_exit": "openkal.abort",
    "kal_abort": "openkal.abort",
    "kal_stdout": "openkal.stream",
    "kal_stream_write": "openkal.stream",
    "kal_memory_granularity": "openkal.memory",
    "kal_time_sleep": "openkal.time",
    "kal_prof_counter": "openkal.prof",
    "kal_prof_phase": "openkal.prof",
}


@pytest.fixture
def run(build, tmp_path):
    """Run one scenario, with the report in a directory that does not exist yet."""
    return runner(build, "measured.c", tmp_path)


@pytest.mark.spec("REP-1", "PROF-1", "PROF-2", "PROF-3")
def test_a_report_says_what_was_done(run):
    """Every key of the format, and exact counts, for a program that ends by `kal_exit`."""
    before = time.time_ns()
    done = run("calls", "a", "")
    report = done.report
    assert (done.status, done.out, done.err) == (42, b"out" * 5, b"")
    assert list(report) == KEYS
    assert (report["okprof"], report["run"], report["tasks"]) == (2, None, 1)
    assert set(report["image"]) == {"path", "build_id", "arch"}
    assert (report["image"]["path"], report["image"]["build_id"]) == ("dir/image.ok", "00ff")
    assert report["argv"] == ["dir/image.ok", "a", ""]
    assert report["what"] == ["calls"]
    assert before <= report["started_ns"] <= time.time_ns()
    assert report["ended"] == {"by": "exit", "status": 42, "signal": None}
    assert report["clock"]["source"] in ("tsc", "cntvct", "monotonic")
    assert type(report["clock"]["overhead_ns"]) is float
    assert done.counts == {
        "kal_version": 1,
        "kal_exit": 1,
        "kal_stdout": 3,
        "kal_stream_write": 5,
        "kal_time_sleep": 2,
    }
    assert (report["counters"], report["phases"], report["lost"]) == ([], [], [])
    assert (report["phases_left_out"], report["phase_totals"], report["heap"]) == (0, [], None)


@pytest.mark.spec("REP-1", "PROF-3")
def test_times_are_those_of_the_calls(run):
    """Two sleeps of 2 ms took 4 ms in all, and each lies in the bucket of its time."""
    report = run("calls").report
    assert report["elapsed_ns"] >= 4_000_000
    for call in report["calls"]:
        assert set(call) == {"name", "interface", "count", "total_ns", "max_ns", "log2_ns"}
        assert call["interface"] == INTERFACES[call["name"]]
        returned = 0 if call["name"] == "kal_exit" else call["count"]
        assert sum(call["log2_ns"]) == returned
        assert call["log2_ns"] == [] or call["log2_ns"][-1] > 0
        assert call["max_ns"] <= call["total_ns"] <= report["elapsed_ns"] * 1.01
    sleep = next(call for call in report["calls"] if call["name"] == "kal_time_sleep")
    assert sleep["total_ns"] >= 4_000_000 * 0.99
    assert sleep["log2_ns"][:20] == [0] * 20  # 2 ** 20 ns is 1.05 ms


@pytest.mark.spec("REP-1", "PROF-1")
def test_counting_takes_no_times(run):
    """Counts alone have null for every time, and the kernel's clock for what is left."""
    done = run("calls", what=COUNT)
    assert done.status == 42
    assert done.counts["kal_stream_write"] == 5
    assert done.report["what"] == ["count"]
    assert done.report["clock"]["source"] == "monotonic"
    for call in done.report["calls"]:
        assert (call["total_ns"], call["max_ns"], call["log2_ns"]) == (None, None, None)


@pytest.mark.spec("REP-1", "RI-4")
def test_calls_are_in_the_surfaces_order(run):
    """Names come as the surface lists them, not by count or alphabet."""
    surface = (Path(__file__).parents[2] / "okld" / "iface" / "surface.txt").read_text()
    names = [line.split()[1] for line in surface.splitlines() if line.startswith("function ")]
    got = [call["name"] for call in run("calls").report["calls"]]
    assert got == [name for name in names if name in got]


@pytest.mark.spec("BIND-5", "RI-4")
def test_nothing_is_measured_unless_asked(run):
    """Without measuring there is no directory and no report, and the program knows."""
    done = run("calls", what=0)
    assert (done.status, done.out, done.err) == (42, b"out" * 5, b"")
    assert not done.directory.exists()
    assert [run("props", what=what).status for what in (0, COUNT, CALLS, COUNTERS)] == [0, 3, 3, 2]


@pytest.mark.spec("REP-1")
def test_any_bytes_of_names_survive(run):
    """Arguments and paths come back as `surrogateescape` reads them."""
    path = b'im"age\\\x01\x7f\xff\xe2\x82\xac\xf0\x9f\x98\x80.ok'
    argument = bytes(range(1, 256)) + b"\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xe2\x82"
    report = run("nothing", argument, path=path, build_id="").report
    assert report["image"]["path"] == os.fsdecode(path)
    assert report["image"]["build_id"] is None
    assert report["argv"] == [os.fsdecode(path), os.fsdecode(argument)]


@pytest.mark.spec("REP-2", "KAL-7")
def test_the_entry_returns(run):
    """The end that is no call: its status is the report's."""
    done = run("nothing")
    assert done.status == 3
    assert done.report["ended"] == {"by": "return", "status": 3, "signal": None}
    assert done.report["calls"] == []


@pytest.mark.spec("REP-2", "KAL-7")
@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("abort", b"the end\n"),
        ("abort-with-line", b"the end\n"),
        ("abort-in-silence", b""),
    ],
)
def test_abort_says_its_message_and_dies(run, scenario, said):
    """The message is one line, the report is there, and SIGABRT is the end, also where ignored."""
    done = run(scenario, env=quiet())
    assert (done.status, done.err.split(b"qemu:")[0]) == (-signal.SIGABRT, said)
    assert done.report["ended"] == {"by": "abort", "status": 134, "signal": 6}
    assert done.counts == {"kal_abort": 1}


@pytest.mark.spec("REP-2")
def test_a_signal_ends_it(run):
    """What was counted before a fatal signal is in the report."""
    done = run("fault", env=quiet())
    assert done.status == -signal.SIGSEGV
    assert done.report["ended"] == {"by": "signal", "status": 139, "signal": 11}
    assert done.counts == {"kal_version": 1}


@pytest.mark.spec("REP-2", "PROF-4")
def test_a_fault_of_the_writer_ends_it_at_once(run):
    """A handler above the writer does not wait for the writer."""
    done = run("fault-in-writer", env=quiet(), timeout=60)
    assert done.status == -signal.SIGSEGV
    assert [path.suffix for path in done.directory.iterdir()] == [".part"]


@pytest.mark.spec("REP-2")
def test_a_signal_while_it_is_written_changes_no_end(run):
    """The process ends as its report says, by whichever of the two came first."""
    ended = {
        7: {"by": "exit", "status": 7, "signal": None},
        142: {"by": "signal", "status": 142, "signal": 14},
    }
    for turn in range(5):
        done = run("signal-while-it-ends", to=str(turn))
        assert done.report["ended"] == ended[done.status]


@pytest.mark.spec("REP-2", "PROF-4")
def test_a_fault_that_is_sent_while_it_is_written_changes_no_end(run):
    """Nor is the report left in its middle, as it is by a fault of what writes it."""
    done = run("fault-sent-while-it-ends")
    assert (done.status, done.err) == (7, b"")
    assert done.report["ended"] == {"by": "exit", "status": 7, "signal": None}


@pytest.mark.spec("REP-2", "PROF-2")
def test_threads_that_end_at_once_write_one_report(run):
    """It tells the status that the process has."""
    for _ in range(5):
        done = run("race", to="one", env=quiet())
        assert done.status in range(10, 18)
        assert done.report["ended"] == {"by": "exit", "status": done.status, "signal": None}
        (path,) = done.directory.iterdir()
        path.unlink()


@pytest.mark.spec("PROF-2")
@pytest.mark.parametrize("what", [COUNT, CALLS])
def test_threads_lose_no_call(run, what):
    """Eight threads, and eight that take over from them, count 20,000 calls each."""
    done = run("threads", what=what)
    assert done.counts == {"kal_memory_granularity": 2 * 8 * 20000}
    assert done.report["tasks"] == 1 + 2 * 8


@pytest.mark.spec("RI-1", "RI-2")
@pytest.mark.parametrize("what", [COUNT, COUNTERS])
def test_counters_are_summed_and_lost(run, what):
    """In order of registration; a cell twice is one cell; a cell that is gone is said."""
    report = run("counters", what=what).report
    assert [(counter["name"], counter["value"]) for counter in report["counters"]] == [
        ("second", 12),
        ('a "quoted\\" \u20ac\U0001f600', 5),
        ("largest", 2**64 - 1),
        ("wraps", 4),
        ("gone", 0),
        ("half gone", 7),
        ("cut", 0),
        ("wild", 0),
    ]
    assert report["lost"] == ["gone", "half gone", "cut", "wild"]
    assert report["what"] == (["count"] if what == COUNT else ["counters"])
    assert len(report["calls"]) == (1 if what == COUNT else 0)


@pytest.mark.spec("RI-1")
def test_any_number_of_counters(run):
    """Two threads register the same 10,000 names and 10,000 cells of one name."""
    report = run("many", what=COUNTERS).report
    values = {counter["name"]: counter["value"] for counter in report["counters"]}
    assert len(values) == len(report["counters"]) == 10001
    assert values.pop("all") == sum(range(10000))
    assert values == {f"counter {i}": i for i in range(10000)}
    assert report["lost"] == []


@pytest.mark.spec("PROF-4", "REP-2")
def test_a_report_needs_no_descriptor_of_the_program(run):
    """A program that has opened all it may loses neither its counters nor its report."""
    done = run("use-up-descriptors", what=COUNTERS)
    assert (done.status, done.err) == (3, b"")
    assert done.report["counters"] == [{"name": "five", "value": 5}]


@pytest.mark.spec("RUN-8")
def test_no_descriptor_takes_a_closed_streams_place(build, tmp_path):
    """What measuring opens lies above 2, also where 0 to 2 are free, and works there."""
    program = build("measured.c", *HOST)
    arguments = ["2", tmp_path / "closed", "image.ok", "", "look-at-descriptors"]
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    assert subprocess.run([*shell, *program, *arguments], check=False).returncode == 3
    (path,) = (tmp_path / "closed").iterdir()
    assert json.loads(path.read_bytes())["counters"] == [{"name": "five", "value": 5}]


@pytest.mark.spec("PROF-4")
def test_a_directory_that_cannot_be_had_is_one_line(run, tmp_path):
    """It is said before the image runs; the run is what it would have been."""
    (tmp_path / "file").write_bytes(b"")
    done = run("calls", to="file/below\x1b")
    assert (done.status, done.out) == (42, b"out" * 5)
    assert done.err.startswith(b"okrun: no report: cannot write in directory ")
    assert done.err.endswith(b"/file/below\\x1b: Not a directory\n")
    assert done.err.count(b"\n") == 1
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.spec("PROF-4")
def test_a_report_that_cannot_be_written_is_one_line(run):
    """
    Its head is left, which says that there was a run; the signal that the limit sends does not end
    the program.
    """
    done = run("limit-files")
    assert done.status == 3
    assert done.err.startswith(b"okrun: no report: cannot write okprof-")
    assert done.err.endswith(b".json: File too large\n")
    assert done.err.count(b"\n") == 1
    (path,) = done.directory.iterdir()
    head = json.loads(path.read_bytes().removesuffix(b",\n") + b"}")
    assert path.name == f".okprof-{head['id']}.part"
    assert list(head) == KEYS[:8]


@pytest.mark.spec("PROF-4", "REP-4")
def test_a_report_that_cannot_be_begun_is_one_line(run):
    """It is said before the image runs, and not again; the run is what it would have been."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = run("calls", preexec_fn=limit)
    assert (done.status, done.out) == (42, b"out" * 5)
    assert done.err.startswith(b"okrun: no report: cannot write in directory ")
    assert done.err.endswith(b"/a/b: File too large\n")
    assert done.err.count(b"\n") == 1
    assert list(done.directory.iterdir()) == []


@pytest.mark.spec("REP-5")
def test_the_run_that_it_belongs_to(run):
    """What OKRUN_PROF_RUN said when okrun was started is in the report's head."""
    report = run("nothing", env={**os.environ, "RUN": "a run"}).report
    assert report["run"] == "a run"


@pytest.mark.spec("PROF-4", "KAL-7")
def test_a_standard_error_that_nobody_reads_changes_nothing(run, tmp_path):
    """Neither our own lines nor an abort's message end the process by SIGPIPE."""
    (tmp_path / "file").write_bytes(b"")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as err:
        assert run("calls", to="file/below", stderr=err).status == 42
        assert run("limit-files", stderr=err).status == 3
        assert run("abort", to="c", stderr=err, env=quiet()).status == -signal.SIGABRT


def quiet():
    """An environment in which dying leaves no core and no report of the sanitizer."""
    return {**os.environ, "ASAN_OPTIONS": "handle_segv=0:detect_leaks=0"}
