"""What `backtrace_symbols` of the C library writes: ``prog(main+0x10) [0x55d3c0de1169]``.

Every address is a return address, the first too: it is the one that `backtrace` itself returns to.
Without a name the offset is the address less `l_addr`: a link address. A signal's frame is marked
by nothing but its name in the C library. Source: LOG-7; glibc, debug/backtracesyms.c.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import LINK, PROCESS, SYMBOL, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(rb"\((?:([^()+]*)\+0x([0-9a-f]+))?\) ?\[0x([0-9a-f]+)\]$")
BARE = re.compile(rb"\[0x([0-9a-f]+)\]$")


class Glibc:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        at = line.rfind(b"[0x")
        if at < 1 or not line.endswith(b"]"):
            return None
        begin = line.rfind(b"(", 0, at)
        match = FRAME.match(line, begin) if begin >= 0 else None
        if match is None:
            match, begin = BARE.match(line, at), at
        if match is None:
            return None
        start, module = _module(line[:begin].rstrip())
        if not module or (match.re is BARE and b"/" not in module):
            return None
        is_return = not (context.follows(self) and context.after_signal)
        groups = match.groups()
        if match.re is BARE or groups[1] is None:
            query = Query(text(module), int(groups[-1], 16), space=PROCESS, is_return=is_return)
            query = context.place(query)
        elif groups[0]:
            query = Query(
                text(module),
                space=SYMBOL,
                symbol=text(groups[0]),
                offset=int(groups[1], 16),
                is_return=is_return,
            )
        else:
            query = Query(text(module), int(groups[1], 16), space=LINK, is_return=is_return)
        name = text(groups[0]) if len(groups) > 1 else ""
        end, before = len(line), b"" if name else b" "
        return (Site(query, end, end, before=before, name=name, indent=start, unmarked=True),)


def _module(before: bytes) -> tuple[int, bytes]:
    """Return where in the text before an address its module begins, and the module."""
    if before.startswith((b"/", b"./")):
        return 0, before
    start = max(before.rfind(b" "), before.rfind(b"\t")) + 1
    return start, before[start:]
