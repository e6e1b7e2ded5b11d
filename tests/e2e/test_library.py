"""``okrun.run``, for programs that start images."""

import json
import os
import signal
import subprocess

import pytest

import okrun
from okld.base.errors import FormatError, OkError, Refusal, Unreadable


@pytest.mark.spec("STAT-1", "RUN-7")
def test_run_gives_status_and_output(build):
    """It waits for the image, and gives what subprocess.run would of any program."""
    done = okrun.run(build("status"), ["42"], stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (42, b"ran\n")


@pytest.mark.spec("KAL-4", "RUN-7")
def test_input_environment_and_bytes(build):
    """Input, environment and arguments reach the image byte for byte."""
    done = okrun.run(build("copy"), input=b"\0\xff", stdout=subprocess.PIPE)
    assert done.stdout == b"\0\xff"
    done = okrun.run(build("args"), [b"\xff", ""], env={"A": "\udcfe"}, stdout=subprocess.PIPE)
    assert done.stdout.endswith(b"\n1:\xff\n0:\nvariables 1\n1:A=1:\xfe\nmissing 9\n")


@pytest.mark.spec("PROF-1")
def test_measured(build, tmp_path, monkeypatch):
    """*prof* is what --prof is; OKRUN_PROF is for the command alone."""
    monkeypatch.setenv("OKRUN_PROF", "heap")
    okrun.run(build("status"), prof=f"count:{tmp_path}", stdout=subprocess.DEVNULL)
    (file,) = tmp_path.glob("okprof-*.json")
    assert json.loads(file.read_text())["what"] == ["count"]


@pytest.mark.spec("STAT-1")
def test_death_by_a_signal(build):
    """An image that dies by a signal is the negative of its number."""
    done = okrun.run(build("ends"), ["abort"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == -signal.SIGABRT


@pytest.mark.spec("STAT-2")
def test_a_host_is_a_path(build, command, tmp_path, monkeypatch, run):
    """
    A host named without a "/" is a file of the working directory, to the command as to the
    function.
    """
    os.symlink(command("okhost"), tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    assert okrun.run(build("status"), ["7"], host="here", stdout=subprocess.PIPE).returncode == 7
    assert run("status", "7", options=["--host", "here"]).returncode == 7
    with pytest.raises(OkError, match="STAT-2"):
        okrun.run(build("status"), host="okhost")
    assert run("status", options=["--host", "okhost"]).returncode == 125


@pytest.mark.spec("ERR-1", "STAT-2")
def test_what_it_raises(build, tmp_path):
    """A refusal is an OkError of the kind that says why, and leaves no descriptor open."""
    before = os.listdir("/proc/self/fd")
    (tmp_path / "text").write_text("not an image")
    with pytest.raises(FormatError):
        okrun.run(tmp_path / "text")
    with pytest.raises(Refusal):
        okrun.run(tmp_path)
    with pytest.raises(Unreadable):
        okrun.run(tmp_path / "none")
    with pytest.raises(OkError, match="STAT-2"):
        okrun.run(build("status"), host=str(tmp_path / "none"))
    with pytest.raises(OkError, match="counters"):
        okrun.run(build("status"), prof="heaps")
    with pytest.raises(subprocess.TimeoutExpired):
        okrun.run(build("wait"), timeout=0.5, stdout=subprocess.PIPE)
    assert os.listdir("/proc/self/fd") == before
