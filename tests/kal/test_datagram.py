"""openkal.datagram as an image has it: by itself, and with another program at the other end."""

import socket
import subprocess

import pytest


@pytest.mark.spec("DGM-1", "DGM-2", "DGM-3", "DGM-4")
def test_every_function_keeps_its_contract(holds):
    """An image meets every function and error of tests/kal/src/datagram.c, measured or not."""
    holds("datagram")


@pytest.mark.spec("DGM-1", "DGM-2", "DGM-3")
def test_an_image_answers(run_on_each):
    """Each datagram of another program comes back to it, whole, from the port that was said."""
    with (
        run_on_each.start("datagram", "answer", stdout=subprocess.PIPE) as image,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        there = ("127.0.0.1", int(image.stdout.readline()))
        other.settimeout(60)
        for size in (1, 2, 1472, 1473, 9000, 65507, 0):
            sent = bytes(n % 251 for n in range(size))
            other.sendto(sent, there)
            assert other.recvfrom(65536) == (sent, there)
    assert image.returncode == 0
