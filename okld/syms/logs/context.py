"""What a log has told so far: what its later lines are read with."""

from __future__ import annotations

from bisect import bisect_right

from okld.syms.logs.query import FILE, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from okld.syms.logs.site import Site

    class Format(Protocol):
        """One kind of log."""

        def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
            """
            Return what a line asks, nothing if it only tells; None: it is of another kind.

            *line* is without its end. What it tells is put into *context*.
            """

    class Hold(Protocol):
        """What frames that have come are read with, and that is still to come."""

        def feed(self, line: bytes) -> bool:
            """Take a line of the log, from the first frame's on; say whether the wait is over."""

        def settle(self, site: Site) -> None:
            """Complete the query of a site of a line that was held back."""


MAX_MAPPINGS = 1 << 16  # of code, that are remembered; a process has some dozens
MAX_PATHS = 1 << 24  # bytes of their files' names, each counted once


class Maps:
    """Which files were mapped where, by process; of a log that names too many, none."""

    def __init__(self) -> None:
        """Know of none."""
        self._starts: dict[int, list[int]] = {}
        self._mappings: dict[int, list[tuple[int, int, str]]] = {}
        self._paths: dict[str, str] = {}
        self._count = self._size = 0

    def add(self, pid: int, start: int, end: int, offset: int, path: str) -> None:
        """Say that [*start*, *end*) of process *pid* is the file's bytes from *offset* on."""
        if path not in self._paths:
            self._size += len(path)
            self._paths[path] = path
        if self._count >= MAX_MAPPINGS or self._size > MAX_PATHS:
            self._starts.clear()
            self._mappings.clear()
            self._paths = {path: path}
            self._count, self._size = 0, len(path)
        starts = self._starts.setdefault(pid, [])
        mappings = self._mappings.setdefault(pid, [])
        first = bisect_right(starts, start)
        if first and mappings[first - 1][0] > start:
            first -= 1
        last = first
        while last < len(starts) and starts[last] < end:
            last += 1
        self._count += 1 - (last - first)
        starts[first:last] = [start]
        mappings[first:last] = [(end, offset, self._paths[path])]

    def forget(self, pid: int) -> None:
        """Forget the maps of process *pid*."""
        self._count -= len(self._starts.pop(pid, ()))
        self._mappings.pop(pid, None)

    def find(self, pid: int, address: int) -> tuple[str, int] | None:
        """Return the file that is mapped at *address*, and the offset in it; None: not known."""
        starts = self._starts.get(pid, ())
        index = bisect_right(starts, address) - 1
        if index < 0:
            return None
        end, offset, path = self._mappings[pid][index]
        return (path, address - starts[index] + offset) if address < end else None


class Context:
    """
    The state of one log.

    Attributes:
        maps: The maps of processes; number 0: of the one whose maps are listed without a number.
        release: The release of the kernel that the log is of, or "".
        kernel_build_id: Its build id, or "".
        kernel_offset: Bytes from where the kernel is linked to where it runs; None: not told.
        after_signal: Whether the last frame was a signal's, so that the next address is exact.
        holds: What is waited for: no line is written while there is one.
        previous: The line before the one that is read, without its end; b"": not known.
    """

    def __init__(self) -> None:
        self.maps = Maps()
        self.release = ""
        self.kernel_build_id = ""
        self.kernel_offset: int | None = None
        self.after_signal = False
        self.holds: list[Hold] = []
        self.previous = b""
        self.last: Format | None = None
        self.last_end = self.start = -1

    def wait(self, hold: Hold) -> None:
        """Hold back the line that is read, and all after it; one hold of a kind is enough."""
        if all(type(other) is not type(hold) for other in self.holds):
            self.holds.append(hold)

    def follows(self, format: Format) -> bool:
        """Say whether the line just before the one that is read was of *format*."""
        return self.last is format and self.last_end == self.start

    def place(self, query: Query, pid: int = 0) -> Query:
        """Return *query*, a run-time address, as an offset in the file that is mapped there."""
        found = self.maps.find(pid, query.address)
        if found is None:
            return query
        return Query(found[0], found[1], space=FILE, is_return=query.is_return)
