"""Addresses that Go's runtime prints of code that is not Go's, and of a signal: ``pc=0x45d2a1``.

Go code is always named by the runtime itself, with its file and line: those lines pass. What is
left are run-time addresses without a module; the program is taken for it. That of a signal is
exact, and so is the first of the frames that are not Go's; the others are return addresses.
Source: LOG-8; Go, src/runtime/traceback.go.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import PROCESS, Query
from okld.syms.logs.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

ADDRESS = re.compile(rb"(?:pc|PC)=0x([0-9a-f]{4,16})(?![0-9a-z])(?! \S+\+0x)")
FOREIGN = b"non-Go function"


class Go:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one address."""
        if line == FOREIGN:
            return () if context.follows(self) else None
        at = max(line.find(b"pc=0x"), line.find(b"PC=0x"))
        match = ADDRESS.match(line, at) if at >= 0 else None
        if match is None:
            return None
        in_trace = line[:at] == b"\t" or line.startswith(FOREIGN)
        query = Query(
            "",
            int(match[1], 16),
            space=PROCESS,
            is_return=in_trace and context.follows(self),
        )
        end = match.end()
        return (Site(context.place(query), end, end, before=b" "),)
