"""``okprof record``: run a command, and measure the images that it starts."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os
from errno import ENOENT

from okld.base.errors import OkError, printable
from okrun.cli.say import complain, out
from okrun.forwarding import NotStarted, unblock
from okrun.measuring import Usage
from okrun.recording import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okrun.recorded import Recording

FAILED, NOT_EXECUTED, NO_COMMAND = 125, 126, 127
"""Statuses that are not the command's."""

HELP = """\
usage: okprof record [--what W] [-o DIR] [--] COMMAND [arguments...]

Run a command, and measure every image that okrun starts in it, whoever calls okrun. The streams,
the terminal, the environment and the status are the command's own, and it is sent the signals that
this process is sent. At its end a line on standard error says which reports there are.

  --what WHAT[,WHAT...]
               calls (default), count, counters, perfmap, heap; okrun --help says what they are
  -o DIR       where the reports go, made where it is not there (default: a new directory
               okprof-DATE-TIME-PID here)
  --help

One image: okprof record -- okrun hello.ok

status: the command's; a signal that ends it ends this, too; 125 nothing was run: usage, or DIR
cannot be written; 126 the command cannot be executed; 127 there is no such command
"""


def main(words: list[str]) -> int:
    """
    Run the command with the words after ``record`` and return its status.

    Source: REC-1 to REC-12.
    """
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
    returncode, lines = _run(words)
    unblock(mask)  # before what may take for ever, where nobody reads it
    for line in lines:
        complain("okprof", line)
    return _end_as(returncode)


def _run(words: list[str]) -> tuple[int, list[str]]:
    """Return the command's status, or -n when signal n ended it, and what there is to say."""
    command: list[str] = []
    try:
        what, directory, command = _parse(words)
        if what == "--help":
            out(HELP)
            return 0, []
        recording = record(command, what=what, directory=directory, in_place=True)
        return recording.returncode, _lines(recording, command)
    except NotStarted as error:
        status = NO_COMMAND if error.errno == ENOENT else NOT_EXECUTED
        return status, [_not_started(error, command)]
    except OkError as error:
        return FAILED, [str(error)]
    except OSError as error:
        return FAILED, [printable(error.strerror or str(error))]


def _parse(words: list[str]) -> tuple[str, str | None, list[str]]:
    """Return what to measure, where the reports go, and the command."""
    what, directory = "calls", None
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        if word in ("-h", "--help"):
            return "--help", None, []
        if word.startswith("--"):
            option, equals, value = word.partition("=")
        else:
            option, equals, value = word[:2], word[2:], word[2:].removeprefix("=")
        if option not in ("--what", "-o"):
            raise Usage(f"unknown option {word}; a command that is called so stands after --")
        if not equals:
            value = words[at] if at < len(words) else ""
            at += 1
        if not value:
            raise Usage(f"{option} takes a value")
        if option == "-o":
            directory = value
        else:
            what = value
    if at >= len(words):
        raise Usage("no command given (okprof record --help says more)")
    return what, directory, words[at:]


def _not_started(error: NotStarted, command: list[str]) -> str:
    what = str(error)
    if error.errno == ENOENT and "/" not in error.path:
        what = f"no such command: {printable(error.path)}" if error.path else what
    elif error.errno == ENOENT and os.path.exists(error.path):
        what = f"{printable(error.path)}: the interpreter that it names is missing"
    from okrun.cli.advice import advice

    return what + advice(error.path, command[1:])


def _lines(recording: Recording, command: list[str]) -> list[str]:
    from okrun.cli.render_recording import as_lines, has_nothing

    lines = as_lines(recording)
    if has_nothing(recording):
        from okrun.cli.advice import advice

        lines[0] += advice(command[0], command[1:])
    return lines


def _end_as(returncode: int) -> int:
    """Return the status of a command, or end by the signal that ended it, without a core."""
    if returncode >= 0:
        return returncode
    from ctypes import CDLL

    pr_set_dumpable = 4
    CDLL(None).prctl(pr_set_dumpable, 0)  # a limit of 0 is none where a program takes the cores
    try:
        _signal.signal(-returncode, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (-returncode,))
    except (OSError, ValueError):  # one that nobody can block, or that the C library keeps
        pass
    os.kill(os.getpid(), -returncode)
    return 128 - returncode  # the first process of a namespace does not die so
