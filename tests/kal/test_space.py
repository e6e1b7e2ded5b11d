"""openkal.space as images use it: a copy's end, report, crash and terminal."""

import json
import os
import pty
import subprocess
import termios

import pytest


def reports_in(folder):
    """Return the reports, the one that began first before the others."""
    found = [json.loads(file.read_text()) for file in folder.glob("okprof-*.json")]
    return sorted(found, key=lambda report: report["started_ns"])


@pytest.mark.spec("SPC-1")
def test_a_copy_ends(run_on_each, prof, tmp_path):
    """A copy ends by kal_exit with its status, and with 0 where its entry returns."""
    done = run_on_each("space", "exit", "7", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
    done = run_on_each("space", "return", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"in the copy\n", b"")


@pytest.mark.spec("SPC-3", "RI-9", "PROF-2", "REP-2")
def test_a_copy_has_a_report_of_its_own(run_on_each, tmp_path):
    """What the copy calls is in the copy's report alone, and the rest in the original's."""
    done = run_on_each("space", "counts", options=["--prof=calls,counters:reports"], cwd=tmp_path)
    assert done.returncode == 0
    original, copy = reports_in(tmp_path / "reports")
    calls = [{call["name"]: call["count"] for call in each["calls"]} for each in (original, copy)]
    assert calls[0]["kal_space_start"] == calls[0]["kal_process_wait"] == 1
    assert (calls[0]["kal_time_wall"], calls[0]["kal_prof_phase"]) == (1, 1)
    assert calls[1] == {"kal_prof_phase": 1, "kal_time_wall": 7}
    assert original["pid"] != copy["pid"]
    assert (original["image"], original["argv"]) == (copy["image"], copy["argv"])
    assert copy["ended"] == {"by": "return", "status": 0, "signal": None}
    assert [phase["name"] for phase in original["phases"]] == ["original"]
    assert [phase["name"] for phase in copy["phases"]] == ["copy"]
    assert copy["elapsed_ns"] < original["elapsed_ns"]
    values = [{one["name"]: one["value"] for one in each["counters"]} for each in (original, copy)]
    assert values == [{"cell": 2}, {"cell": 5}]  # what it grew by, from 2 to 7


@pytest.mark.spec("SPC-1", "SPC-3", "CRASH-1")
def test_a_copy_crashes(run, prof, tmp_path):
    """The crash of a copy is reported with its backtrace, and is the end of the copy alone."""
    done = run("space", "crash", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (40, b"")
    said = done.stderr.decode()
    assert "SIGSEGV" in said
    frames = [line.split()[1].split("+")[0] for line in said.splitlines() if "    #" in line]
    assert frames[:2] == ["fault_in_copy", "crash"]
    if prof:
        original, copy = reports_in(tmp_path / "reports")
        assert copy["ended"] == {"by": "signal", "status": 139, "signal": 11}
        assert original["ended"] == {"by": "return", "status": 40, "signal": None}


@pytest.mark.spec("SPC-2")
def test_copies_while_tasks_are_busy(run, prof, tmp_path):
    """Whatever other tasks are at when a copy is made, the copy waits for none of them."""
    done = run("space", "busy", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (50, b"")
    assert len(reports_in(tmp_path / "reports")) == (51 if prof else 0)


@pytest.mark.spec("SPC-1", "TERM-3")
def test_a_copys_end_leaves_the_terminal(run, prof, tmp_path):
    """What the original made of a terminal holds until the original ends."""
    master, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    more = {"stdin": terminal, "stdout": subprocess.PIPE, "cwd": tmp_path}
    process = run.start("space", "terminal", options=prof, **more)
    assert process.stdout.readline() == b"copied\n"
    assert termios.tcgetattr(terminal) != before
    os.write(master, b"x")
    process.communicate(timeout=60)
    assert process.returncode == 5
    assert termios.tcgetattr(terminal) == before
    os.close(master)
    os.close(terminal)
