"""What is no result goes to standard error, a line at a time. Source: CLI-1."""

from __future__ import annotations

import sys


def complain(message: str) -> None:
    """Write one line, unless standard error is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"okld: {message}\n")
