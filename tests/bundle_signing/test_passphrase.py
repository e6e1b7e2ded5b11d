"""The passphrase is asked for at the terminal, once, and not shown."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OKLD = ROOT / "bin" / "okld"
IMAGE = ROOT / "testdata" / "images" / "hello.x86_64.ok"

ASK = """
from okld.base.errors import OkError
from okld.cli.passphrase import ask
try:
    print(f"got {ask('Passphrase of a' + chr(27) + 'key: ')!r}")
except OkError as error:
    print(f"error: {error}")
"""

OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A child process whose terminal is this one."""

    def __init__(self, *words: object, **options) -> None:
        self.main, end = pty.openpty()
        self.shown = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, sys.executable, *words],
            **{"stdin": end, "stdout": end, "stderr": end, **options},
        )
        os.close(end)

    def read_until(self, wanted: bytes) -> None:
        while wanted not in self.shown:
            assert select.select([self.main], [], [], 30)[0], self.shown
            self.shown += os.read(self.main, 4096)

    def read_all(self) -> bytes:
        try:
            while select.select([self.main], [], [], 30)[0]:
                self.shown += os.read(self.main, 4096)
        except OSError:  # the child's end is closed
            pass
        return self.shown

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.main)[3] & termios.ECHO)


@pytest.fixture
def terminal():
    made = []

    def terminal(*words: object, **options) -> Terminal:
        made.append(Terminal(*(words or ("-c", ASK)), **options))
        return made[-1]

    yield terminal
    for one in made:
        one.process.kill()
        one.process.wait()
        if one.process.stdin:
            one.process.stdin.close()
        os.close(one.main)


@pytest.mark.spec("SIG-11", "ERR-2")
def test_nothing_is_shown(terminal):
    """The prompt is shown once, what is typed is not, and the terminal is as before."""
    screen = terminal()
    screen.read_until(b"key: ")
    assert not screen.echoes()
    os.write(screen.main, b"open sesame\n")
    screen.read_until(b"got b'open sesame'")
    before = screen.shown.partition(b"got ")[0]
    assert before.strip() == b"Passphrase of a\\x1bkey:"
    assert screen.process.wait() == 0
    assert screen.echoes()


@pytest.mark.spec("SIG-11")
def test_the_terminal_and_not_a_pipe(terminal):
    """With a pipe as standard input it is the terminal that is asked, and the pipe is not read."""
    screen = terminal(stdin=subprocess.PIPE)
    screen.process.stdin.write(b"from the pipe\n")
    screen.process.stdin.flush()
    screen.read_until(b"key: ")
    os.write(screen.main, b"from the terminal\n")
    screen.read_until(b"got b'from the terminal'")


@pytest.mark.spec("SIG-11")
def test_no_terminal():
    """Without a terminal nothing is read, and one line says what to do."""
    ran = subprocess.run(
        [sys.executable, "-c", ASK],
        input=b"from the pipe\n",
        capture_output=True,
        check=True,
        start_new_session=True,
    )
    assert ran.stdout.startswith(b"error: the key has a passphrase, and there is no terminal")
    assert ran.stderr == b""


@pytest.mark.spec("SIG-11")
def test_end_of_input(terminal):
    """An end of input is no passphrase."""
    screen = terminal()
    screen.read_until(b"key: ")
    os.write(screen.main, b"\x04")
    screen.read_until(b"error: no passphrase given")
    assert screen.process.wait() == 0


@pytest.fixture
def encrypted(make_key):
    return make_key("key", "-t", "ed25519", passphrase="open sesame")


@pytest.mark.spec("SIG-11", "SIG-1")
def test_a_bundle(terminal, encrypted, keygen, tmp_path):
    """`okld bundle` asks, signs the manifest that is in the bundle, and ssh-keygen agrees."""
    made = tmp_path / "a.okb"
    screen = terminal(OKLD, "bundle", IMAGE, "-o", made, "--sign", encrypted)
    screen.read_until(b": ")
    os.write(screen.main, b"open sesame\n")
    assert screen.process.wait() == 0
    assert screen.read_all() == f"Passphrase of {encrypted}: \r\n".encode()
    with zipfile.ZipFile(made) as archive:
        manifest = archive.read("okb/manifest.json")
        signature = archive.read("okb/manifest.json.sig")
    (tmp_path / "sig").write_bytes(signature)
    words = ("ssh-keygen", "-Y", "check-novalidate", "-n", "okb", "-s", tmp_path / "sig")
    assert subprocess.run(words, input=manifest, capture_output=True).returncode == 0


@pytest.mark.spec("SIG-11", "CLI-1")
def test_wrong_passphrase(terminal, encrypted, tmp_path):
    """It asks once; a wrong answer is one line and status 1, and there is no bundle."""
    made = tmp_path / "a.okb"
    screen = terminal(OKLD, "bundle", IMAGE, "-o", made, "--sign", encrypted)
    screen.read_until(b": ")
    os.write(screen.main, b"open\n")
    assert screen.process.wait() == 1
    lines = screen.read_all().decode().splitlines()
    assert lines == [
        f"Passphrase of {encrypted}: ",
        f"okld: {encrypted}: wrong passphrase [SIG-11]",
    ]
    assert not made.exists()


@pytest.mark.spec("SIG-11")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt(terminal, encrypted, tmp_path, end):
    """A signal ends the command by itself, and the terminal shows again what is typed."""
    screen = terminal(OKLD, "bundle", IMAGE, "-o", tmp_path / "a.okb", "--sign", encrypted)
    screen.read_until(b": ")
    if end == signal.SIGINT:
        os.write(screen.main, b"op\x03")
    else:
        screen.process.send_signal(end)
    assert screen.process.wait() == -end
    assert screen.echoes()
    assert b"Traceback" not in screen.read_all()
