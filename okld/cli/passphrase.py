"""A question on the terminal whose answer is not shown. Source: SIG-11."""

from __future__ import annotations

import os
import sys
from getpass import getpass

from okld.base.errors import OkError, printable


def ask(prompt: str) -> bytes:
    """
    Return what a person types at the terminal of this process.

    Raises:
        OkError: If there is no terminal: neither the process's own nor standard input; or if
            nothing is typed.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        if sys.stdin is None or not sys.stdin.isatty():
            raise OkError(
                "the key has a passphrase, and there is no terminal to ask at; use ssh-agent"
            ) from None
    try:
        return getpass(printable(prompt)).encode()
    except (EOFError, UnicodeError):
        raise OkError("no passphrase given") from None
