"""A bar that moves while something takes long, on a terminal and nowhere else.

Source: ADM-10, IDX-11.
"""

from __future__ import annotations

import os
from time import monotonic

PATIENCE = 0.5  # seconds that nobody minds waiting
_WIDTH = 40


class Bar:
    """The bar of one wait, which begins now."""

    __slots__ = ("_begin", "_drawn", "_what")

    def __init__(self, what: str) -> None:
        """Say who does *what* meanwhile, as "okrun: checking"."""
        self._what = what
        self._begin = monotonic()
        self._drawn = -1

    def show(self, done: int, total: int) -> None:
        """Show that *done* of *total* has been done, where the wait has been long."""
        filled = _WIDTH * done // max(total, 1)
        if filled == self._drawn or monotonic() - self._begin < PATIENCE or not os.isatty(2):
            return
        self._drawn = filled
        _write(f"\r{self._what} [{'#' * filled}{' ' * (_WIDTH - filled)}]")

    def end(self) -> None:
        """Take the bar off the screen."""
        if self._drawn >= 0:
            _write("\r\x1b[K")


def _write(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:
        return
