"""openkal.task as images use it: many tasks, their ends, and what is measured of them."""

import fcntl
import json
import os
import re
import resource
import signal
import struct
import subprocess
import termios
import time

import pytest

STACK = 1 << 20
"""The stack that task.c declares, in bytes."""

TASKS, CALLS = 8, 1000
"""Of task.c."""

ENDS = {
    "return": ("return", 3, None),
    "exit": ("exit", 3, None),
    "task-exit": ("exit", 3, None),
    "abort": ("abort", 134, signal.SIGABRT),
    "task-abort": ("abort", 134, signal.SIGABRT),
    "crash": ("signal", 139, signal.SIGSEGV),
    "task-crash": ("signal", 139, signal.SIGSEGV),
    "kill": ("signal", 143, signal.SIGTERM),
}
"""What the report says of a way to end."""


def report_in(folder):
    """Return the one report of a folder, once it is seen to agree with itself."""
    (file,) = folder.glob("out/*")
    report = json.loads(file.read_text())
    for call in report["calls"]:
        assert sum(call["log2_ns"]) <= call["count"]
        assert call["max_ns"] <= call["total_ns"]
    return report


def counts_of(report):
    return {call["name"]: call["count"] for call in report["calls"]}


@pytest.mark.spec("TASK-1", "TASK-2", "TASK-3", "TASK-4", "TASK-6")
def test_every_function_keeps_its_contract(holds):
    """An image meets every function and error of tests/kal/src/task.c, measured or not."""
    holds("task")


@pytest.mark.spec("TASK-2")
def test_tasks_leave_nothing_behind(run, prof, tmp_path):
    """After 10,000 tasks one after another a program has no mapping more; 1,000 run at once."""
    done = run("task", "many", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("TASK-5", "PROF-2")
@pytest.mark.parametrize("what", ["calls", "count"])
def test_no_call_is_lost(run_on_each, tmp_path, what):
    """Eight tasks calling at once, and 100 that have ended, have every call counted."""
    done = run_on_each("task", "race", options=[f"--prof={what}:out"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    (file,) = tmp_path.glob("out/*")
    report = json.loads(file.read_text())
    counts = counts_of(report)
    assert counts["kal_time_monotonic"] == TASKS * CALLS
    assert counts["kal_time_wall"] == 100
    assert counts["kal_task_start"] == counts["kal_task_join"] == TASKS + 100
    if what == "calls":
        for call in report["calls"]:
            assert sum(call["log2_ns"]) == call["count"]


def end(run, way, options, folder):
    """Run task.c to one of its ends and return its wait status and what it said."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = run.start("task", "end", way, options=options, cwd=folder, **pipes)
    if way == "kill":
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    return process.returncode, said.decode()


@pytest.mark.spec("TASK-5", "REP-2")
@pytest.mark.parametrize("way", ENDS)
def test_a_program_ends_while_tasks_run(run_on_each, tmp_path, way):
    """However it ends, whichever task ends it: the report is whole and its counts are exact."""
    by, status, number = ENDS[way]
    returned, _ = end(run_on_each, way, ["--prof=calls:out"], tmp_path)
    assert returned == (-number if number else status)
    report = report_in(tmp_path)
    assert report["ended"] == {"by": by, "status": status, "signal": number}
    counts = counts_of(report)
    assert counts["kal_time_monotonic"] == TASKS * CALLS
    assert counts["kal_task_start"] == TASKS + 2 + way.startswith("task-")
    assert counts["kal_task_yield"] > 0


@pytest.mark.spec("TASK-5", "STAT-1")
@pytest.mark.parametrize("way", ENDS)
def test_a_program_ends_as_unmeasured(run, tmp_path, way):
    """The same ends without a report."""
    by, status, number = ENDS[way]
    returned, said = end(run, way, [], tmp_path)
    assert returned == (-number if number else status)
    assert ("okrun: task.x86_64.ok: SIG" in said) == (by in ("abort", "signal") and way != "kill")
    assert list(tmp_path.iterdir()) == []


def frames_of(said):
    return re.findall(r"^    #\d+ (\w+)", said, re.MULTILINE)


@pytest.mark.spec("TASK-3", "CRASH-1")
def test_a_crash_in_a_task(run_on_each):
    """The backtrace is the task's, from the fault to the function that the task was started by."""
    done = run_on_each("task", "fault")
    said = done.stderr.decode()
    assert done.returncode == -signal.SIGSEGV
    assert frames_of(said) == ["fault", "fault_in_task"]
    assert "okhost" not in said


@pytest.mark.spec("TASK-3", "CRASH-1")
def test_a_stack_overflow_in_a_task(run_on_each, prof, tmp_path):
    """It is called by its name, and every frame of the task's stack is there."""
    done = run_on_each("task", "overflow", options=prof, cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == -signal.SIGSEGV
    assert "SIGSEGV, stack overflow (address 0x" in said.splitlines()[0]
    frames = frames_of(said)
    assert frames[-1] == "dive_in_task"
    assert set(frames[:-1]) == {"dive"}
    assert STACK // 32768 - 2 <= len(frames) <= STACK // 32768 + 2


@pytest.mark.spec("TASK-5", "STAT-1")
def test_a_report_that_nobody_reads_holds_up_no_signal(run, prof, tmp_path):
    """While a task's crash waits to be told, SIGTERM ends the program, whoever it comes to."""
    reader, writer = os.pipe()
    filled = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096) - 100  # the report is longer
    os.write(writer, bytes(filled))
    with run.start("task", "fault", options=prof, cwd=tmp_path, stderr=writer) as process:
        os.close(writer)
        while bytes_in(reader) == filled:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM
    os.close(reader)
    if prof:
        (file,) = tmp_path.glob("reports/*")
        assert json.loads(file.read_text())["ended"]["signal"] == signal.SIGTERM


def bytes_in(pipe):
    """Return how many bytes wait to be read."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return count


@pytest.mark.spec("TASK-1")
def test_memory_ends(run, prof, tmp_path):
    """Where the address space is full a start says so, and what runs goes on."""
    room = 200 << 20
    done = run(
        "task",
        "full",
        options=prof,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"full\n", b"")


@pytest.mark.spec("TASK-6")
def test_parallelism(run):
    """As many as there are processors that the program may use."""
    granted = os.sched_getaffinity(0)
    assert run("task", "parallelism").stdout == b"%d" % len(granted)
    one = {min(granted)}
    done = run("task", "parallelism", preexec_fn=lambda: os.sched_setaffinity(0, one))
    assert done.stdout == b"1"
