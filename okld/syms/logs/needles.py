"""What tells the lines that a format may know from all others: short texts that are searched for.

Most logs hold none, and pass as fast as memory is searched. Each costs a tenth of that speed.
"""

from __future__ import annotations

NEEDLES = (
    b" pc 0",
    b"[unknown]",
    b"-xp ",
    b"ainted",
    b"Linux version ",
    b"# os release",
    b"Kernel Offset: ",
    b"PERF_RECORD_",
    b'"imageOffset"',
)
HEX = b"0x"
HEX_NEEDLES = (
    b"+0x",
    b" + ",
    b"[0x",
    b"c=0x",
    b"C=0x",
    b"0xffff",
    b"<unknown>",
    b" ()",
    b") from /",
)
"""A line that a format is to see, unless it comes just after a frame, holds one of NEEDLES; or HEX
and one of HEX_NEEDLES."""
