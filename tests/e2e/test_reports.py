"""Reports of programs that go on, are killed, crash, are copied, or end while other tasks run."""

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess

import pytest

HEAD = ["okprof", "id", "run", "image", "pid", "argv", "what", "started_ns"]


def report_in(folder):
    (path,) = folder.glob("okprof-*.json")
    return json.loads(path.read_text())


def part_in(folder):
    """Return the one report that is begun, and not ended: its path, and its head."""
    (path,) = folder.glob(".okprof-*.part")
    line = path.read_bytes().splitlines(keepends=True)[0]
    head = json.loads(line.removesuffix(b",\n") + b"}")
    assert list(head) == HEAD
    assert path.name == f".okprof-{head['id']}.part"
    return path, head


def is_locked(path):
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def counts(report):
    return {call["name"]: call["count"] for call in report["calls"]}


def call_of(report, name):
    (call,) = [call for call in report["calls"] if call["name"] == name]
    return call


@pytest.fixture
def waiting(run, tmp_path):
    """Start an image that waits for a signal, measured, and return its process."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with run.start("wait", options=["--prof=calls:out"], cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


@pytest.mark.spec("REP-4")
def test_one_that_goes_on(run, waiting, tmp_path):
    """Its report is begun, in one line that is JSON but for its end, and locked."""
    path, head = part_in(tmp_path / "out")
    assert is_locked(path)
    assert (head["okprof"], head["pid"], head["run"]) == (2, waiting.pid, None)
    assert head["image"]["path"] == head["argv"][0] == str(run.image("wait"))
    assert os.listdir(tmp_path / "out") == [path.name]


@pytest.mark.spec("REP-4")
def test_one_that_is_killed(waiting, tmp_path):
    """What was begun stays, and nobody holds it."""
    waiting.kill()
    waiting.wait(60)
    path, head = part_in(tmp_path / "out")
    assert not is_locked(path)
    assert head["pid"] == waiting.pid
    assert list((tmp_path / "out").glob("*.json")) == []


@pytest.mark.spec("REP-4", "REP-2")
def test_the_report_has_the_head_that_was_begun(waiting, tmp_path):
    """A signal ends it: the report is the same file, with the same first line."""
    path, head = part_in(tmp_path / "out")
    first, inode = path.read_bytes(), path.stat().st_ino
    waiting.terminate()
    assert waiting.wait(60) == -signal.SIGTERM
    (whole,) = (tmp_path / "out").iterdir()
    assert whole.name == f"okprof-{head['id']}.json"
    assert whole.read_bytes().startswith(first)
    assert whole.stat().st_ino == inode


@pytest.mark.spec("REP-4", "REP-6", "PROF-4")
def test_a_name_that_is_taken_meanwhile(waiting, one_line, tmp_path):
    """What has the report's name by then stays as it is, and so does the line that was begun."""
    path, head = part_in(tmp_path / "out")
    first = path.read_bytes()
    taken = path.with_name(f"okprof-{head['id']}.json")
    taken.write_text("another's")
    waiting.terminate()
    assert waiting.wait(60) == -signal.SIGTERM
    said = f"okrun: no report: cannot write {taken.name}: File exists\n"
    assert one_line(waiting.stderr.read()) == said
    assert taken.read_text() == "another's"
    assert path.read_bytes() == first


@pytest.mark.spec("REP-4", "REP-6", "RI-9")
def test_a_copy_has_its_own(run_on_each, tmp_path):
    """The report of what was copied stays begun and locked until that ends, too."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    options = ["--prof=calls:out"]
    with run_on_each.start("copied", options=options, cwd=tmp_path, **pipes) as process:
        assert process.stdout.readline() == b"copied\n"
        path, head = part_in(tmp_path / "out")
        assert is_locked(path)
        copy = report_in(tmp_path / "out")
        process.stdin.close()
        assert process.wait(60) == 4
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"okprof-{each['id']}.json" for each in (head, copy)}
    first = json.loads((tmp_path / f"out/okprof-{head['id']}.json").read_text())
    assert (copy["ended"]["status"], first["ended"]["status"]) == (3, 4)
    assert counts(copy) == {"kal_exit": 1, "kal_memory_granularity": 1, "kal_prof_phase": 1}
    assert counts(first)["kal_space_start"] == 1
    assert copy["counters"] == [{"name": "cell", "value": 7}]
    assert first["counters"] == [{"name": "cell", "value": 105}]
    assert [phase["name"] for phase in copy["phases"]] == ["copy"]
    assert (copy["tasks"], first["tasks"]) == (1, 1)


@pytest.mark.spec("PROF-5", "PROF-7")
def test_calls_in_progress_at_the_end(run_on_each, tmp_path):
    """Eight tasks sleep when the first returns: their calls are counted, and have no time."""
    assert run_on_each("tasks", "sleep", options=["--prof=calls:out"], cwd=tmp_path).returncode == 7
    report = report_in(tmp_path / "out")
    sleep = call_of(report, "kal_time_sleep")
    assert (sleep["count"], sum(sleep["log2_ns"])) == (9, 1)
    assert sleep["total_ns"] == sleep["max_ns"]
    assert (report["tasks"], report["ended"]["by"]) == (9, "return")
    (total,) = report["phase_totals"]
    assert (total["name"], counts(total)["kal_time_sleep"]) == ("all", 9)


@pytest.mark.spec("PROF-5", "PROF-8")
def test_times_of_tasks_add_up(run_on_each, tmp_path):
    """
    A time is what the caller saw, waiting included: eight tasks that sleep at once, and one that
    joins them, have more time together than has passed.
    """
    assert run_on_each("tasks", "wait", options=["--prof=calls:out"], cwd=tmp_path).returncode == 7
    report = report_in(tmp_path / "out")
    sleep, join = call_of(report, "kal_time_sleep"), call_of(report, "kal_task_join")
    assert sleep["count"] == sum(sleep["log2_ns"]) == join["count"] == 8
    assert sleep["total_ns"] >= 8 * 200_000_000 * 0.99
    # A stop of the whole machine would add as much to what passed as to the time of each task.
    assert sleep["total_ns"] + join["total_ns"] > report["elapsed_ns"]
    assert call_of(report, "kal_task_start")["total_ns"] <= report["elapsed_ns"] * 1.01


@pytest.mark.spec("PROF-7", "REP-2")
@pytest.mark.parametrize(
    ("way", "status", "ended"),
    [
        pytest.param("call", 7, {"by": "return", "status": 7, "signal": None}, id="a return"),
        pytest.param(
            "crash", -signal.SIGSEGV, {"by": "signal", "status": 139, "signal": 11}, id="a crash"
        ),
    ],
)
@pytest.mark.parametrize("what", ["count", "calls"])
def test_an_end_while_others_call(run, tmp_path, what, way, status, ended):
    """The report of a program that ends while eight tasks call is whole."""

    def no_core():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    options = [f"--prof={what}:out"]
    done = run("tasks", way, options=options, cwd=tmp_path, preexec_fn=no_core)
    assert done.returncode == status
    report = report_in(tmp_path / "out")
    assert report["ended"] == ended
    assert report["tasks"] == 9
    call = call_of(report, "kal_memory_granularity")
    assert call["count"] >= (8000 if way == "call" else 1000)
    if what == "calls":
        assert 0 <= call["count"] - sum(call["log2_ns"]) <= 8
    (total,) = report["phase_totals"]
    assert counts(total)["kal_memory_granularity"] == call["count"]


@pytest.mark.spec("PROF-3")
def test_time_asleep_by_another_clock(run_on_each, tmp_path):
    """The time of three sleeps is within 5 % of what the image read on its clock around them."""
    done = run_on_each("slept", options=["--prof=calls:out"], cwd=tmp_path)
    report = report_in(tmp_path / "out")
    for part in (report, *report["phase_totals"]):
        slept = call_of(part, "kal_time_sleep")["total_ns"]
        assert slept == pytest.approx(int(done.stdout), rel=0.05)


@pytest.mark.spec("REP-5")
@pytest.mark.parametrize(
    ("value", "run_of_it"),
    [
        pytest.param("18f-7", "18f-7", id="a name"),
        pytest.param("x" * 100, "x" * 100, id="the longest"),
        pytest.param("x" * 101, None, id="too long"),
        pytest.param("a\nb", None, id="a line end"),
        pytest.param("\u00e9", None, id="no ASCII"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="none"),
    ],
)
def test_the_run_it_belongs_to(run, tmp_path, value, run_of_it):
    """OKRUN_PROF_RUN names it where it is 1 to 100 printable characters of ASCII."""
    env = {"OKRUN_PROF": "count:out"} | ({} if value is None else {"OKRUN_PROF_RUN": value})
    done = run("status", "3", env=env, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, b"")
    assert report_in(tmp_path / "out")["run"] == run_of_it


def unshared(*more):
    """Return the words that run a command in namespaces of its own."""
    unshare = shutil.which("unshare")
    assert unshare is not None, "unshare is not installed"
    return [unshare, "-r", *more]


@pytest.mark.spec("REP-6")
def test_pids_that_are_the_same(run, tmp_path):
    """Sixteen images at once, each the first process of its namespace, write sixteen reports."""
    words = [*unshared("-pf", "--mount-proc"), *run.words("counts", options=["--prof=calls:out"])]
    processes = [
        subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(16)
    ]
    assert [process.wait(120) for process in processes] == [5] * 16
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()]
    assert {report["pid"] for report in reports} == {1}
    assert len({report["id"] for report in reports}) == 16


@pytest.mark.spec("PROF-4", "REP-4")
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_full_disk(run, tmp_path, one_line, when):
    """
    Where there is no room for the report when the image begins, or none any more at its end, one
    line says so, and the image ends as it would. What was begun stays as it was begun.
    """
    fill = "head -c 100000 /dev/zero >full 2>/dev/null"
    script = {
        "before": f'{fill}; "$@" </dev/null',
        # The shell holds the pipe until the disk is full.
        "while": f'(until [ -s out/.o* ]; do :; done; {fill}; :) | "$@"',
    }[when]
    disk, left = tmp_path / "disk", tmp_path / "left"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size=64k none "{disk}" && cd "{disk}" && mkdir out'
    words = run.words("marked", options=["--prof=calls:out"])
    done = subprocess.run(
        [*unshared("-m"), "sh", "-c", f'{mount}; {script}; s=$?; cp -r out "{left}"; exit $s', "sh",
         *words],
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (4, b"")
    line = one_line(done.stderr)
    assert "no report: cannot write" in line
    assert "No space left on device" in line
    if when == "before":
        assert list(left.iterdir()) == []
    else:
        path, _ = part_in(left)
        assert path.read_bytes().count(b"\n") == 1
