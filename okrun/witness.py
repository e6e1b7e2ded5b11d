"""Whether a signal was sent to this process alone, or to the whole group of processes it is in."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class Witness:
    """
    A process in this one's group that takes no signal: what is sent to the group it has pending.

    Nothing that comes with a signal tells one sent to a group from one sent to a process. It is
    another program than this one, so that what ends programs by their name does not mistake it
    for this. Where it cannot be started, nothing is known of any signal.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._pid, self._writer = _begin()

    def has(self, number: int) -> bool:
        """Say whether signal *number* was sent to the group since this was asked last."""
        self._seen |= self._taken()
        bit = 1 << number - 1
        seen = bool(self._seen & bit)
        self._seen &= ~bit
        return seen

    def end(self) -> None:
        """End the process; it ends by itself, too, once this one is no more."""
        _end(self._pid, self._writer)

    def _taken(self) -> int:
        """Return the signals that are pending, by bit, and have a process that has none."""
        pending = _pending(self._pid)
        while pending:
            pid, writer = _begin()
            pending = _pending(self._pid)
            if not _pending(pid):
                self.end()
                self._pid, self._writer = pid, writer
                break
            _end(pid, writer)  # what came meanwhile is pending in both
        return pending


def _begin() -> tuple[int, int]:
    """Return the number of the process, or 0, and what it reads from until that is closed."""
    try:
        reader, writer = os.pipe()
    except OSError:
        return 0, -1
    try:
        pid = os.fork()  # os.posix_spawn would wait here while the new process is stopped
        if pid == 0:
            _become_cat(reader)
    except OSError:
        os.close(writer)
        return 0, -1
    finally:
        os.close(reader)
    return pid, writer


def _become_cat(reader: int) -> NoReturn:
    """Execute a program that takes no signal, for all are blocked here, and reads *reader*."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        for fd, stream in ((reader, 0), (null, 1), (null, 2)):
            os.dup2(fd, stream)
            os.set_inheritable(stream, True)  # where it was the stream's already
        for folder in os.environ.get("PATH", os.defpath).split(":"):
            try:
                os.execve(os.path.join(folder, "cat"), ["cat"], {})
            except OSError:
                continue
    finally:
        os._exit(127)


def _end(pid: int, writer: int) -> None:
    if pid:
        os.close(writer)
        os.kill(pid, _signal.SIGKILL)
        os.waitpid(pid, 0)


def _pending(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return next(int(line[7:], 16) for line in file if line.startswith(b"ShdPnd:"))
    except (OSError, StopIteration):
        return 0
