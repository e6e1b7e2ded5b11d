"""The executable mappings of one process: lines of /proc/PID/maps, and gdb's `info proc mappings`.

Source: LOG-4; proc_pid_maps(5).
"""

from __future__ import annotations

import re

from okld.syms.logs.site import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context
    from okld.syms.logs.site import Site

PROC = re.compile(
    rb"\s*([0-9a-f]{4,16})-([0-9a-f]{4,16}) [r-]-xp ([0-9a-f]+)"
    rb" [0-9a-f]+:[0-9a-f]+ \d+ +(/.*)$"
)
GDB = re.compile(
    rb"\s*0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+[r-]-xp\s+(/.*)$"
)


class MapLines:
    """A format: see `Format`."""

    def __init__(self) -> None:
        """Know of no listing."""
        self._end = 0

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one mapping; one below the last begins the listing of another process."""
        match = PROC.match(line) or GDB.match(line)
        if match is None:
            return None
        start, end, offset = (int(match[i], 16) for i in (1, 2, 3))
        if start < self._end:
            context.maps.forget(0)
        self._end = end
        context.maps.add(0, start, end, offset, text(match[4]).removesuffix(" (deleted)"))
        return ()
