"""
A command as a child of this process that is sent what this process is sent.

The command stays in this process's group: it is in the pipeline and in the job of whoever started
this process, and the terminal's signals reach it by themselves. All signals are blocked here while
it runs and taken one by one, so that none interrupts anything, and no disposition changes that the
command is to inherit.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os
from errno import EACCES, EINVAL, ENOENT, ENOEXEC

from okld.base.errors import OkError
from okrun.inherited import default_signals, undo_locale_coercion
from okrun.witness import Witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

SI_KERNEL = 0x80
"""The `si_code` of a signal that no process sent."""

OF_TERMINAL = (
    _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU,
    _signal.SIGWINCH,
)  # fmt: skip
"""What the kernel sends to a whole group where it sends it at all."""

STOPS = (_signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)

LOOK_S = 0.5
"""Where this process has other threads one of them may be told, in place of this, of an end."""


class NotStarted(OkError):
    """
    The system does not execute the command.

    Attributes:
        path: Of the file that it refused, or the command's name where it found none.
        errno: Its error number.
    """

    def __init__(self, path: str, errno: int) -> None:
        super().__init__(f"{path or 'a command without a name'}: {os.strerror(errno)}")
        self.path = path
        self.errno = errno


def run(words: Sequence[str], settings: Mapping[str, str], *, in_place: bool = False) -> int:
    """
    Run a command to its end and return its status, as `os.waitpid` does.

    Args:
        words: Its name, looked for as `execvp` looks for it, and its arguments.
        settings: Variables of its environment, which is this process's otherwise.
        in_place: This process has nothing else to do. The command gets the environment byte for
            byte as this process did, and whatever this process inherited, standard error aside, is
            let go, so that what the command closes is closed. All signals stay blocked, until
            `unblock`: what comes now is to hide nothing that is to be said of the command.

    Raises:
        NotStarted: If the system does not execute it.
        OSError: If there can be no further process.

    Source: REC-3 to REC-7.
    """
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    unheard = _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN
    if unheard:  # the system would forget a child's status
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    try:
        return _run(words, settings, mask, unheard, in_place)
    finally:
        if unheard:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        if not in_place:
            unblock(mask)


def unblock(mask: set[int]) -> None:
    """Forget the signals that came, the command's end's among them; let all but *mask* come."""
    while _signal.sigtimedwait(_signal.valid_signals(), 0):
        pass
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


def _run(
    words: Sequence[str], settings: Mapping[str, str], mask: set[int], unheard: bool, in_place: bool
) -> int:
    reader, writer = _pipe()
    try:
        try:
            child = os.fork()
            if child == 0:
                _become(words, settings, mask, unheard, in_place, writer)
        finally:
            os.close(writer)
        if in_place:
            _let_go()
        status = _wait(child)
        failure = os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    if failure:
        errno, _, path = failure.partition(b" ")
        raise NotStarted(os.fsdecode(path), int(errno))
    return status


def _pipe() -> tuple[int, int]:
    """Return a pipe above the numbers of the standard streams, which may be closed."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    low = os.pipe()
    reader, writer = (fcntl(fd, F_DUPFD_CLOEXEC, 3) for fd in low)
    for fd in low:
        os.close(fd)
    return reader, writer


def _let_go() -> None:
    """Close what is inherited, all but standard error; what Python opens is never inheritable."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        names = os.listdir("/proc/self/fd")
    except OSError:
        return
    for fd in map(int, names):
        try:
            if fd > 2 and os.get_inheritable(fd):
                os.close(fd)
        except OSError:  # the one that the list was read from
            continue


def _wait(child: int) -> int:
    witness = Witness()
    try:
        while True:
            came = _signal.sigtimedwait(_signal.valid_signals(), LOOK_S)
            if came and came.si_signo != _signal.SIGCHLD:
                _forward(came.si_signo, came.si_code, child, witness)
            pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            if pid and not os.WIFSTOPPED(status):
                return status
            if pid and (os.WSTOPSIG(status) != _signal.SIGSTOP or _in_foreground(child)):
                os.kill(os.getpid(), _signal.SIGSTOP)
    finally:
        witness.end()


def _forward(number: int, code: int, child: int, witness: Witness) -> None:
    """Send the command what was sent to this process, unless the command was sent it as well."""
    reached = witness.has(number) or (code == SI_KERNEL and number in OF_TERMINAL)
    if (reached and os.getpgid(child) == os.getpgrp()) or _is_taken_back(number):
        return
    try:
        os.kill(child, number)
    except PermissionError:  # it is another user's by now
        return


def _is_taken_back(number: int) -> bool:
    """
    Say whether this process is to stop, having been continued, or the other way round.

    Of the two the last takes the other back wherever it is pending, so that the witness no longer
    has it; and it would undo the last if it came to the command now.
    """
    pending = _signal.sigpending()
    if number == _signal.SIGCONT:
        return not pending.isdisjoint(STOPS)
    return number in STOPS and _signal.SIGCONT in pending


def _in_foreground(child: int) -> bool:
    """
    Say whether a shell waits at a terminal for this process, and is to see it stop.

    Elsewhere, whoever stopped the command alone will continue the command alone, and nobody this.
    """
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) in (os.getpgrp(), os.getpgid(child))
    except OSError:
        return False
    finally:
        os.close(fd)


def _become(
    words: Sequence[str],
    settings: Mapping[str, str],
    mask: set[int],
    unheard: bool,
    in_place: bool,
    writer: int,
) -> NoReturn:
    """Execute the command in this process, or write to *writer* why not, and end."""
    try:
        if in_place:
            undo_locale_coercion()
        for name, value in settings.items():
            os.unsetenv(name)  # each of them: it may be there more than once
            os.putenv(name, value)
        for number in _signal.valid_signals():
            if _signal.getsignal(number) not in (_signal.SIG_DFL, _signal.SIG_IGN, None):
                _signal.signal(number, _signal.SIG_DFL)
        default_signals()
        if unheard:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        _execute(words)
    except OSError as error:
        os.write(writer, b"%d %s" % (error.errno or EINVAL, os.fsencode(error.filename or "")))
    except ValueError:  # a zero byte
        os.write(writer, b"%d %s" % (EINVAL, os.fsencode(words[0])))
    finally:
        os._exit(127)


def _execute(words: Sequence[str]) -> NoReturn:
    name = words[0]
    failure = OSError(ENOENT, os.strerror(ENOENT), name)
    paths = [name]
    if "/" not in name:
        folders = os.environ.get("PATH", os.defpath).split(":") if name else []
        paths = [os.path.join(folder or ".", name) for folder in folders]
    for path in paths:
        try:
            _execute_file(path, words)
        except OSError as error:
            error.filename = path
            if "/" in name or error.errno == EACCES:
                failure = error
            elif not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                raise
    raise failure


def _execute_file(path: str, words: Sequence[str]) -> None:
    """Execute a file; one of text that says no interpreter is for the shell, as POSIX has it."""
    try:
        os.execv(path, list(words))
    except OSError as error:
        if error.errno != ENOEXEC:
            raise
        with open(path, "rb", 0) as file:
            if b"\0" in file.read(80).partition(b"\n")[0]:
                raise
        os.execv("/bin/sh", ["sh", path, *words[1:]])
