"""Signals act on an image as on any program."""

import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest


@pytest.fixture(params=[(), ("--prof=calls:out",)], ids=["plain", "measured"])
def options(request):
    return request.param


def report_of(folder):
    (file,) = folder.glob("out/okprof-*.json")
    return json.loads(file.read_text())


@pytest.mark.spec("RUN-7", "STAT-1", "PROF-4", "REP-2")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGUSR1]
)
def test_image_dies_by_the_signal(run, tmp_path, options, number):
    """
    A signal ends the image and okrun's process by that signal; the report says so where it can be
    written.
    """
    process = run.start(
        "wait", options=options, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (-number, b"", b"")
    if options and number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        report = report_of(tmp_path)
        assert report["ended"] == {"by": "signal", "status": 128 + number, "signal": number}
        assert report["counters"] == [{"name": "said", "value": 1}]
        assert [phase["name"] for phase in report["phases"]] == ["waiting"]


@pytest.mark.spec("RUN-7", "PROF-4")
def test_broken_pipe(run, tmp_path, options):
    """A write to a pipe that nobody reads ends the image by SIGPIPE."""
    process = run.start(
        "pour", options=options, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.read(1)
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()
    if options:
        assert report_of(tmp_path)["ended"]["signal"] == signal.SIGPIPE


@pytest.mark.spec("RUN-7")
def test_ignored_interrupt_stays_ignored(run):
    """
    An image whose parent ignores SIGINT, as under nohup or in the background, is not interrupted.
    """
    words = run.words("wait")
    shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *words]
    with subprocess.Popen(shell, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM


INTERRUPTED = """
import os, sys

def interrupt(event, args):
    if event == "import" and args[0].startswith("okrun."):
        os.kill(os.getpid(), 2)

sys.addaudithook(interrupt)
exec(open(sys.argv[1]).read())
"""


@pytest.mark.spec("RUN-7")
def test_interrupt_before_the_start_is_no_traceback(command):
    """
    An interrupt that comes while okrun is still a Python program ends it as it ends any program.
    """
    words = [sys.executable, "-P", "-c", INTERRUPTED, command("okrun"), "x.ok"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


@pytest.mark.spec("CRASH-2", "KAL-7", "RUN-7")
@pytest.mark.parametrize(
    "words", [pytest.param(("crash",), id="crash"), pytest.param(("ends", "abort"), id="abort")]
)
def test_a_report_that_nobody_reads_can_be_interrupted(run, tmp_path, options, words):
    """
    An image that waits at its end for a reader of standard error, a full pipe, ends by SIGTERM.
    """
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)))
    process = run.start(
        *words, options=options, cwd=tmp_path, stdout=subprocess.PIPE, stderr=writer
    )
    os.close(writer)
    if words == ("ends", "abort"):
        assert process.stdout.readline() == b"init\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    process.stdout.close()
    os.close(reader)
