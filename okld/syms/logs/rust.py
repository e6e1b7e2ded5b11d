"""Frames of Rust's panics (RUST_BACKTRACE=full) that it could not name.

The addresses are those that the unwinder gives, all of them return addresses, run-time ones
without a module: maps in the log say whose they are, else the program is taken where it is not
position independent. Frames with a name are followed by their file and line, and pass.
Source: LOG-9; rust-lang/backtrace-rs, src/symbolize/mod.rs.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import PROCESS, Query
from okld.syms.logs.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(rb" *\d{1,5}: +0x([0-9a-f]{1,16}) - (.*)$")
UNKNOWN = b"<unknown>"


class Rust:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        match = FRAME.match(line)
        if match is None:
            return None
        if match[2] != UNKNOWN or not int(match[1], 16):
            return ()
        is_return = not (context.follows(self) and context.after_signal)
        query = Query("", int(match[1], 16), space=PROCESS, is_return=is_return)
        start, end = match.span(2)
        return (Site(context.place(query), start, end, indent=start, unmarked=True),)
