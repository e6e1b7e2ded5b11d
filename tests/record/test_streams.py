"""The streams are the command's own, and so is whatever else is open."""

import os
import subprocess
import sys
import time

import pytest
from attended import Reader


@pytest.mark.spec("REC-7", "REC-8")
def test_streams(record, lines):
    """What goes in and out is the command's; the line comes last, on standard error."""
    done = record("sh", "-c", "cat; echo one >&2; sleep 0.2; echo two >&2", stdin=None, input=b"in")
    assert done.stdout == b"in"
    assert lines(done.stderr)[:2] == ["one", "two"]
    assert len(lines(done.stderr)) == 3


@pytest.mark.spec("REC-7")
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_closed_streams(okprof, tmp_path, closed):
    """A stream that is closed is closed for the command, whose status is what it was."""
    code = """
import os, sys
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
here = [fd for fd in range(100) if is_open(fd)]
open("seen", "w").write(repr(here))
sys.exit(9)
"""

    def close():
        for fd in closed:
            os.close(fd)

    words = okprof("-o", "out", sys.executable, "-c", code)
    with open(os.devnull, "r+b") as null:
        done = subprocess.run(words, cwd=tmp_path, preexec_fn=close, stdin=null, stdout=null,
                              stderr=null)  # fmt: skip
    assert done.returncode == 9
    assert (tmp_path / "seen").read_text() == str([fd for fd in range(3) if fd not in closed])


@pytest.mark.spec("REC-10")
@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1)])
def test_truth_without_streams(record, lines, closed):
    """A stream that is closed changes nothing of what is said of the directory."""

    def close():
        for fd in closed:
            os.close(fd)

    (line,) = lines(record("-o", "out", "true", preexec_fn=close).stderr)
    assert line.startswith("okprof: no report: ")


@pytest.mark.spec("REC-7")
def test_other_descriptors(okprof, tmp_path):
    """A descriptor that is handed down reaches the command under its number."""
    reader, writer = os.pipe()
    words = okprof(sys.executable, "-c", f"import os; os.write({writer}, b'here')")
    process = subprocess.Popen(words, cwd=tmp_path, pass_fds=[writer], stderr=subprocess.PIPE)
    os.close(writer)
    with open(reader) as file:
        assert file.read() == "here"
    process.communicate()


@pytest.mark.spec("REC-7")
@pytest.mark.parametrize("stream", ["1", "9"])
def test_closed_by_the_command(okprof, tmp_path, stream):
    """What the command closes is closed for whoever reads it, before the command ends."""
    reader, writer = os.pipe()

    def put():
        os.dup2(writer, int(stream))

    words = okprof("sh", "-c", f"echo up >&{stream}; exec {stream}>&- ; read end; exit 9")
    process = subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=False,
        preexec_fn=put, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    assert Reader(reader).rest() == "up\n"
    os.close(reader)
    assert process.poll() is None
    process.communicate(b"end\n")
    assert process.returncode == 9


@pytest.mark.spec("REC-7")
def test_input_closed_by_the_command(okprof, tmp_path):
    """Whoever writes to a command that has closed its input is told so at once."""
    process = subprocess.Popen(
        okprof("sh", "-c", "exec <&-; echo closed; exec sleep 600"), cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout.readline() == b"closed\n"
    end = time.monotonic() + 60
    while is_read(process.stdin):  # the copy of this process is closed a moment after its start
        assert time.monotonic() < end
    process.terminate()
    process.communicate()


def is_read(pipe):
    """Say whether anybody may read what is written to a pipe."""
    try:
        os.write(pipe.fileno(), b"x")
    except BrokenPipeError:
        return False
    time.sleep(0.01)
    return True


@pytest.mark.spec("REC-8")
@pytest.mark.parametrize("kind", ["closed", "full", "broken"])
def test_nobody_to_tell(okprof, tmp_path, kind):
    """Where the line cannot be written the status is the command's all the same."""
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    stderr = {"closed": None, "full": full, "broken": writer}[kind]
    done = subprocess.run(
        okprof("sh", "-c", "exit 9"), cwd=tmp_path, stderr=stderr,
        preexec_fn=lambda: os.close(2) if kind == "closed" else None,
    )  # fmt: skip
    os.close(writer)
    os.close(full)
    assert done.returncode == 9
