"""openkal.timeout as an image has it: by itself, and with what its streams can be."""

import contextlib
import os
import pty
import socket
import subprocess
import tty

import pytest


@pytest.mark.spec("TMO-1", "TMO-2", "TMO-3", "TMO-4", "TMO-5", "TMO-6", "TMO-7")
def test_every_function_keeps_its_contract(holds):
    """An image meets every function and error of tests/kal/src/timeout.c, measured or not."""
    holds("timeout")


def ends(kind):
    """Return a stream for an image and its other end, two descriptors."""
    if kind == "terminal":
        master, slave = pty.openpty()
        tty.setraw(slave)
        return slave, master
    if kind == "socket":
        return tuple(end.detach() for end in socket.socketpair())
    return os.pipe()


@pytest.mark.spec("TMO-1", "TMO-3")
@pytest.mark.parametrize("kind", ["pipe", "socket", "terminal"])
def test_a_read_of_a_standard_stream_expires(run_on_each, kind):
    """What is sent when the bound has passed is there for the next read, to the end."""
    mine, other = ends(kind)
    with run_on_each.start("timeout", "read", stdin=mine, stdout=subprocess.PIPE) as image:
        os.close(mine)
        assert image.stdout.readline() == b"again\n"
        for part in (b"one", b"two", b"three"):
            os.write(other, part)
            assert image.stdout.read(len(part)) == part
        os.close(other)
        assert image.stdout.read() == b""
    assert image.returncode == 0


def rest(fd):
    """Return what is left to read of a stream whose other end is closed."""
    got = b""
    with contextlib.suppress(OSError):  # EIO: so a terminal ends
        while part := os.read(fd, 1 << 20):
            got += part
    return got


@pytest.mark.spec("TMO-1", "TMO-4")
@pytest.mark.parametrize("kind", ["pipe", "socket", "terminal"])
def test_a_write_to_a_standard_stream_expires(run_on_each, kind):
    """As many bytes arrive as were said to have moved, and no other."""
    mine, other = ends(kind)
    mine, other = (other, mine) if kind == "pipe" else (mine, other)
    with run_on_each.start("timeout", "write", stdout=mine, stderr=subprocess.PIPE) as image:
        moved = int(image.stderr.readline())
        assert (moved > 0, image.stderr.read()) == (True, b"")
    assert image.returncode == 0
    got = b""
    while len(got) < moved:
        got += os.read(other, 1 << 20)
    os.close(mine)
    letters = bytes(range(ord("a"), ord("z") + 1))
    assert got + rest(other) == (letters * (moved // 26 + 1))[:moved]
    os.close(other)
