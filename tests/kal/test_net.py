"""openkal.net as an image has it: by itself, and with another program at the other end."""

import contextlib
import socket
import subprocess

import pytest


@pytest.mark.spec("NET-1", "NET-2", "NET-3", "NET-4", "NET-5", "NET-6", "NET-7", "NET-8", "NET-9")
def test_every_function_keeps_its_contract(holds):
    """An image meets every function and error of tests/kal/src/net.c, measured or not."""
    holds("net")


def families():
    """Return the families of addresses that the loopback device has here."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return [socket.AF_INET, socket.AF_INET6]
    except OSError:
        return [socket.AF_INET]


@pytest.mark.spec("NET-2", "NET-5", "NET-6", "NET-7")
@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_an_image_calls(run_on_each, family):
    """
    Each byte arrives, either way, and both ends name the same ports; the end of the image's input
    is the end of what it sends.
    """
    sent, back = bytes(range(256)) * 3000, b"and back" * 20000
    own = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((own, 0), family=family) as server:
        port = server.getsockname()[1]
        words = ["call", str(port)] + (["6"] if family == socket.AF_INET6 else [])
        with run_on_each.start(
            "net", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as image:
            server.settimeout(60)
            connection, address = server.accept()
            with connection, connection.makefile("rb") as stream:
                image.stdin.write(sent)
                image.stdin.close()
                assert stream.read() == sent
                connection.sendall(back)
                connection.shutdown(socket.SHUT_WR)
                assert image.stdout.readline() == b"%d %d\n" % (address[1], port)
                assert address[0] == own
                assert image.stdout.read() == back
        assert image.returncode == 0


@pytest.mark.spec("NET-3", "NET-4", "NET-6")
def test_an_image_answers(run_on_each):
    """The port that it says is where it listens, and what is sent to it comes back."""
    with run_on_each.start("net", "answer", stdout=subprocess.PIPE) as image:
        port = int(image.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            for size in (1, 1000, 60000):
                sent = bytes(n % 251 for n in range(size))
                connection.sendall(sent)
                with connection.makefile("rb") as stream:
                    assert stream.read(size) == sent
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
    assert image.returncode == 0


@pytest.mark.spec("NET-6")
def test_a_caller_that_is_reset_is_no_signal(run_on_each):
    """An image that writes to who has gone away ends as it says itself, and not by SIGPIPE."""
    with run_on_each.start(
        "net", "answer", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as image:
        port = int(image.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                while True:  # until nothing moves: the image waits in a write
                    connection.sendall(b"x" * 65536)
        assert b"not so" in image.stderr.read()
    assert image.returncode == 1
