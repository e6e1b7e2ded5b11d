"""The same with images themselves: what a command has of ``okrun`` is what is told."""

import os
import re
import shlex
import signal
import subprocess

import pytest
from attended import Terminal, wait_for
from running import CLEAN


@pytest.fixture
def okrun(command, build):
    """Return shell text that runs an image."""

    def okrun(name, *args):
        return shlex.join([command("okrun"), str(build(name)), *args])

    return okrun


@pytest.fixture
def told(record, lines):
    """Return a shell command line's status, and the lines that are said of it."""

    def told(text, *options):
        done = record("-o", "out", *options, "sh", "-c", text)
        said = [line for line in lines(done.stderr) if line.startswith("okprof: ")]
        return done.returncode, [line.removeprefix("okprof: ") for line in said]

    return told


@pytest.mark.spec("REC-1", "REC-8", "REC-9")
def test_images(told, okrun, build, reports):
    """Every image of a command is measured, and belongs to its run."""
    status, (line,) = told(f"{okrun('hello', 'a')}; {okrun('hello')} & wait; exit 5")
    assert status == 5
    assert line == f"2 reports ({build('hello')} 2) in out; to read: okprof report out"
    (report,) = reports().values()
    assert (report["what"], report["run"].split("-")[0].isalnum()) == (["calls"], True)


@pytest.mark.spec("REC-8")
def test_read_by_report(told, okrun, command, tmp_path):
    """The reports are those that ``okprof report`` adds up as one run."""
    told(f"{okrun('hello')}; {okrun('hello')}")
    words = [command("okprof"), "report", "out"]
    read = subprocess.run(words, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True)
    assert read.stdout.startswith("2 reports in 1 run of ")


@pytest.mark.spec("REC-8", "REC-10")
def test_refused(told, okrun):
    """An image that is refused, and one that is not there, were not measured."""
    for name, expected in (("bad-import", 126), ("bad-undeclared", 126)):
        status, (line,) = told(okrun(name))
        assert status == expected
        assert line.startswith("no report: no image was measured ")


@pytest.mark.spec("REC-8")
def test_measured_elsewhere(told, okrun, command, build, tmp_path):
    """One that has a --prof of its own is not measured here."""
    text = shlex.join([command("okrun"), "--prof=count:own", str(build("hello"))])
    status, (line,) = told(text)
    assert status == 0
    assert line.startswith("no report: no image was measured ")
    assert len(list((tmp_path / "own").iterdir())) == 1


@pytest.mark.spec("REC-1", "REC-10")
def test_crash(told, okrun, build):
    """An image that crashes has a report, and how it ended is told."""
    status, lines = told(f"exec {okrun('crash')}")
    assert status == -signal.SIGSEGV
    assert lines[0].startswith(f"1 report ({build('crash')}) in out/")
    assert re.fullmatch(rf"ended early: {build('crash')} \(pid \d+, SIGSEGV\)", lines[1])


@pytest.mark.spec("REC-10")
def test_killed(told, okrun, build, tmp_path):
    """One that is killed left no report; what it had begun is named."""
    text = f"{okrun('wait')} >up & while ! test -s up; do sleep 0.02; done; kill -9 $!; wait $!"
    status, (line,) = told(text)
    (path,) = (tmp_path / "out").iterdir()
    assert status == 128 + signal.SIGKILL
    what = f"killed, or could not write its report: {build('wait')} (pid {path.name.split('-')[2]})"
    assert line == f"{what} out/{path.name}"


@pytest.mark.spec("REC-10")
def test_running(told, okrun, build, reports):
    """One that outlives the command is told to run, and its report comes when it ends."""
    text = f"{okrun('wait')} >up 2>&- & echo $! >pid; while ! test -s up; do sleep 0.02; done"
    status, (line,) = told(f"{text}; cp pid out")
    assert status == 0
    running = re.fullmatch(
        rf"still running, its report is to come: {build('wait')} \(pid (\d+)\)", line
    )
    os.kill(int(running[1]), signal.SIGTERM)
    wait_for(reports)
    assert reports()[str(build("wait"))]["ended"]["signal"] == signal.SIGTERM


@pytest.mark.spec("REC-1", "REC-4", "REC-10")
def test_interrupted(okprof, okrun, build, command, tmp_path):
    """An interrupt of the keyboard ends an image and both commands by it, once it has a report."""
    words = okprof("-o", "out", command("okrun"), build("wait"))
    terminal = Terminal([os.fspath(word) for word in words], tmp_path)
    terminal.until(r"ready\r\n")
    terminal.type("\x03")
    terminal.until(r"okprof: 1 report \(.*wait.*\) in out/")
    terminal.until(r"okprof: ended early: .* \(pid \d+, SIGINT\)\r\n")
    _, status = os.waitpid(terminal.pid, 0)
    terminal.hang_up()
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT


@pytest.mark.spec("REC-11")
def test_other_files(told, okrun, tmp_path):
    """The files of a heap and of names for perf are named where they are."""
    lines = told(okrun("alloc"), "--what", "heap,perfmap")[1]
    heap, names = sorted(line for line in lines if not line.startswith("1 report"))
    assert (tmp_path / heap.removeprefix("heap: ")).is_file()
    path = names.removeprefix("perf map: ")
    assert re.fullmatch(r"/tmp/perf-\d+\.map", path)
    os.unlink(path)


@pytest.mark.spec("REC-3")
def test_empty_variable(record, lines, command, build):
    """An OKRUN_PROF that is empty does not keep an image from being measured."""
    env = CLEAN | {"OKRUN_PROF": "", "OKRUN_PROF_RUN": "", "EMPTY": ""}
    done = record("-o", "out", command("okrun"), build("hello"), env=env)
    assert lines(done.stderr)[-1].startswith("okprof: 1 report ")
