"""Frames of gdb that have an address and no source.

gdb prints program counters: that of frame 0 and those after ``<signal handler called>`` are exact,
the others return addresses. They are run-time addresses; whose they are, maps in the log say
(`info proc mappings`, or those of /proc), else a module that is not position independent has them
as its link addresses. Source: LOG-10; gdb's manual, "Backtraces".
"""

from __future__ import annotations

import re

from okld.syms.logs.query import PROCESS, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

NUMBER = re.compile(rb"(?:#(\d{1,6}) {1,6}|(?=0x))(?=\S)")
ADDRESS = re.compile(rb"0x([0-9a-f]{1,16}) in (?=\S)")
FROM = b" from /"
SIGNAL = b"<signal handler called>"
UNKNOWN = b"?? ()"
POSITION = re.compile(rb".*:\d+\)$")


class Gdb:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        at = 0 if line.startswith(b"0x") else line.find(b"#")
        number = NUMBER.match(line, at) if at >= 0 else None
        if number is None:
            return None
        if line.startswith(SIGNAL, number.end()):
            context.after_signal = True
            return ()
        match = ADDRESS.match(line, number.end())
        exact = number[1] in (None, b"0") or (context.follows(self) and context.after_signal)
        if match is None and b") at " not in line and b") from " not in line:
            return None
        context.after_signal = False
        if match is None:  # main () at main.c:10
            return ()
        start, end = match.end(), line.rfind(FROM, match.end())
        module = line[end + len(FROM) - 1 :] if end >= 0 else b""
        function = line[start : end if end >= 0 else len(line)]
        if not function.endswith(b")") or POSITION.match(function):
            return ()
        query = Query(text(module), int(match[1], 16), space=PROCESS, is_return=not exact)
        query = context.place(query)
        end = start + len(function)
        if function == UNKNOWN:
            return (Site(query, start, end, indent=start),)
        return (Site(query, end, end, name=text(function.partition(b" (")[0]), indent=start),)
