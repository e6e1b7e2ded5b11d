"""The whole index of a file, on every processor. Source: IDX-11."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from time import time_ns

from okld.syms.index.collect import collect
from okld.syms.index.contents import Contents, add_names, add_unit, windows
from okld.syms.index.format import Unusable
from okld.syms.index.owners import Owners
from okld.syms.index.pack import END
from okld.syms.index.writer import Writer
from okld.syms.options import processors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okld.image.open import OpenFile
    from okld.syms.elf_sources import ElfSources

    Job = tuple[str, int, int]
    """The layer; the number of the window or unit; about how much work it is."""

FLUSH = 1 << 22  # bytes of blocks that are held before a pack is written: what is lost at a kill
PER_PLACE = 60  # about as many bytes of debug information take the time of one place of a name


class Failed(Exception):
    """The index cannot be built; the text says why."""


def build(
    file: OpenFile,
    sources: ElfSources,
    progress: Callable[[int, int], None],
    processes: int = 0,
) -> int:
    """
    Build the whole index of *file*, and return its size in bytes.

    Args:
        file: The file that is asked about, open.
        sources: Where its answers come from.
        progress: Is called with how much of how much work has been done.
        processes: How many are to work; 0: one for each processor that this one may use.

    Raises:
        Failed: If there can be none, or it cannot be written.
        OkError: If the sources cannot be read.
    """
    try:
        writer = Writer(file, sources)
    except (Unusable, OSError) as error:
        raise Failed(_said(error)) from None
    try:
        writer.stay()
        count = processes or processors()
        _Work(writer, sources).share(count, progress)
        for layer in ("names", "lines"):
            writer.gather(layer, all_packs=True)
        collect(writer.store, time_ns(), spared=writer.origin.name)
        return writer.size()
    except (Unusable, OSError, OverflowError) as error:
        raise Failed(_said(error)) from None
    finally:
        writer.close()


class _Work:
    """All that goes into an index, as jobs."""

    def __init__(self, writer: Writer, sources: ElfSources) -> None:
        self._writer = writer
        self._sources = sources
        self._windows = windows(sources)
        dwarf = sources.debug()
        self._owners = None if dwarf is None else Owners(dwarf)
        self._jobs: list[Job] = [
            ("names", number, PER_PLACE * len(window))
            for number, window in enumerate(self._windows)
        ]
        if self._owners is not None:
            heads = enumerate(self._owners.heads)
            self._jobs += [("lines", number, head.size) for number, head in heads]
        self._total = sum(size for _, _, size in self._jobs)

    def share(self, count: int, progress: Callable[[int, int], None]) -> None:
        """Do all jobs in *count* processes."""
        self._add_nothing()
        told, tell = os.pipe()
        children = []
        try:
            for jobs in _shares(self._jobs, count):
                child = os.fork()
                if not child:
                    os.close(told)
                    self._work(jobs, tell)
                children.append(child)
            os.close(tell)
            done = 0
            for size in _numbers(told):
                done += size
                progress(done, self._total)
        except BaseException:
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            raise
        finally:
            os.close(told)
            states = [os.waitpid(child, 0)[1] for child in children]
        if any(states):
            raise Unusable("a process that built a part of it failed")

    def _work(self, jobs: list[Job], tell: int) -> None:
        """Do *jobs*, and end this process."""
        status = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self._do(jobs, tell)
            status = 0
        finally:
            os._exit(status)

    def _do(self, jobs: list[Job], tell: int) -> None:
        contents = {"names": Contents(), "lines": Contents()}
        for layer, number, size in jobs:
            into = contents[layer]
            if layer == "names":
                add_names(into, self._sources, self._windows[number])
            elif self._owners is not None:
                add_unit(into, self._sources, self._owners, number)
            os.write(tell, size.to_bytes(8, "little"))
            if into.size > FLUSH:
                self._writer.add(layer, into)
                contents[layer] = Contents()
        for layer, into in contents.items():
            if into.ranges:
                self._writer.add(layer, into)

    def _add_nothing(self) -> None:
        """Add that there are no lines where no unit is."""
        contents = Contents()
        contents.add_nothing(self._owners.nobodys() if self._owners else [(0, END)])
        self._writer.add("lines", contents)


def _shares(jobs: list[Job], count: int) -> list[list[Job]]:
    """Return the jobs in *count* lists of about equal work, the largest first."""
    shares: list[list[Job]] = [[] for _ in range(count)]
    loads = [0] * count
    for job in sorted(jobs, key=lambda job: -job[2]):
        least = loads.index(min(loads))
        shares[least].append(job)
        loads[least] += job[2]
    return [share for share in shares if share]


def _numbers(fd: int) -> Iterator[int]:
    """Give the numbers that are written into a pipe, until nobody can write to it any more."""
    rest = b""
    while data := os.read(fd, 1 << 16):
        rest += data
        whole = len(rest) // 8 * 8
        for at in range(0, whole, 8):
            yield int.from_bytes(rest[at : at + 8], "little")
        rest = rest[whole:]


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or "there are numbers that no file has"
