"""What a program inherits from the one that starts it, and Python changes at its own start."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os


def undo_locale_coercion() -> None:
    """
    Put LC_CTYPE back as it was: in the locale "C" Python sets it at its start (PEP 538).

    In the C library's own copy of the environment, which `os.execv` hands on byte for byte.
    """
    if os.environ.get("LC_CTYPE") not in ("C.UTF-8", "C.utf8", "UTF-8"):
        return
    try:
        with open("/proc/self/environ", "rb", 0) as file:
            given = file.read().split(b"\0")
    except OSError:
        return
    values = [word[9:] for word in given if word.startswith(b"LC_CTYPE=")]
    if values:
        os.putenv("LC_CTYPE", values[0])
    else:
        os.unsetenv("LC_CTYPE")


def default_signals() -> None:
    """
    Have a broken pipe and a file too large end what is executed.

    Python ignores both from its start, and a disposition to ignore outlives an execve.
    """
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
