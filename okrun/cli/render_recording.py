"""What is said at the end of a recorded command."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from okld.base.errors import printable
from okrun.cli.render_head import some
from okrun.report.figures import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from okrun.recorded import Recording
    from okrun.report.model import Head, Report

NOTHING = (
    "no report: no image was measured (only those are that okrun starts, in this environment and"
    " without --prof)"
)

NAMED_ONE_BY_ONE = 3
"""Reports that are named one by one where the directory holds those of other runs."""


def as_lines(recording: Recording) -> list[str]:
    """
    Return what there is to say, at least one line.

    Source: REC-8 to REC-11.
    """
    if has_nothing(recording):
        return [NOTHING]
    lines = [_reports(recording)] if recording.reports else []
    for label, each in _kinds(recording):
        if each:
            lines.append(f"{label}: {printable(', '.join(some(each)))}")
    if recording.lost:
        where = printable(recording.directory)
        lines.append(f"{where}: {recording.lost}: reports may be missing")
    return lines


def has_nothing(recording: Recording) -> bool:
    """Say whether there is no trace of any image, nor a reason why there might be none."""
    return not (recording.reports or recording.unfinished or recording.broken or recording.lost)


def word(text: str) -> str:
    """Return a word as a shell takes it, on one line."""
    from shlex import quote

    if text.isprintable():
        return quote(text)
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{printable(escaped)}'"


def path_word(path: str) -> str:
    """Return a path as a shell takes it, and as no command takes it for an option."""
    return word(f"./{path}" if path.startswith("-") else path)


def _reports(recording: Recording) -> str:
    reports = recording.reports
    paths = [os.path.join(recording.directory, f"okprof-{each.id}.json") for each in reports]
    images: dict[str, int] = {}
    for report in reports:
        images[report.image.path] = images.get(report.image.path, 0) + 1
    names = (f"{path} {count:,}" if count > 1 else path for path, count in images.items())
    where = paths[0] if len(paths) == 1 and not recording.others else recording.directory
    what = f"{many(len(reports), 'report')} ({', '.join(some(names))}) in {where}"
    if recording.others and len(paths) <= NAMED_ONE_BY_ONE:
        how = " ".join(map(path_word, paths))
    else:
        how = path_word(recording.directory)
    note = f" (which has {recording.others:,} of other runs)" if recording.others else ""
    return f"{printable(what)}{note}; to read: okprof report {how}"


def _kinds(recording: Recording) -> Iterator[tuple[str, list[str]]]:
    """Yield what there is besides, each kind with what it is said of."""
    reports, unfinished = recording.reports, recording.unfinished
    gone = [f"{_process(each)} {each.path}" for each in unfinished if not each.running]
    running = [_process(each) for each in unfinished if each.running]
    early = [_early(each, each.ended.signal) for each in reports if each.ended.signal]
    files = [each.heap.file for each in reports if each.heap and each.heap.file]
    maps = [f"/tmp/perf-{each.pid}.map" for each in reports if "perfmap" in each.what]
    yield "ended early", early
    yield "killed, or could not write its report", gone
    yield "still running, its report is to come", running
    yield "a report was begun, and does not tell of what", list(recording.broken)
    yield "heap", _existing(os.path.join(recording.directory, file) for file in files)
    yield "perf map", _existing(maps)


def _existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.lexists(path)]


def _early(report: Report, number: int) -> str:
    known = number in set(signal.Signals)
    how = signal.Signals(number).name if known else f"signal {number}"
    return f"{report.image.path} (pid {report.pid}, {how})"


def _process(head: Head) -> str:
    return f"{head.image.path} (pid {head.pid})"
