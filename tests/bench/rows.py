"""One line of the table, and how two commands are timed against each other."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Row:
    """
    One comparison.

    Attributes:
        what: What was measured.
        ours: Our times.
        peer: The peer's times, in the same unit.
        unit: The unit of both.
        against: Who the peer is.
        budget: The most that the ratio, or with *added* the difference, of the minima may be.
        added: Whether the budget bounds the difference.
    """

    what: str
    ours: Sequence[float]
    peer: Sequence[float] = field(default=())
    unit: str = "ms"
    against: str = ""
    budget: float
    added: bool = False

    @property
    def value(self) -> float:
        ours = min(self.ours)
        if not self.peer:
            return ours
        return ours - min(self.peer) if self.added else ours / min(self.peer)

    @property
    def over(self) -> bool:
        return self.value > self.budget

    def text(self) -> str:
        parts = [f"{self.what:44} {_two(self.ours)} {self.unit}"]
        if self.peer:
            parts.append(f"{self.against} {_two(self.peer)} {self.unit}")
        kind = "added" if self.added else "ratio" if self.peer else "at most"
        verdict = "OVER" if self.over else "ok"
        return "  ".join([*parts, f"{kind} {self.value:.3f} (budget {self.budget:g})  {verdict}"])


def _two(times: Sequence[float]) -> str:
    return f"{min(times):.3f}/{statistics.median(times):.3f}"


def in_turn(commands: Sequence[Callable[[], None]], times: int) -> list[list[float]]:
    """Call each in turn, *times* times over; return the milliseconds that each call took."""
    taken: list[list[float]] = [[] for _ in commands]
    for _ in range(times):
        for command, into in zip(commands, taken, strict=True):
            begin = time.perf_counter_ns()
            command()
            into.append((time.perf_counter_ns() - begin) / 1e6)
    return taken


def spawner(command: Sequence[str], fds: Sequence[int] = (), status: int = 0) -> Callable[[], None]:
    """
    Return a call that runs *command* to its end, with no output, and asserts its status.

    *fds* are inherited under their own numbers, from their beginning.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (null, *fds):
        os.set_inheritable(fd, True)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def call() -> None:
        for fd in fds:
            os.lseek(fd, 0, os.SEEK_SET)
        child = os.posix_spawn(command[0], command, environment, file_actions=actions)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status

    return call
