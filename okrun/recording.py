"""A command, and the reports of the images that it starts."""

from __future__ import annotations

import os
import time
from errno import EEXIST, EINVAL, EISDIR, ENOTDIR, EOPNOTSUPP

from okld.base.errors import Unreadable
from okrun.forwarding import run
from okrun.measuring import Usage, measuring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.recorded import Recording

SIZE_OF_PROBE = 16 << 10
"""In bytes; about what a report takes."""


def record(
    command: Sequence[str],
    *,
    what: str = "calls",
    directory: str | None = None,
    in_place: bool = False,
) -> Recording:
    """
    Run a command to its end, and measure the images that it starts by ``okrun``.

    Its streams, its terminal and its environment are this process's, but for OKRUN_PROF and
    OKRUN_PROF_RUN. While it runs, signals that this process is sent are passed on to it, and this
    process stops when it stops.

    Args:
        command: Its name, looked for along PATH, and its arguments.
        what: What to measure: ``WHAT[,WHAT...]``, as for ``okrun --prof``.
        directory: Where the reports go; made where it is not there. None for a new one in the
            working directory, which is called for the time and the process.
        in_place: This process has nothing else to do, as `okrun.forwarding.run` has it.

    Raises:
        Usage: If there is no command, or *what* is nothing that can be measured.
        Unreadable: If the directory cannot be had, or nothing can be written in it.
        NotStarted: If the command cannot be executed.
        OSError: If the system has no process for it.

    Source: REC-1, REC-2.
    """
    if not command:
        raise Usage("no command to record")
    if not what or ":" in what:
        raise Usage(f"what to measure is WHAT[,WHAT...] (got '{what}')")
    measuring(what, "record")
    run_id = f"{time.time_ns():x}-{os.getpid()}-{os.urandom(8).hex()}"
    path = _new_directory() if directory is None else _directory(directory)
    settings = {
        "OKRUN_PROF": f"{what}:{_absolute(path)}",
        "OKRUN_PROF_RUN": run_id,
    }
    try:
        place, begun = _open(path)
        try:
            status = run(command, settings, in_place=in_place)
            lost = _lost(path, place)
        finally:
            os.close(place)
        from okrun.recorded import recorded  # attrs takes longer than all before the command

        return recorded(path, run_id, begun, status, lost=lost)
    finally:
        if directory is None:
            _remove_empty(path)


def _new_directory() -> str:
    name = time.strftime("okprof-%Y%m%d-%H%M%S") + f"-{os.getpid()}"
    path = name
    for number in range(2, 100):  # processes of other namespaces have the same numbers
        try:
            os.mkdir(path)
        except OSError as error:
            if error.errno != EEXIST:
                raise Unreadable("a directory for the reports", path, error) from None
            path = f"{name}-{number}"
        else:
            break
    return path


def _directory(path: str) -> str:
    try:
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error if isinstance(error, OSError) else OSError(EINVAL, str(error))
        if reason.errno == EEXIST:
            reason = OSError(ENOTDIR, os.strerror(ENOTDIR))
        raise Unreadable("the directory for the reports", path, reason) from None
    return path


def _absolute(path: str) -> str:
    """Return *path* for a process that works elsewhere; ".." stays, for it may follow a link."""
    try:
        return os.path.join(os.getcwd(), path)
    except OSError as error:
        if os.path.isabs(path):
            return path
        raise Unreadable("the directory for the reports", path, error) from None


def _open(path: str) -> tuple[int, int]:
    """
    Try to write in the directory.

    Return it open, so that none that takes its place has its number, and the time in nanoseconds
    by the clock that the times of its files are of.
    """
    try:
        place = _opened_above_streams(path)
        try:
            return place, _write_nothing(path)
        except OSError:
            os.close(place)
            raise
    except OSError as error:
        raise Unreadable("the directory for the reports", path, error) from None


def _opened_above_streams(path: str) -> int:
    """Open a directory, and not under the number of a standard stream that is closed."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return fcntl(fd, F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


def _write_nothing(path: str) -> int:
    """
    Write a file that is gone again; return when it was, in nanoseconds since 1970.

    Raises:
        OSError: If the system does not take it: a right is missing, the disk is full.
    """
    fd = _open_nothing(path)
    try:
        left = SIZE_OF_PROBE
        while left:
            left -= os.write(fd, bytes(left))
        return os.fstat(fd).st_ctime_ns
    finally:
        os.close(fd)


def _open_nothing(path: str) -> int:
    """Open a new file in a directory that has no name, or no longer has one."""
    flags = os.O_WRONLY | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_TMPFILE, 0o600)
    except OSError as error:
        if error.errno not in (EOPNOTSUPP, EISDIR, EINVAL):
            raise
    name = os.path.join(path, f".okprof-{os.urandom(8).hex()}.probe")
    fd = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(name)
    return fd


def _lost(path: str, place: int) -> str:
    """Return why reports may be missing, or "": images say on their standard error what failed."""
    try:
        if not os.path.samestat(os.stat(path), os.fstat(place)):
            return "something else took its place"
        _write_nothing(path)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _remove_empty(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:  # there is something in it
        return
