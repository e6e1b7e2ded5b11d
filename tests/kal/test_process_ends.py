"""openkal.process: how what an image starts ends, and how the image is asked to."""

import json
import os
import pty
import signal
import subprocess
import termios

import pytest


@pytest.mark.spec("PROC-5")
def test_where_ends_of_children_are_ignored(run, prof, tmp_path):
    """An image knows the status of what it started, also where whoever started okrun ignores it."""

    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    done = run("start", "/bin/sh", "-c", "exit 8", options=prof, cwd=tmp_path, preexec_fn=ignore)
    assert done.stderr == b"ended 8\n"
    done = run("start", "/bin/sh", "-c", "kill -s TERM $$", options=prof, cwd=tmp_path)
    assert done.stderr == b"ended by 15\n"


@pytest.mark.spec("PROC-2", "PROC-4", "PROC-5")
def test_five_hundred_programs(run_on_each, prof, tmp_path):
    """Data goes through 500 programs, bound ones and others, and each of them ends well."""
    done = run_on_each("pipes", options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"500\n", b"")


def ended(folder):
    """Return how the report says that the image ended."""
    (report,) = [json.loads(file.read_text()) for file in folder.glob("okprof-*.json")]
    return report["ended"]


@pytest.mark.spec("PROC-7", "REP-2")
def test_a_job_ends(run_on_each, prof, tmp_path):
    """The end of a job is that of every program in it, of their children, and of who ends it."""
    more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": tmp_path}
    process = run_on_each.start("job", options=prof, **more)
    assert process.stdout.readline() == b"ready\n"
    rest, _ = process.communicate(b"x", timeout=60)  # until nobody holds it open any more
    assert (process.returncode, rest) == (-signal.SIGKILL, b"")
    if prof:
        assert ended(tmp_path / "reports") == {"by": "signal", "status": 137, "signal": 9}


REQUESTS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@pytest.mark.spec("PROC-8")
@pytest.mark.parametrize("request_to_stop", REQUESTS)
def test_a_request_to_stop(run_on_each, prof, tmp_path, request_to_stop):
    """The first request is the image's to answer; the next ends it as one without it would."""
    more = {"options": prof, "stdout": subprocess.PIPE, "cwd": tmp_path}
    process = run_on_each.start("stop", **more)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(request_to_stop)
    assert process.communicate(timeout=60) == (b"stopping\n", None)
    assert process.returncode == 5

    process = run_on_each.start("stop", "again", **more)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == b"stopping\n"
    process.send_signal(request_to_stop)
    assert process.communicate(timeout=60) == (b"", None)
    assert process.returncode == -request_to_stop


@pytest.mark.spec("PROC-8", "TERM-3")
def test_a_request_to_stop_and_a_terminal(run, prof, tmp_path):
    """A terminal that was changed is put back by the second request, and not by the first."""
    master, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    more = {"stdin": terminal, "stdout": subprocess.PIPE, "cwd": tmp_path}
    process = run.start("stop", "terminal", "again", options=prof, **more)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == b"stopping\n"
    assert termios.tcgetattr(terminal) != before
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert termios.tcgetattr(terminal) == before
    os.close(master)
    os.close(terminal)
