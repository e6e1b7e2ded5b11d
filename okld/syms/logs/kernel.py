"""Oops reports and stack traces of Linux, as ``vfs_read+0x9d/0x180``, and the kernel they are of.

A name and an offset do not move with the kernel. Addresses of registers (RIP, pc) and of warnings
are exact; those of a call trace are return addresses, printed as they are: x86 looks up the byte
before and adds it again (%pB), AArch64 names the address itself (%pS). The first entry of a trace
of AArch64 is the register's again. Source: LOG-12; Linux, lib/vsprintf.c, kernel/kallsyms.c.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import LINK, PROCESS, SYMBOL, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

NAMED = re.compile(
    rb"(?<![\w.$])([A-Za-z_.$][\w.$]*+)\+0x([0-9a-f]+)/0x([0-9a-f]+)(?![\w(]| \((?![A-Z]+\))"
    rb"| [\w.$]+\+0x[0-9a-f]++(?!/))"
    rb"(?: \[([\w-]+)(?: ([0-9a-f]{16,64}))?\])?"
)
RAW = re.compile(rb"(?<![\w<+])0x(ffff[0-9a-f]{12})(?![\w)>])(?=$| *$| \[)")
EXACT = re.compile(
    rb"\b(?:RIP|EIP|IP|NIP|PC|pc|epc) ?:? ?(?:[0-9a-f]{4}:|is at )?[ \[\]<>0-9a-fx]*$"
)
KERNEL = "vmlinux"
MAX_LABEL = 80  # bytes from a register's name to its address
RELEASE = rb"(\d+\.\d+[\w.+~-]*)"
BUILD = rb"(?: #.* ([0-9a-f]{40})$)?"
RELEASES = (
    (b"Comm: ", re.compile(rb".* (?=\d+\.\d+\S* #\d)" + RELEASE + BUILD)),
    (b"Not tainted ", re.compile(rb" *" + RELEASE + rb"(?= #\d)" + BUILD)),
    (b"Tainted: ", re.compile(rb"[A-Z ]{1,64} " + RELEASE + rb"(?= #\d)" + BUILD)),
    (b"Linux version ", re.compile(RELEASE + rb"()")),
    (b"# os release : ", re.compile(RELEASE + rb"()")),
)
BEFORE = re.compile(rb"(?<![\w.])(\d+\.\d+[\w.+~-]{0,80}) #\d+ (?:Not t|T)ainted()")
OFFSET = re.compile(rb"Kernel Offset: (?:(disabled)|0x([0-9a-f]+) from)")
ENDS = (b"Kernel Offset: ", b"---[ end ")
MAX_WAIT = 512  # lines from a frame to the line that has the kernel's release, or its offset


class Kernel:
    """
    A format: see `Format`.

    Attributes:
        pc: The last address that was exact, as it was printed.
    """

    def __init__(self) -> None:
        """Know of no address yet."""
        self.pc: tuple[bytes, ...] = ()
        self._wait: Release | None = None

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read the frames of a line, or what it tells of the kernel."""
        if b"/0x" in line:
            sites = self._named(line, context)
            if sites:
                return sites
        at = line.find(b"Kernel Offset: ")
        offset = OFFSET.match(line, at) if at >= 0 else None
        if offset is not None:
            context.kernel_offset = int(offset[2] or b"0", 16)
            return ()
        if b"0xffff" in line:
            return self._raw(line, context)
        told = _release(line)
        if told is None:
            return None
        context.release, context.kernel_build_id = text(told[1]), text(told[2])
        return ()

    def _named(self, line: bytes, context: Context) -> list[Site]:
        sites: list[Site] = []
        for match in NAMED.finditer(line):
            name, offset, size, module, build_id = match.groups()
            printed = match.groups()[:3]
            exact = _is_exact(line[: match.start()])
            if exact:
                self.pc = printed
            query = Query(
                text(module) or KERNEL,
                space=SYMBOL,
                symbol=text(name),
                offset=int(offset, 16),
                size=int(size, 16),
                is_return=not exact and printed != self.pc,
                build_id=text(build_id) if module else context.kernel_build_id,
                kernel=True,
                release=context.release,
            )
            end = match.end(3)
            indent = match.start(1) if match.start(1) and not sites else -1
            sites.append(Site(query, end, end, name=text(name), indent=indent))
        if sites:
            self._wait_for_release(context)
        if len(sites) > 1:
            for site in sites:
                site.indent = -1
        return sites

    def _raw(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read an address that has no name, in a trace."""
        match = RAW.search(line)
        if match is None:
            return None
        exact = _is_exact(line[: match.start()])
        if not exact and not context.follows(self):
            return None
        query = Query(
            KERNEL,
            int(match[1], 16),
            space=PROCESS,
            is_return=not exact,
            build_id=context.kernel_build_id,
            kernel=True,
            release=context.release,
        )
        site = Site(query, match.start(), match.end(), after=b" (" + match[0] + b")")
        if context.kernel_offset is not None:
            _to_link(query, context.kernel_offset)
        else:
            context.wait(Offset(context))
        self._wait_for_release(context)
        return (site,)

    def _wait_for_release(self, context: Context) -> None:
        """Wait for a release that no line has told, once: a log may have none."""
        if not context.release and self._wait is None:
            self._wait = Release(context)
            context.wait(self._wait)


def _release(line: bytes) -> re.Match[bytes] | None:
    """Return what in a line tells the kernel's release, and its build id, or None."""
    for label, pattern in RELEASES:
        at = line.find(label)
        match = pattern.match(line, at + len(label)) if at >= 0 else None
        if match is not None:
            return match
    return BEFORE.search(line) if b"ainted" in line else None


def _is_exact(before: bytes) -> bool:
    """Say whether an address with this text before it is a register's, or a warning's."""
    if b"WARNING: " in before and b" at " in before:
        return True
    return EXACT.search(before[-MAX_LABEL:]) is not None


def _to_link(query: Query, offset: int) -> None:
    query.address -= offset
    query.space = LINK


class Release:
    """Waits for the kernel's release after the first frames of a log: see `Hold`."""

    def __init__(self, context: Context) -> None:
        """Know of no release."""
        self._context = context
        self._lines = 0

    def feed(self, _line: bytes) -> bool:
        """Take the next line, which the format has read."""
        self._lines += 1
        return self._lines > MAX_WAIT or self._context.release != ""

    def settle(self, site: Site) -> None:
        """Put the release, and the kernel's build id, into a question that lacks them."""
        query = site.query
        if query.kernel and not query.release:
            query.release = self._context.release
            if query.module == KERNEL:
                query.build_id = self._context.kernel_build_id


class Offset:
    """Waits for the kernel's offset after the frames: see `Hold`."""

    def __init__(self, context: Context) -> None:
        """Know of no offset."""
        self._context = context
        self._lines = 0

    def feed(self, line: bytes) -> bool:
        """Take the next line."""
        self._lines += 1
        return self._lines > MAX_WAIT or any(end in line for end in ENDS)

    def settle(self, site: Site) -> None:
        """Take the offset off, where the log told it."""
        offset = self._context.kernel_offset
        if offset is not None and site.query.kernel and site.query.space == PROCESS:
            _to_link(site.query, offset)
