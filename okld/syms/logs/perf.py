"""Frames of `perf script`, and the maps that its ``--show-mmap-events`` lines tell.

The first address of a sample is exact, and so is the first of a user's frames after the kernel's.
The others are return addresses, or with ``--call-graph dwarf`` one less: the byte before both is in
the call. A user's address is an offset in the file, and of older perf a run-time address.
Source: LOG-11; Linux, tools/perf/util/evsel_fprintf.c, unwind-libdw.c.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import PERF, SYMBOL, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(rb"(?:[ \t]+|.*: +)([0-9a-f]{1,16}) (?=\S)")
NAMED = re.compile(rb"(\S.*)\+0x([0-9a-f]+)$")
UNKNOWN = b"[unknown]"
EVENT = b": PERF_RECORD_"
MAP = re.compile(
    rb": PERF_RECORD_MMAP2? (-?\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)"
    rb"[^\]]*\]: [rw-]{0,2}x[ps]? (/.*)$"
)
EXEC = re.compile(rb": PERF_RECORD_COMM exec: .*:(\d+)/\d+$")
HEADER = re.compile(rb".*? (\d+)(?:/\d+)? +(?:\[\d+\] +)?\d+\.\d+: ")
KERNEL = 1 << 63  # from here on addresses are the kernel's
DELETED = b" (deleted)"


class Perf:
    """
    A format: see `Format`.

    Attributes:
        pid: The process of the sample that is read; 0: not known.
        in_kernel: Whether its last frame was the kernel's.
    """

    def __init__(self) -> None:
        """Know of no sample yet."""
        self.pid = 0
        self.in_kernel = False

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame, or one event."""
        if EVENT in line:
            return self._event(line, context)
        if not line.endswith(b")"):
            return None
        tail = line[: -len(DELETED) - 1] if line.endswith(DELETED + b")") else line[:-1]
        at = tail.rfind(b" (")
        match = FRAME.match(tail, 0, at) if at > 0 else None
        if match is None:
            return None
        named = NAMED.match(tail, match.end(), at)
        name, module = tail[match.end() : at], tail[at + 2 :]
        if named is None and name != UNKNOWN:
            return () if context.follows(self) and line[:1] in b" \t" else None
        if not module.startswith((b"/", b"[")):
            return None
        if named is not None and b"+0x" in named[1]:
            return ()  # f+0x1 g+0x2
        is_return = self._advance(int(match[1], 16), line, context)
        query = self._query(int(match[1], 16), text(module), named, context)
        if query is None:
            return ()
        query.is_return = is_return
        if named is not None:
            return (Site(query, at, at, name=text(named[1]), indent=match.end(), unmarked=True),)
        return (Site(query, match.end(), at, indent=match.end(), unmarked=True),)

    def _advance(self, address: int, line: bytes, context: Context) -> bool:
        """Go on to the next frame; say whether it is a return address."""
        in_sample = context.follows(self) and line[:1] in b" \t"
        if not in_sample:
            header = HEADER.match(context.previous if line[:1] in b" \t" else line)
            self.pid = int(header[1]) if header else 0
        entered = self.in_kernel and address < KERNEL
        self.in_kernel = address >= KERNEL
        return in_sample and not entered and not context.after_signal

    def _query(
        self, address: int, module: str, named: re.Match[bytes] | None, context: Context
    ) -> Query | None:
        symbol = text(named[1]) if named else ""
        offset = int(named[2], 16) if named else 0
        kernel = _kernel_name(module, address)
        if kernel:
            if not symbol:
                return None
            return Query(
                kernel,
                space=SYMBOL,
                symbol=symbol,
                offset=offset,
                kernel=True,
                release=context.release,
            )
        if not module.startswith("/"):
            return None
        mapped = context.maps.find(self.pid, address)
        at = mapped[1] if mapped and mapped[0] == module else None
        return Query(module, address, space=PERF, mapped=at, symbol=symbol, offset=offset)

    def _event(self, line: bytes, context: Context) -> Sequence[Site] | None:
        at = line.index(EVENT)
        match = MAP.match(line, at)
        if match is not None:
            pid, start, size, offset, path = match.groups()
            first = int(start, 16)
            end = first + int(size, 16)
            context.maps.add(int(pid), first, end, int(offset, 16), text(path))
            return ()
        match = EXEC.match(line, at)
        if match is not None:
            context.maps.forget(int(match[1]))
            return ()
        return None


def _kernel_name(module: str, address: int) -> str:
    """Return the name of a kernel's module as `Query` has it, or "" for a user's."""
    if module.startswith(("[kernel", "[guest.kernel")):
        return "vmlinux"
    if module.startswith("[") and module.endswith("]") and address >= KERNEL:
        return module[1:-1]
    base = module.rsplit("/", 1)[-1]
    stem, dot, rest = base.partition(".ko")
    return stem if dot and rest in ("", ".xz", ".zst", ".gz") else ""
