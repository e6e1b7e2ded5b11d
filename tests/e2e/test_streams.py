"""Standard input, output and error are the image's own."""

import hashlib
import os
import pty
import subprocess
import threading
from pathlib import Path

import pytest

GIB = 1 << 30
BLOCK = 1 << 20


def blocks():
    """1 GiB in which no two mebibytes are the same, from a sparse pattern of hashes and zeros."""
    filler = bytearray(BLOCK)
    for number in range(GIB // BLOCK):
        digest = hashlib.sha256(b"%d" % number).digest()
        for at in range(0, BLOCK, 65536):
            filler[at + number % 60000 : at + number % 60000 + 32] = digest
        yield bytes(filler)


@pytest.mark.spec("KAL-2", "PROF-4")
@pytest.mark.parametrize("options", [(), ("--prof=calls:out",)], ids=["plain", "measured"])
def test_a_gibibyte_through_a_pipe(run, tmp_path, options):
    """1 GiB through the copying image comes out byte for byte."""
    process = run.start(
        "copy", options=options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    )
    sent, received = hashlib.sha256(), hashlib.sha256()

    def feed():
        with process.stdin as pipe:
            for block in blocks():
                sent.update(block)
                pipe.write(block)

    feeder = threading.Thread(target=feed)
    feeder.start()
    size = 0
    with process.stdout as pipe:
        while data := pipe.read(BLOCK):
            received.update(data)
            size += len(data)
    feeder.join()
    assert process.wait() == 0
    assert size == GIB
    assert received.hexdigest() == sent.hexdigest()


@pytest.mark.spec("KAL-2", "RUN-7")
def test_three_pipes(run_on_each):
    """Each stream of the image is the stream of that number that okrun was given."""
    done = run_on_each("streams", input=b"x")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"out\n", b"err\n")


@pytest.mark.spec("RUN-7")
def test_terminal(run):
    """
    A terminal is the image's own: what is typed arrives, what it writes is shown, and Ctrl-C ends
    it.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *run.words("copy")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"typed\n")
    shown = b""
    while shown.count(b"typed\r\n") < 2:  # the terminal's echo, and the image's copy
        shown += os.read(ours, 100)
    os.write(ours, b"\x03")
    assert process.wait(60) in (130, -2)
    os.close(ours)


def keys_of(file):
    """Return what a file of /proc says, by key."""
    return dict(line.split(":\t", 1) for line in file.read_text().splitlines())


@pytest.mark.spec("RUN-7", "RUN-8")
def test_process_is_the_images(run, tmp_path):
    """
    The process that okrun was started as is the image's: directory, signals, descriptors; nothing
    of okrun's stays.
    """
    with run.start(
        "wait", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        proc = Path(f"/proc/{process.pid}")
        program = os.readlink(proc / "exe")
        folder = os.readlink(proc / "cwd")
        status = keys_of(proc / "status")
        flags = {
            int(fd): int(keys_of(proc / "fdinfo" / fd)["flags"], 8)
            for fd in os.listdir(proc / "fd")
        }
        process.kill()
    assert os.path.basename(program) == "okhost"
    assert folder == str(tmp_path)
    assert {0, 1, 2} <= set(flags)
    assert all(flag & os.O_CLOEXEC for fd, flag in flags.items() if fd > 2)
    assert int(status["SigIgn"], 16) == 0
    assert int(status["SigBlk"], 16) == 0
