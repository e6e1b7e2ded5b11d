"""What is no result goes to standard error, a line at a time. Source: CLI-1."""

from __future__ import annotations

import sys


def complain(message: str) -> None:
    """Write one line; where standard error is closed or full there is nobody left to tell."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"okld: {message}\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = None  # else Python's own last flush fails as well, and changes the status
