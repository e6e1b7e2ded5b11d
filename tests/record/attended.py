"""Recorded commands whose signals and whose terminal are watched; no wait is without end."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time

from running import CLEAN

DEADLINE_S = 60


def wait_for(condition):
    """Wait until a condition holds, which it has to."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Reader:
    """What is written to a descriptor, as text."""

    def __init__(self, fd):
        self.fd = fd
        self.text = ""

    def until(self, pattern):
        """Read until what was read matches, and return the match; what it was in is read then."""
        end = time.monotonic() + DEADLINE_S
        while not (match := re.search(pattern, self.text)):
            assert self._more(end), f"{pattern} is not in {self.text!r}"
        self.text = self.text[match.end() :]
        return match

    def rest(self):
        """Read until whoever writes has closed it."""
        end = time.monotonic() + DEADLINE_S
        while self._more(end):
            pass
        text, self.text = self.text, ""
        return text

    def _more(self, end):
        ready, _, _ = select.select([self.fd], [], [], max(end - time.monotonic(), 0))
        assert ready, f"nothing comes after {self.text!r}"
        data = os.read(self.fd, 4096)
        self.text += data.decode()
        return bool(data)


class Told:
    """A recorded command that tells which signals it is sent, in a process group of its own."""

    def __init__(self, words, cwd):
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=cwd,
            env=CLEAN,
        )
        self._reader = Reader(self.process.stdout.fileno())
        self.command = int(self.next())

    def send(self, number):
        """Send a signal to ``okprof record`` alone."""
        self.process.send_signal(number)

    def send_all(self, number):
        """Send a signal to the whole group, and wait until ``okprof record`` is done with it."""
        before = self._children()
        os.killpg(self.process.pid, number)
        wait_for(lambda: len(self._children() - before) == 1 == len(before - self._children()))

    def next(self):
        """Return the name of the next signal that the command tells."""
        return self._reader.until(r"(\w+)\n")[1]

    def rest(self):
        """Return what the command tells until it ends."""
        told = self._reader.rest().split()
        self.process.wait(DEADLINE_S)
        return told

    def end(self):
        """End it, whatever it does."""
        for kill, pid in ((os.killpg, self.process.pid), (os.kill, self.command)):
            with contextlib.suppress(ProcessLookupError):
                kill(pid, signal.SIGKILL)
        self.process.communicate()

    def _children(self):
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return set(file.read().split())


class Terminal(Reader):
    """A terminal with a program on it that begins a session there."""

    def __init__(self, words, cwd):
        self.pid, fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(words[0], words, CLEAN)
        super().__init__(fd)

    def type(self, text):
        """Type a text."""
        os.write(self.fd, text.encode())

    def hang_up(self):
        """Close it."""
        os.close(self.fd)
        self.fd = None

    def end(self):
        """Close it, and end what is on it."""
        if self.fd is not None:
            self.hang_up()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
