"""A bar that moves while a big member is hashed, on a terminal and nowhere else. Source: ADM-10."""

from __future__ import annotations

import os
from time import monotonic

PATIENCE = 0.5  # seconds that nobody minds waiting
_WIDTH = 40


class Bar:
    """The bar of one wait, which begins now."""

    __slots__ = ("_begin", "_drawn")

    def __init__(self) -> None:
        self._begin = monotonic()
        self._drawn = -1

    def show(self, done: int, total: int) -> None:
        """Show that *done* of *total* has been done, where the wait has been long."""
        filled = _WIDTH * done // max(total, 1)
        if filled == self._drawn or monotonic() - self._begin < PATIENCE or not os.isatty(2):
            return
        self._drawn = filled
        _write(f"\rokrun: checking [{'#' * filled}{' ' * (_WIDTH - filled)}]")

    def end(self) -> None:
        """Take the bar off the screen."""
        if self._drawn >= 0:
            _write("\r\x1b[K")


def _write(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:
        return
