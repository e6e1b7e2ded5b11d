"""Frames of the sanitizers, as far as these did not name them.

They print what `GetPreviousInstructionPc` gives, of the first frame too: addresses inside calls,
that are looked up as they are. Behind the module stands the address less the load bias
(`dlpi_addr`): a link address. Source: LOG-6; LLVM, compiler-rt/lib/sanitizer_common.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(
    rb"#\d{1,4} (?:0x[0-9a-f]+( +)(?:in (\S.*?) )?|(\S.*?) (<null>) )"
    rb"\(([^()]+?)(?::(arm64e?|x86_64h?|i386))?\+0x([0-9a-f]+)\)"
    rb"(?: \(BuildId: ([0-9a-fA-F]+)\))?$"
)
UNKNOWN = b"<null>"
NAMED = re.compile(rb":\d+\)?$|(?:^| )[^ ]+\+0x[0-9a-f]+$")
MAX_NAMED = 512  # bytes at the end of a frame's name that are looked at for what they say


class Sanitizer:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        at = line.find(b"#")
        match = FRAME.match(line, at) if at >= 0 else None
        if match is None:
            return None
        _, name, thread_name, _, module, arch, offset, build_id = match.groups()
        query = Query(text(module), int(offset, 16), build_id=text(build_id), arch=text(arch))
        if name is not None:  # f (module+0x1)
            if NAMED.search(name[-MAX_NAMED:]):
                return ()  # f file:line (module+0x1)
            end = match.end(2)
            return (Site(query, end, end, name=text(name), indent=match.start(2)),)
        if thread_name is None:  # a space, and the module
            start, end = match.span(1)
            return (Site(query, start, end, before=b" in ", after=b" ", indent=start),)
        start, end = match.span(4)
        if thread_name == UNKNOWN:
            start = match.start(3)
            return (Site(query, start, end, indent=start),)
        return (Site(query, start - 1, end, name=text(thread_name), indent=match.start(3)),)
