"""``image+0xaddr`` and ``image(+0xaddr)`` in any line, and frames as systemd-coredump writes them.

The address is taken for exact but in a line that begins with a frame's number above 0.
Source: LOG-14.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import ANY, IMAGE, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

OFFSET = re.compile(rb"(\(?)\+0x([0-9a-fA-F]{1,16})(\)?)(?![\w/.]| ?\[0x)")
BEFORE = re.compile(rb".*[\s()\[\]<>{}\"'=,;|`]", re.DOTALL)
NAMED = re.compile(rb"(.+)\+0x[0-9a-fA-F]+")
NUMBER = re.compile(rb"\s*#?(\d{1,4}):?\s")
COREDUMP = re.compile(rb"#(\d{1,4}) +0x[0-9a-fA-F]+ (n/a|\S.*?) \((\S+) \+ 0x([0-9a-fA-F]+)\)$")
SUFFIX = re.compile(r"\.(so(\.\d+)*|ok|ko|elf|exe|dll|dylib|debug)$")
MAX_MODULE = 4096  # bytes of a path
MAX_SITES = 64  # in a line


class Plain:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read every module and address of a line."""
        if b" + 0x" in line:
            site = self._coredump(line)
            return None if site is None else (site,)
        sites: list[Site] = []
        number = NUMBER.match(line)
        is_return = number is not None and int(number[1]) > 0
        at = line.find(b"+0x")
        for _ in range(MAX_SITES):
            if at < 0:
                break
            site = self._site(line, at, is_return)
            if site is not None:
                sites.append(site)
            at = line.find(b"+0x", at + 3)
        if len(sites) == 1:
            sites[0].indent = sites[0].start
        return sites or None

    def _site(self, line: bytes, at: int, is_return: bool) -> Site | None:
        bracket = at > 0 and line[at - 1 : at] == b"("
        offset = OFFSET.match(line, at - bracket)
        if offset is None or (bracket and not offset[3]):
            return None
        before = line[max(0, at - bracket - MAX_MODULE) : at - bracket]
        other = BEFORE.match(before)
        module = before[other.end() if other else 0 :]
        if not is_module(text(module)):
            return None
        start = at - bracket - len(module)
        end = offset.end() if bracket else offset.end(2)
        query = Query(text(module), int(offset[2], 16), space=ANY, is_return=is_return)
        if line[max(0, start - 1) : start] != b"(" or line[end : end + 1] != b")":
            return Site(query, start, end, after=b" (" + line[start:end] + b")")
        start -= 1
        before = line[max(0, start - MAX_MODULE) : start]
        if before.endswith(b") "):
            return None  # has its source already
        named = NAMED.fullmatch(before.rstrip(b" ").rpartition(b" ")[2])
        if named is not None and before.endswith(b" "):
            return Site(query, start - 1, start - 1, name=text(named[1]))
        return Site(query, start, start, after=b" ")

    def _coredump(self, line: bytes) -> Site | None:
        at = line.find(b"#")
        match = COREDUMP.match(line, at) if at >= 0 else None
        if match is None:
            return None
        number, name, module, offset = match.groups()
        query = Query(text(module), int(offset, 16), space=IMAGE, is_return=int(number) > 0)
        start, end = match.span(2)
        if name == b"n/a":
            return Site(query, start, end, indent=start)
        if name.endswith(b")") or NAMED.fullmatch(name.rpartition(b" ")[2]):
            return None
        return Site(query, end, end, name=text(name), indent=start)


def is_module(name: str) -> bool:
    """Say whether *name* is a file's, and not a register's or a function's."""
    return "/" in name.rstrip("/") or SUFFIX.search(name) is not None
