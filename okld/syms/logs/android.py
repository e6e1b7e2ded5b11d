"""Tombstones and log traces of Android: ``#01 pc 0000000000012345  /system/lib64/libc.so``.

The address is the one in the file (link address), and debuggerd has already moved that of a call
back into the call: it is looked up as it is. Source: LOG-13; Android, libunwindstack, Unwinder.cpp.
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
    rb"#\d{1,4} +pc (0[0-9a-f]{7,15}) +([/\[]?[^ ]+?)( \(deleted\))?"
    rb"( \(offset (?:0x)?[0-9a-f]+\))?( \((.+?)\+(\d+)\))?( \(BuildId: ([0-9a-fA-F]+)\))?$"
)


class Android:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        at = line.find(b" pc ")
        at = line.rfind(b"#", 0, at) if at > 0 else -1
        match = FRAME.match(line, at) if at >= 0 else None
        if match is None:
            return None
        address, module, _, _, named, name, _, _, build_id = match.groups()
        module = module.rsplit(b"!", 1)[-1]  # base.apk!libfoo.so
        query = Query(text(module), int(address, 16), build_id=text(build_id))
        end = match.end(5) if named else max(match.end(2), match.end(3), match.end(4))
        before = b"" if named else b" "
        site = Site(query, end, end, before=before, name=text(name), indent=match.start(2))
        return (site,)
