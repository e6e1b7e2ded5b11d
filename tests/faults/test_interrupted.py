"""A signal that interrupts a call every millisecond changes no result."""

import hashlib
import os
import re
import subprocess
import threading
import time
import zlib
from pathlib import Path

import pytest


@pytest.fixture
def storm(interrupted_host):
    """Return the options of a run in which a signal comes every millisecond."""
    return ["--host", interrupted_host]


@pytest.mark.spec("KAL-9")
def test_there_is_a_storm(run, storm, image_of):
    """The process has a timer of 1 ms whose signal it catches."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with run.start(image_of("work", "turn"), options=storm, **pipes) as image:
        image.stdin.write(b"\xff")
        image.stdin.flush()
        assert image.stdout.read(1) == b"\0"  # it runs
        timers = Path(f"/proc/{image.pid}/timers").read_text()
        signal = int(re.search(r"^signal: (\d+)/", timers, re.M)[1])
        caught = re.search(r"^SigCgt:\s(\w+)$", Path(f"/proc/{image.pid}/status").read_text(), re.M)
        assert int(caught[1], 16) >> (signal - 1) & 1
        image.stdin.close()
    assert image.returncode == 0


INTERFACES = ["datagram", "exec", "map", "net", "region", "task", "terminal", "timeout"]


@pytest.mark.spec("KAL-9", "NET-1", "DGM-1", "TMO-1", "TASK-4", "MAP-1", "REG-1", "EXEC-1")
@pytest.mark.parametrize("name", INTERFACES)
def test_an_interface(run, storm, image_of, tmp_path, name):
    """An image that looks at an interface by itself finds nothing wrong."""
    done = run(image_of("kal", name), options=storm, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("KAL-2", "KAL-9")
def test_slow_streams(run, storm, image_of):
    """Every byte comes through, in order, where both ends are slower than the signals."""
    sent = bytes(k * 7 + k // 251 & 255 for k in range(400_000))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with run.start(image_of("work", "turn"), options=storm, **pipes) as image:

        def feed():
            for at in range(0, len(sent), 50_000):
                time.sleep(0.01)
                image.stdin.write(sent[at : at + 50_000])
            image.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        got = b""
        while part := os.read(image.stdout.fileno(), 20_000):
            got += part
            time.sleep(0.005)
        feeder.join()
    assert image.returncode == 0
    assert got == bytes(255 - byte for byte in sent)


@pytest.mark.spec("NET-2", "NET-4", "NET-6", "KAL-9")
def test_connections(run, storm, image_of):
    """A server and its client, both in the storm, exchange every byte."""
    count = 50
    more = {"options": storm, "stdout": subprocess.PIPE}
    with run.start(image_of("work", "serve"), str(count), **more) as server:
        port = server.stdout.readline().decode().strip()
        client = run(image_of("work", "fetch"), port, str(count), options=storm)
        said = server.stdout.read()
    assert (client.returncode, client.stderr, server.returncode) == (0, b"", 0)
    for line in said.splitlines():
        number, length, checksum = map(int, line.split())
        data = bytes((number * 31 + k * 7 + k // 251) & 255 for k in range(length))
        assert length == 1 + number * 2741 % 20011
        assert checksum == zlib.adler32(data)
    assert len(said.splitlines()) == count


@pytest.mark.spec("PROC-1", "PROC-4", "PROC-5", "KAL-9")
def test_programs(run, storm, image_of):
    """Programs start, data goes through each, and each end is told."""
    done = run(image_of("work", "pipe"), "60", image_of("work", "turn"), options=storm)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("FS-4", "FS-8", "KAL-9")
def test_a_tree(run, storm, image_of, tmp_path):
    """A walk finds every file, and reads every byte."""
    expected = []
    for number in range(300):
        name = f"tree/{number % 7}/{number % 30}/{number}"
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        data = b"%d" % number * number * 20
        (tmp_path / name).write_bytes(data)
        expected.append(f"{hashlib.sha256(data).hexdigest()}  {name}".encode())
    done = run(image_of("work", "hash"), options=storm, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(done.stdout.splitlines()) == sorted(expected)
