"""Keys in an ssh-agent: a real one, and some that no agent should be."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.bundle import agent
from okld.bundle.signing import load_key, sign


@pytest.fixture(scope="module")
def place():
    """A directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="okb") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def agent_socket(place, keys):
    """A running ssh-agent that holds a key of each kind."""
    path = place / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.01)
        env = {**os.environ, "SSH_AUTH_SOCK": str(path)}
        for key in keys.values():
            subprocess.run(["ssh-add", "-q", key], env=env, check=True)
        yield path
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def with_agent(agent_socket, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent_socket))


def fingerprint(key) -> str:
    return subprocess.check_output(["ssh-keygen", "-lf", key], text=True).split()[1]


@pytest.mark.spec("SIG-12", "SIG-1")
@pytest.mark.parametrize("kind", ["ed25519", "nistp256", "nistp384", "nistp521", "rsa"])
@pytest.mark.parametrize("by", ["fingerprint", "public key"])
@pytest.mark.usefixtures("with_agent")
def test_agent_signs(keys, keygen, manifest, never_asked, kind, by):
    """A key that the agent holds signs, named by its fingerprint or by its public half."""
    public = keys[kind].with_suffix(".pub")
    name = f"agent:{fingerprint(public)}" if by == "fingerprint" else str(public)
    signature = sign(manifest, load_key(name, never_asked))
    assert keygen.verifies(signature, f"alice {public.read_text()}")


@pytest.mark.spec("SIG-12")
@pytest.mark.usefixtures("with_agent")
def test_key_that_the_agent_has_not(make_key, never_asked):
    """Which key is missing is said, however it was named; its private half is not looked for."""
    public = make_key("other", "-t", "ed25519").with_suffix(".pub")
    for name in (f"agent:{fingerprint(public)}", str(public)):
        with pytest.raises(Refusal, match=r"has no key SHA256:\S{43}; .*\[SIG-12\]$"):
            load_key(name, never_asked)
    for name in ("agent:", "agent:x", "agent:\x1b[2J"):
        with pytest.raises(Refusal, match=r"\[SIG-12\]$"):
            load_key(name, never_asked)


@pytest.mark.spec("SIG-12")
@pytest.mark.usefixtures("with_agent")
def test_list(keys):
    """The agent's keys are those that ssh-add lists, with their comments."""
    listed = subprocess.check_output(["ssh-add", "-l"], text=True).splitlines()
    got = [(key.public.fingerprint, key.comment) for key in agent.agent_keys()]
    assert got == [(line.split()[1], " ".join(line.split()[2:-1])) for line in listed]
    assert len(got) == len(keys)


@pytest.mark.spec("SIG-12")
def test_no_agent(monkeypatch, place, never_asked):
    """Without an agent, or with a path where none is, there is one line."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(OkError, match="SSH_AUTH_SOCK is not set"):
        load_key("agent:SHA256:x", never_asked)
    for path in (place / "nobody", Path("/dev/null"), place / ("long" * 50)):
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        with pytest.raises(Unreadable, match="ssh-agent"):
            load_key("agent:SHA256:x", never_asked)


@pytest.fixture
def answers(place, monkeypatch):
    """Make an agent that gives each of some answers on a connection of its own."""
    path = place / f"false-{time.monotonic_ns()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
    asked: list[bytes] = []
    threads = []

    def serve(replies):
        for reply in replies:
            channel, _ = server.accept()
            with channel:
                asked.append(channel.recv(1 << 16))
                channel.sendall(reply)

    def answers(*replies: bytes) -> list[bytes]:
        threads.append(threading.Thread(target=serve, args=(replies,)))
        threads[-1].start()
        return asked

    yield answers
    for thread in threads:
        thread.join()
    server.close()


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def identities(wire, *blobs: bytes) -> bytes:
    body = b"\x0c" + struct.pack(">I", len(blobs))
    return framed(body + b"".join(wire.text(blob) + wire.text(b"\x1b[2J") for blob in blobs))


@pytest.mark.spec("SIG-12", "ERR-1")
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\0\0", id="a cut size"),
        pytest.param(struct.pack(">I", 0), id="size 0"),
        pytest.param(struct.pack(">I", 0xFFFFFFFF), id="4 GiB"),
        pytest.param(struct.pack(">I", 0x40001), id="above 256 KiB"),
        pytest.param(struct.pack(">I", 9) + b"\x0c\0", id="a cut body"),
        pytest.param(framed(b"\x0c"), id="no count"),
        pytest.param(framed(b"\x0c\0\0\0\1"), id="a key less than counted"),
        pytest.param(framed(b"\x0c\xff\xff\xff\xff"), id="four billion keys"),
        pytest.param(framed(b"\x0c\0\0\0\0\0"), id="a byte more"),
    ],
)
def test_agents_that_err(answers, never_asked, reply):
    """An answer of another form is refused."""
    answers(reply)
    with pytest.raises(FormatError, match=r"\[SIG-12\]$"):
        load_key("agent:SHA256:x", never_asked)


@pytest.mark.spec("SIG-12")
@pytest.mark.parametrize("kind", [5, 6, 14, 102])
def test_agents_that_refuse(answers, never_asked, kind):
    """An agent that says no is one line."""
    answers(framed(bytes((kind,))))
    with pytest.raises(Refusal, match=r"ssh-agent refused \[SIG-12\]$"):
        load_key("agent:SHA256:x", never_asked)


@pytest.mark.spec("SIG-12")
def test_keys_of_other_uses(answers, wire, known):
    """Keys of kinds that are not checked are passed over."""
    dss = wire.text(b"ssh-dss") + wire.text(b"\1")
    answers(identities(wire, dss, b"", known.blob, b"\xff" * 40))
    assert [key.blob for key in agent.agent_keys()] == [known.blob]


@pytest.mark.spec("SIG-12", "SIG-9")
def test_agent_with_another_signature(answers, wire, known, manifest, never_asked):
    """What an agent gives is checked: a signature of something else is refused."""
    made = framed(b"\x0e" + wire.text(known.sign(b"something else")))
    asked = answers(identities(wire, known.blob), made)
    (key,) = agent.agent_keys()
    with pytest.raises(Refusal, match=r"\[SIG-1\]$"):
        sign(manifest, key)
    body = b"\x0d" + wire.text(known.blob) + wire.text(wire.signed_blob()) + bytes(4)
    assert asked == [framed(b"\x0b"), framed(body)]


@pytest.mark.spec("SIG-12", "SIG-8")
@pytest.mark.parametrize("curve", ["ed25519", "nistp256"])
def test_hardware_behind_an_agent(answers, wire, keygen, manifest, public_line, curve, never_asked):
    """A hardware key signs through its agent, and ssh-keygen takes the signature."""
    key = wire.Hardware(curve)
    made = framed(b"\x0e" + wire.text(key.sign(wire.signed_blob())))
    answers(identities(wire, key.blob), made)
    (held,) = agent.agent_keys()
    assert keygen.verifies(sign(manifest, held), f"alice {public_line(key.blob)}\n")


@pytest.mark.spec("SIG-12", "SIG-7")
def test_an_rsa_key_is_asked_for_sha512(answers, wire, known_rsa, manifest):
    """The request has the flag without which an agent signs with SHA-1."""
    made = framed(b"\x0e" + wire.text(known_rsa.sign(wire.signed_blob())))
    asked = answers(identities(wire, known_rsa.blob), made)
    (key,) = agent.agent_keys()
    assert sign(manifest, key)
    assert asked[1].endswith(b"\0\0\0\4")


@pytest.mark.spec("SIG-12")
def test_an_agent_that_says_nothing(answers, place, monkeypatch):
    """An agent is not waited for without end."""
    monkeypatch.setattr(agent, "PATIENCE", 0.1)
    path = place / "silent"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        with pytest.raises(Unreadable, match="timed out"):
            agent.agent_keys()
