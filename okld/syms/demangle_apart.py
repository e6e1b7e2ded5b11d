"""Demangling the few names whose answer may be long, where that hurts nobody: in a process apart.

The process reads a name a line and answers with a line, empty for none. It has MAX_APART_SECONDS
for a name and MAX_APART bytes of memory; the system ends it at either, or at an overflow of its
stack. It is started when the first such name is met and ends with this process. Once it has failed,
it is not started again: such names stay as they are, and no file costs more than one wait.

Source: DEM-5, DEM-6.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from okld.base.limits import MAX_APART, MAX_APART_SECONDS, MAX_DEMANGLED

START = """import sys
sys.path[:] = sys.argv[1:]
from okld.syms.demangle_apart import serve
serve()"""


class Apart:
    """
    The process apart, of the process that it was started by.

    Attributes:
        owner: The id of the process that it answers: a fork must not read its parent's answers.
        failed: Whether there is none, for good.
    """

    __slots__ = ("_answers", "_questions", "failed", "owner")

    def __init__(self) -> None:
        """Start the process."""
        self.owner = os.getpid()
        self.failed = False
        try:
            self._questions, self._answers = _start()
        except (AttributeError, OSError):  # a system without posix_spawn, or without memory for it
            self.failed = True

    def ask(self, name: bytes) -> bytes:
        """Return the answer to *name*, or b"" where there is none."""
        if self.failed:
            return b""
        try:
            os.write(self._questions, name + b"\n")
            answer = os.read(self._answers, MAX_DEMANGLED)
            while answer and not answer.endswith(b"\n"):
                more = os.read(self._answers, MAX_DEMANGLED)
                answer = answer + more if more else b""
        except OSError:
            answer = b""
        self.failed = not answer
        return answer[:-1]


_lock = allocate_lock()
_apart: Apart | None = None


def demangle_apart(name: str) -> str:
    """Return what `demangle_here` gives for *name*, or "" where finding that out takes too much."""
    global _apart
    question = name.encode("utf-8", "surrogateescape")
    with _lock:
        if _apart is None or _apart.owner != os.getpid():
            _apart = Apart()
        return _apart.ask(question).decode("utf-8", "replace")


def _start() -> tuple[int, int]:
    """
    Return the descriptors that questions are written to and answers read from.

    Raises:
        AttributeError: Where the system has no such call.
        OSError: If the system refuses.
    """
    asked, questions = os.pipe()
    answers, answered = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    copies = [(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate((asked, answered, null))]
    command = [sys.executable, "-I", "-S", "-c", START, *sys.path]
    try:
        os.posix_spawn(sys.executable, command, os.environ, file_actions=copies)
    except BaseException:
        os.close(questions)
        os.close(answers)
        raise
    finally:
        for fd in (asked, answered, null):
            os.close(fd)
    return questions, answers


def serve() -> None:
    """Answer each line of standard input, until its end; what the process apart runs."""
    import resource
    from signal import ITIMER_REAL, setitimer

    from okld.syms.demangle import demangle_here

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_APART, MAX_APART))
    for line in sys.stdin.buffer:
        setitimer(ITIMER_REAL, MAX_APART_SECONDS)  # its signal ends the process, whatever it does
        name = line[:-1].decode("utf-8", "surrogateescape")
        answer = demangle_here(name).encode("utf-8", "surrogateescape")
        setitimer(ITIMER_REAL, 0)
        sys.stdout.buffer.write((answer if len(answer) <= MAX_DEMANGLED else b"") + b"\n")
        sys.stdout.buffer.flush()
