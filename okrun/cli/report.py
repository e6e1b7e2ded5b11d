"""``okprof report``."""

from __future__ import annotations

import os
import stat

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okrun.cli import render
from okrun.report.codec import MAX_SIZE, decode
from okrun.report.merge import merge
from okrun.report.model import Report


def run(paths: list[str], *, as_json: bool) -> str:
    """
    Return what the reports at *paths*, files and directories of them, say together.

    Raises:
        FormatError: If a file is no report.
        Refusal: If a directory holds none.
        Unreadable: If the system does not give a file.

    Source: REP-3.
    """
    summary = merge([_read(file) for path in paths for file in _files(path)])
    return render.as_json(summary) if as_json else render.as_text(summary)


def _files(path: str) -> list[str]:
    try:
        names = sorted(os.listdir(path))
    except NotADirectoryError:
        return [path]
    except OSError as error:
        raise Unreadable("report", path, error) from None
    reports = [name for name in names if name.startswith("okprof-") and name.endswith(".json")]
    if not reports:
        raise Refusal("REP-3", f"{path}: no okprof-*.json in this directory")
    return [os.path.join(path, name) for name in reports]


def _read(path: str) -> Report:
    try:
        # Without O_NONBLOCK the open of a FIFO waits for somebody to write to it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refusal("REP-3", f"{path}: not a regular file")
            data = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise Unreadable("report", path, error) from None
    if len(data) > MAX_SIZE:
        raise FormatError("REP-1", f"{path}: longer than any report", limit=MAX_SIZE)
    try:
        return decode(data)
    except OkError as error:
        raise Refusal("", f"{path}: {error}") from None
