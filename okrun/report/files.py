"""The reports in files and directories, and the runs that have left none (yet)."""

from __future__ import annotations

import fcntl
import gc
import os
import stat
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from attrs import asdict, frozen

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okrun.report.codec import MAX_HEAD, MAX_SIZE, decode, decode_head
from okrun.report.model import Head, Report

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

RECORDED = "okprof-[0-9]*-[0-9]*-[0-9]*"
"""What ``okprof record`` calls the folder of a run that it was given none for."""

# Without O_NONBLOCK the open of a FIFO waits for somebody to write to it.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@frozen(kw_only=True)
class Unfinished(Head):
    """
    A report that was begun and not ended; the first attributes are those of `Head`.

    Attributes:
        path: Of its file.
        running: Whether the run goes on; one that does not ended and left no report.
    """

    path: str
    running: bool


@frozen(kw_only=True)
class Found:
    """
    What there is at some paths.

    Attributes:
        reports: Each once, in the order of the paths; of a directory, in the order of their start.
        unfinished: What was begun and not ended, likewise.
        headless: Paths of what was begun and has no head that can be read: it is about to begin,
            or the system has lost it.
        empty: The directories among the paths that hold no report.
    """

    reports: tuple[Report, ...]
    unfinished: tuple[Unfinished, ...]
    headless: tuple[str, ...]
    empty: tuple[str, ...]


def find(paths: Iterable[str]) -> Found:
    """
    Read the reports at *paths*: files, and directories for all of theirs that lie in them.

    Raises:
        FormatError: If a file is longer than any report.
        Refusal: If a file is no report of schema 2, or two that differ have one id.
        Unreadable: If the system does not give a file.

    Source: REP-3, RPT-1 to RPT-3.
    """
    search = _Search()
    # Of a thousand reports that is a quarter of the time: a million objects, and no cycle in them.
    collects = gc.isenabled()
    gc.disable()
    try:
        for path in paths:
            search.at(path)
    finally:
        if collects:
            gc.enable()
    return Found(
        reports=tuple(search.reports.values()),
        unfinished=tuple(search.unfinished.values()),
        headless=tuple(dict.fromkeys(search.headless)),
        empty=tuple(search.empty),
    )


def folders(path: str) -> tuple[str, ...]:
    """
    Return the folders that ``okprof record`` has made in *path*, in order of their time.

    Source: REC-2.
    """
    try:
        with os.scandir(path) as entries:
            names = [
                each.name for each in entries if fnmatch(each.name, RECORDED) and each.is_dir()
            ]
    except OSError:
        return ()
    return tuple(os.path.join(path, name) for name in sorted(names))


class _Search:
    def __init__(self) -> None:
        self.reports: dict[str, Report] = {}
        self.unfinished: dict[str, Unfinished] = {}
        self.headless: list[str] = []
        self.empty: list[str] = []

    def at(self, path: str) -> None:
        try:
            names = sorted(os.listdir(path))
        except NotADirectoryError:
            self._file(path)
            return
        except OSError as error:
            raise Unreadable("report", path, error) from None
        before = len(self.reports)
        reports = [name for name in names if is_report(name)]
        for name in reports:
            self._report(os.path.join(path, name))
        for name in names:
            if is_part(name) and finished_name(name) not in reports:
                self._part(path, name)
        if not reports and len(self.reports) == before:
            self.empty.append(path)

    def _file(self, path: str) -> None:
        folder, name = os.path.split(path)
        if is_part(name):
            self._part(folder, name)
        else:
            self._report(path)

    def _report(self, path: str) -> None:
        report = _read(path)
        if self.reports.setdefault(report.id, report) != report:
            raise Refusal("RPT-2", f"{path}: another report has its id, {report.id}")

    def _part(self, folder: str, name: str) -> None:
        """Look at what was begun; where it ends meanwhile, read it as what it has become."""
        path, finished = (os.path.join(folder, each) for each in (name, finished_name(name)))
        line, running = b"", False
        try:
            with _opened(path, os.O_NOFOLLOW) as file:
                running = _is_locked(file.fileno())
                line = file.readline(MAX_HEAD)
        except PermissionError:
            pass
        except (OSError, _NotRegular):  # gone, or nothing of ours
            if os.path.lexists(finished):
                self._report(finished)
            return
        if not running and os.path.lexists(finished):
            self._report(finished)
            return
        try:
            head = decode_head(line)
        except FormatError:
            self.headless.append(path)
            return
        self.unfinished[head.id] = Unfinished(
            path=path, running=running, **asdict(head, recurse=False)
        )


class _NotRegular(Exception):
    pass


def _opened(path: str, flags: int = 0) -> BinaryIO:
    fd = os.open(path, _READ | flags)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _NotRegular
    return open(fd, "rb")


def is_report(name: str) -> bool:
    """Say whether a file of this name is a report that is ended."""
    return name.startswith("okprof-") and name.endswith(".json")


def is_part(name: str) -> bool:
    """Say whether a file of this name is a report that was begun."""
    return name.startswith(".okprof-") and name.endswith(".part")


def finished_name(part: str) -> str:
    """Return the name that a report has once it is ended."""
    return part.removeprefix(".").removesuffix(".part") + ".json"


def _is_locked(fd: int) -> bool:
    """Say whether another process holds the lock of a file; it keeps it until it ends."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks tells nothing, and the process had none either
        return False
    return False


def _read(path: str) -> Report:
    try:
        with _opened(path) as file:
            data = file.read(MAX_SIZE + 1)
    except _NotRegular:
        raise Refusal("RPT-1", f"{path}: not a regular file") from None
    except OSError as error:
        raise Unreadable("report", path, error) from None
    if len(data) > MAX_SIZE:
        raise FormatError("REP-1", f"{path}: longer than any report", limit=MAX_SIZE)
    try:
        return decode(data)
    except OkError as error:
        raise Refusal("", f"{path}: {error}") from None
