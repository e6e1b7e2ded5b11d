"""openkal.terminal as images use it, and what is left of a terminal after them."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

import pytest

LINE_EDIT, ECHO, PASS_CONTROL = 1, 2, 4
"""The bits of a mode; KAL_TERM_ in the headers."""

ENDS = {
    "return": 4,
    "exit": 4,
    "abort": -signal.SIGABRT,
    "crash": -signal.SIGSEGV,
    "task": 4,
    "start": 4,
}
"""Ways of terminal.c to end, and what they end with."""


class Terminal:
    """A terminal, seen from where somebody types; its only program is an image."""

    def __init__(self):
        self.screen, self._own = pty.openpty()
        self.before = termios.tcgetattr(self.screen)

    def start(self, run, *words, **more):
        """Start the image `terminal` with the terminal as its session's and its input."""
        pipes = {"stdin": self._own, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = run.start("terminal", *words, preexec_fn=self._become_its_own, **pipes, **more)
        os.close(self._own)
        return process

    @staticmethod
    def _become_its_own():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def type(self, keys):
        os.write(self.screen, keys)

    def shown(self):
        """Return what is on the screen when no program has the terminal open any more."""
        seen = b""
        with contextlib.suppress(OSError):  # EIO: that was all
            while True:
                seen += os.read(self.screen, 1000)
        return seen

    def left_behind(self):
        """Return the attributes that are left when no program has the terminal open any more."""
        poll = select.poll()
        poll.register(self.screen, 0)  # a hang-up is always told
        assert poll.poll(60_000) == [(self.screen, select.POLLHUP)]
        return termios.tcgetattr(self.screen)

    def close(self):
        os.close(self.screen)


@pytest.fixture
def terminal():
    """Return a terminal that nobody has used."""
    made = Terminal()
    yield made
    made.close()


@pytest.mark.spec("TERM-1", "TERM-2")
def test_every_function_keeps_its_contract(holds):
    """What is no terminal is not supported by any function, measured or not."""
    holds("terminal")


@pytest.mark.spec("TERM-1")
def test_a_size(run_on_each, terminal):
    """Columns and rows are those that the terminal says."""
    fcntl.ioctl(terminal.screen, termios.TIOCSWINSZ, struct.pack("4H", 43, 132, 0, 0))
    process = terminal.start(run_on_each, "size")
    assert process.communicate(timeout=60) == (b"132 43", b"")


@pytest.mark.spec("TERM-2")
@pytest.mark.parametrize("mode", range(8))
def test_a_mode_does_what_it_says(run_on_each, terminal, mode):
    """Lines are edited, keys shown and control keys passed on as the three bits say."""
    process = terminal.start(run_on_each, "mode", str(mode))
    assert process.stdout.readline() == b"ready\n"
    end = b"\n" if mode & LINE_EDIT else b""
    terminal.type(b"a\x16x\x7fb" + end)  # ^V is one of the terminal's own keys, where it edits
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (4, b"")
    edited = b"a\x16b" if mode & PASS_CONTROL else b"ab"
    assert out == (edited + end if mode & LINE_EDIT else b"a\x16x\x7fb")
    assert bool(terminal.shown()) == bool(mode & ECHO)
    assert terminal.left_behind() == terminal.before


@pytest.mark.spec("TERM-3", "STAT-1")
@pytest.mark.parametrize("way", ENDS)
def test_the_mode_is_put_back(run_on_each, terminal, prof, tmp_path, way):
    """However the program ends, the terminal is what it was, and nothing has it open any more."""
    process = terminal.start(run_on_each, way, options=prof, cwd=tmp_path)
    assert process.stdout.readline() == b"ready\n"
    assert termios.tcgetattr(terminal.screen)[3] & (termios.ECHO | termios.ICANON) == 0
    terminal.type(b"x")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (ENDS[way], b"x")
    assert terminal.left_behind() == terminal.before
    assert len(list(tmp_path.glob("reports/*"))) == len(prof)


@pytest.mark.spec("TERM-3", "TERM-4", "STAT-1")
@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGKILL],
)
def test_a_signal_puts_it_back(run, terminal, prof, tmp_path, number):
    """So does a signal, also the one that no program can answer."""
    process = terminal.start(run, "return", options=prof, cwd=tmp_path)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert terminal.left_behind() == terminal.before


@pytest.mark.spec("TERM-2", "TERM-3")
def test_a_key_that_ends_it(run_on_each, terminal):
    """Where control keys are not passed on, ^C ends the program, and the mode is put back."""
    process = terminal.start(run_on_each, "mode", str(LINE_EDIT))
    assert process.stdout.readline() == b"ready\n"
    terminal.type(b"\x03")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert terminal.left_behind() == terminal.before


@pytest.mark.spec("TERM-4")
def test_no_guard_is_in_the_programs_group(run, terminal):
    """Who kills the program with its whole group leaves the terminal as it was, too."""
    process = terminal.start(run, "return")
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert terminal.left_behind() == terminal.before


@pytest.mark.spec("TERM-5")
def test_another_program_leaves_the_mode(run, terminal):
    """A program that the image starts puts nothing back that the image has set."""
    process = terminal.start(run, "start")
    assert process.stdout.readline() == b"ready\n"
    assert termios.tcgetattr(terminal.screen)[3] & (termios.ECHO | termios.ICANON) == 0
    terminal.type(b"x")
    process.communicate(timeout=60)
    assert terminal.left_behind() == terminal.before
