"""A server and its client, both images, and a thousand connections that are open at once."""

import json
import subprocess
import zlib

import pytest

CONNECTIONS = 1000


def sent(number):
    """Return what connection *number* sends, as tests/work/src/exchange.h has it."""
    length = 1 + number * 2741 % 20011
    return bytes((number * 31 + k * 7 + k // 251) & 255 for k in range(length))


def both(run, server_options, client_options, cwd):
    """Run them, and return what the server says of each connection."""
    with run.start(
        "serve", str(CONNECTIONS), options=server_options, cwd=cwd,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as server:  # fmt: skip
        port = server.stdout.readline().decode().strip()
        client = run("fetch", port, str(CONNECTIONS), options=client_options, cwd=cwd)
        said, complaints = server.communicate()
    assert (client.returncode, client.stdout, client.stderr) == (0, b"", b"")
    assert (server.returncode, complaints) == (0, b"")
    return sorted(tuple(map(int, line.split())) for line in said.splitlines())


@pytest.mark.spec("NET-2", "NET-4", "NET-6", "TASK-1")
@pytest.mark.parametrize("way", ["plain", "measured", "sanitized"])
def test_a_thousand_connections(run, request, tmp_path, way):
    """
    Every byte of every connection arrives, and comes back, once and in order; measured, each
    accept and connect is counted; under sanitizers, nothing is found.
    """
    options = ["--prof=count:out"] if way == "measured" else []
    if way == "sanitized":
        options = ["--host", request.getfixturevalue("sanitized_host")]
    said = both(run, options, options, tmp_path)
    expected = [(n, sent(n)) for n in range(CONNECTIONS)]
    assert said == [(n, len(data), zlib.adler32(data)) for n, data in expected]
    counts = {}
    for report in tmp_path.glob("out/okprof-*.json"):
        counts |= {call["name"]: call["count"] for call in json.loads(report.read_text())["calls"]}
    if way == "measured":
        assert counts["kal_net_accept"] == counts["kal_net_connect"] == CONNECTIONS
        assert counts["kal_net_shutdown"] == counts["kal_net_stream"] == CONNECTIONS
