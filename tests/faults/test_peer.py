"""The other end goes away in the middle."""

import socket
import struct
import subprocess

import pytest


@pytest.fixture
def listener():
    """Return a listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def greet(listener):
    """Accept a connection, greet it, and return it."""
    connection = listener.accept()[0]
    connection.sendall(b"hello")
    return connection


@pytest.mark.spec("NET-6", "KAL-9")
@pytest.mark.parametrize("way", ["close", "reset"])
def test_a_connection_ends(run, options, listener, way):
    """A close reads as the end, a reset as closed; what is then written is refused, no signal."""
    port = str(listener.getsockname()[1])
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with run.start("peer", way, port, options=options, **pipes) as image:
        connection = greet(listener)
        assert image.stdout.readline() == b"now\n"
        if way == "reset":
            at_once = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        connection.close()
        assert image.communicate(b"x") == (b"", b"")
    assert image.returncode == 0


@pytest.mark.spec("NET-6", "KAL-2", "KAL-9")
def test_a_connection_ends_while_it_is_written(run, options, listener):
    """As many bytes as the peer read were reported written, at least; then it is closed."""
    port = str(listener.getsockname()[1])
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with run.start("peer", "some", port, options=options, **pipes) as image:
        with greet(listener) as connection:
            got = 0
            while got < 1_000_000:
                got += len(connection.recv(1_000_000 - got))
        said, complaints = image.communicate()
    assert (image.returncode, complaints) == (0, b"")
    assert int(said) >= got


@pytest.mark.spec("PROC-4", "KAL-9")
def test_a_program_ends(run, options):
    """What is written to a program that has ended is refused, and no signal comes."""
    done = run("peer", "program", options=options)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello", b"")
