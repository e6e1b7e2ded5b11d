"""The native host's openkal.net, datagram and timeout, on the loopback device."""

from __future__ import annotations

import subprocess

import pytest

SOCKETS = ("kal/handle", "kal/stream", "kal/net", "kal/endpoint", "kal/wait")


@pytest.mark.spec(
    "NET-1", "NET-2", "NET-3", "NET-4", "NET-5", "NET-6", "NET-7", "NET-8", "NET-9", "RUN-8"
)
@pytest.mark.parametrize("part", ["kal_net.c", "kal_net_ends.c"])
def test_connections_keep_their_contracts(build, part):
    """A connection is made or says why not, and whatever becomes of its other end is no signal."""
    subprocess.run(build(part, *SOCKETS), check=True)


@pytest.mark.spec("DGM-1", "DGM-2", "DGM-3", "DGM-4", "NET-1", "NET-8", "RUN-8")
def test_datagrams_keep_their_contracts(build):
    """A datagram is sent whole or not, received once, and tells whence it came."""
    subprocess.run(build("kal_datagram.c", *SOCKETS, "kal/datagram"), check=True)


@pytest.mark.spec("TMO-1", "TMO-2", "TMO-3", "TMO-4", "TMO-5", "TMO-6", "TMO-7")
@pytest.mark.parametrize("part", ["kal_timeout.c", "kal_timeout_calls.c"])
def test_bounds_keep_their_contracts(build, part):
    """A bound ends a call when its time has passed, never before, and nothing is lost by it."""
    files = (*SOCKETS, "kal/datagram", "kal/timeout", "kal/process")
    subprocess.run(build(part, *files), check=True)
