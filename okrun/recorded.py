"""What a recorded command has left: its end, and the reports of its images."""

from __future__ import annotations

import os

from attrs import frozen

from okld.base.errors import OkError
from okrun.report.codec import MAX_HEAD, decode_head
from okrun.report.files import Unfinished, find, finished_name, is_part, is_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okrun.report.model import Head, Report


@frozen(kw_only=True)
class Recording:
    """
    A recorded command.

    Attributes:
        run: The id of this run: what `run` is in its reports.
        directory: Where they are, as it was given or, for a new one, made.
        returncode: The command's status, or -n when signal n ended it.
        reports: Of the images that have ended, in order of their start.
        unfinished: Of those that run on, and of those that left no report, likewise.
        broken: Paths of what was begun in this time, and tells not by whom, or cannot be read.
        others: How many reports in the directory are not of this run.
        lost: Why the directory can no longer be written, so that reports may be missing, or "".
    """

    run: str
    directory: str
    returncode: int
    reports: tuple[Report, ...]
    unfinished: tuple[Unfinished, ...]
    broken: tuple[str, ...]
    others: int
    lost: str


def recorded(directory: str, run: str, begun_ns: int, status: int, *, lost: str) -> Recording:
    """
    Find the reports of a run.

    Args:
        directory: Where they are.
        run: Its id.
        begun_ns: When it began, by the clock of the directory's files: nanoseconds since 1970.
        status: What `os.waitpid` said of the command.
        lost: As in `Recording`.
    """
    paths, broken, others = _of_run(directory, run, begun_ns)
    reports: dict[str, Report] = {}
    unfinished: dict[str, Unfinished] = {}
    for path in paths:
        try:
            found = find([path])
        except (OkError, OSError):
            broken.append(path)
            continue
        reports |= {report.id: report for report in found.reports}
        unfinished |= {each.id: each for each in found.unfinished}
    return Recording(
        run=run,
        directory=directory,
        returncode=os.waitstatus_to_exitcode(status),
        reports=tuple(sorted(reports.values(), key=_order)),
        unfinished=tuple(sorted(unfinished.values(), key=_order)),
        broken=tuple(broken),
        others=others,
        lost=lost,
    )


def _order(report: Report | Head) -> tuple[int, str]:
    return report.started_ns, report.id


def _of_run(directory: str, run: str, begun_ns: int) -> tuple[list[str], list[str], int]:
    """
    Return the paths of what is of this run, of what may be, and how many reports are not.

    Of a directory that holds the reports of other runs, only their first lines are read.
    """
    ours, broken, others = [], [], 0
    try:
        names = sorted(os.listdir(directory))
    except OSError:  # then `lost` says why
        names = []
    for name in names:
        if not is_part(name) and not is_report(name):
            continue
        path = os.path.join(directory, name)
        head: Head | None = None
        try:
            head = _head(path)
        except FileNotFoundError:  # it has got its other name since
            path = os.path.join(directory, finished_name(name))
            head = _head_or_none(path)
        except (OkError, OSError):
            if is_part(name) and _changed_ns(path) >= begun_ns:
                broken.append(path)
        if head and head.run == run:
            ours.append(path)
        elif head:
            others += is_report(name)
    return ours, broken, others


def _head(path: str) -> Head:
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return decode_head(file.readline(MAX_HEAD))


def _head_or_none(path: str) -> Head | None:
    try:
        return _head(path)
    except (OkError, OSError):
        return None


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0
