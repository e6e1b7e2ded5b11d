"""Lines for people."""

from __future__ import annotations

import os


def complain(command: str, what: object) -> None:
    """Write one line on standard error; where that is closed there is nobody left to tell."""
    try:
        os.write(2, encoded(f"{command}: {what}\n"))
    except OSError:
        return


def encoded(text: str) -> bytes:
    """Return text as UTF-8; bytes of a path that are not UTF-8 as they were."""
    return text.encode("utf-8", "surrogateescape")


def out(text: str) -> None:
    """
    Write all of *text* on standard output.

    Raises:
        OSError: If the system does not take it.
    """
    data = encoded(text)
    while data:
        data = data[os.write(1, data) :]
