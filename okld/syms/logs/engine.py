"""Rewriting a log as it comes: `rewrite`. Source: SPEC LOG-1, LOG-3.

A block of lines that holds none of the needles is copied without another look; else the lines that
hold one, and those just after a frame, are given to the formats, each until one knows it.
"""

from __future__ import annotations

from okld.syms.answer import Miss
from okld.syms.logs.android import Android
from okld.syms.logs.apple import Apple
from okld.syms.logs.apple_json import AppleJson
from okld.syms.logs.context import Context
from okld.syms.logs.crash import Crash
from okld.syms.logs.gdb import Gdb
from okld.syms.logs.glibc import Glibc
from okld.syms.logs.go import Go
from okld.syms.logs.kernel import Kernel
from okld.syms.logs.maps import MapLines
from okld.syms.logs.needles import HEX, HEX_NEEDLES, NEEDLES
from okld.syms.logs.perf import Perf
from okld.syms.logs.plain import Plain
from okld.syms.logs.rust import Rust
from okld.syms.logs.sanitizer import Sanitizer
from okld.syms.logs.wording import Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, Protocol

    from okld.syms.answer import Found
    from okld.syms.logs.context import Format
    from okld.syms.logs.query import Query
    from okld.syms.logs.site import Site

    class Resolver(Protocol):
        """Answers what lines ask."""

        def resolve(self, query: Query) -> Sequence[Found] | Miss:
            """Return what the query's address belongs to: more than one where that is open."""

        def is_trampoline(self, query: Query) -> bool:
            """Say whether the query's address is where a signal's handler returns to."""


CHUNK = 1 << 18  # bytes that are read at a time
BLOCK = 1 << 16  # bytes that are searched at a time; they stay in the processor's cache
MAX_LINE = 1 << 20  # bytes of a line that is looked at; an .ips report has all frames in one
MAX_TEXT = 1 << 14  # of one that is looked at by anything but JSON's format
MAX_HELD = 1 << 22  # bytes of a report that waits for its list of images


class Counts:
    """
    What became of a log.

    Attributes:
        named: Addresses that were found.
        missed: Those that were not.
    """

    __slots__ = ("missed", "named")

    def __init__(self) -> None:
        """Begin with none."""
        self.named = self.missed = 0


def rewrite(
    source: BinaryIO,
    sink: BinaryIO,
    resolver: Resolver,
    *,
    inlines: bool = False,
    name_of: Callable[[str], str] = str,
) -> Counts:
    """
    Copy *source* to *sink*, with names at the addresses that are found, as it comes.

    Args:
        source: Is read to its end; what is there is written before more is waited for.
        sink: Takes the bytes.
        resolver: Is asked.
        inlines: Whether inlined functions get lines of their own.
        name_of: Gives the name for people of a raw one.

    Raises:
        OSError: If the system refuses to read or to write.
    """
    engine = Engine(sink.write, resolver, Wording(name_of, inlines=inlines))
    read = getattr(source, "read1", source.read)
    while chunk := read(CHUNK):
        engine.feed(chunk)
        if len(chunk) < CHUNK:
            sink.flush()
    engine.finish()
    sink.flush()
    return engine.counts


class Engine:
    """
    The state of one rewriting.

    Attributes:
        counts: What became of the addresses so far.
    """

    def __init__(
        self, write: Callable[[bytes], object], resolver: Resolver, wording: Wording
    ) -> None:
        """Rewrite what is fed, to *write*."""
        self.counts = Counts()
        self._write = write
        self._resolver = resolver
        self._wording = wording
        self._context = Context()
        self._json = AppleJson()
        self._formats: tuple[Format, ...] = (
            Crash(), Sanitizer(), Kernel(), Glibc(), Gdb(), Rust(), Android(),
            Perf(), MapLines(), Apple(), Go(), Plain(),
        )  # fmt: skip
        self._rest = b""  # of a line whose end has not come
        self._too_long = False  # such a line is passed through
        self._passed = 0  # bytes of whole lines before those that are looked at
        self._last_line = b""
        self._held: list[tuple[bytes, bytes, Sequence[Site]]] = []
        self._held_size = 0
        self._firsts: list[int] = []  # for each hold of the context its first line in those

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the log, and write what is decided."""
        if self._too_long:
            end = chunk.find(b"\n") + 1
            self._pass(chunk[:end] if end else chunk)
            if not end:
                return
            self._too_long, chunk = False, chunk[end:]
        end = chunk.rfind(b"\n") + 1
        if end:
            self._blocks(self._rest + chunk[:end] if self._rest else chunk[:end])
            self._rest = chunk[end:]
        else:
            self._rest += chunk
        if len(self._rest) > MAX_LINE:
            self._release()
            self._pass(self._rest)
            self._rest, self._too_long = b"", True

    def finish(self) -> None:
        """Write what is left, at the end of the log."""
        self._blocks(self._rest)
        self._release()

    def _pass(self, part: bytes) -> None:
        """Write a part of a line that is too long."""
        self._write(part)
        self._passed += len(part)
        self._last_line = b""

    def _blocks(self, lines: bytes) -> None:
        """Take whole lines, so many at a time that one with a number does not slow down many."""
        at, size = 0, len(lines)
        while at < size:
            end = lines.rfind(b"\n", at, at + BLOCK) + 1 or lines.find(b"\n", at) + 1 or size
            self._lines(lines[at:end])
            at = end

    def _lines(self, block: bytes) -> None:
        """Take a block of whole lines."""
        at, size, context = 0, len(block), self._context
        needles = NEEDLES + HEX_NEEDLES if HEX in block else NEEDLES
        hits = [block.find(needle) for needle in needles]
        while at < size:
            start = at
            expected = bool(context.holds) or context.last_end == self._passed + at
            if not expected:
                ahead = [hit for hit in hits if hit >= 0]
                if not ahead:
                    break
                start = max(at, block.rfind(b"\n", at, min(ahead)) + 1)
            if start > at:
                self._write(block[at:start])
            at = block.find(b"\n", start) + 1 or size
            line = block[start:at]
            if expected or HEX in line or any(0 <= hit < at for hit in hits[: len(NEEDLES)]):
                self._set_previous(block, start)
                self._line(line, self._passed + start)
            else:
                self._write(line)
            for i, hit in enumerate(hits):
                if 0 <= hit < at:
                    hits[i] = block.find(needles[i], at)
        if at < size:
            self._write(block[at:])
        self._passed += size
        self._last_line = _bare(block[block.rfind(b"\n", 0, size - 1) + 1 :])

    def _set_previous(self, block: bytes, start: int) -> None:
        if start:
            begin = block.rfind(b"\n", 0, start - 1) + 1
            self._context.previous = _bare(block[begin:start])
        else:
            self._context.previous = self._last_line

    def _line(self, whole: bytes, start: int) -> None:
        """Take one line, with its end, that begins *start* bytes into the log."""
        context = self._context
        line = whole.removesuffix(b"\n").rstrip(b"\r")
        context.start = start
        sites: Sequence[Site] = ()
        if len(whole) <= MAX_LINE:
            sites = self._sites(line, start + len(whole))
        else:
            self._release()
        if not context.holds:
            self._put(line, whole[len(line) :], sites)
            return
        self._firsts += [len(self._held)] * (len(context.holds) - len(self._firsts))
        self._held.append((line, whole[len(line) :], sites))
        self._held_size += len(whole)
        for index in reversed(range(len(context.holds))):
            if context.holds[index].feed(line):
                self._settle(index)
        if not context.holds or self._held_size > MAX_HELD:
            self._release()

    def _sites(self, line: bytes, end: int) -> Sequence[Site]:
        """Return what the line asks, as the first format says that knows it."""
        context = self._context
        formats = (self._json, *self._formats) if len(line) <= MAX_TEXT else (self._json,)
        for format in formats:
            sites = format.read(line, context)
            if sites is not None:
                for site in sites:
                    if site.unmarked:
                        self._ask_signal(site.query)
                context.last, context.last_end = format, end
                return sites
        return ()

    def _ask_signal(self, query: Query) -> None:
        """Find out whether this is a signal's frame; then its own address is exact, too."""
        signal = query.is_return and self._resolver.is_trampoline(query)
        self._context.after_signal = signal
        if signal:
            query.is_return = False

    def _settle(self, index: int) -> None:
        """End a hold: the lines that came since it began have what it waited for, or have not."""
        hold, first = self._context.holds.pop(index), self._firsts.pop(index)
        for _line, _end, sites in self._held[first:]:
            for site in sites:
                hold.settle(site)

    def _release(self) -> None:
        """Write the lines that were held back, with what they waited for or without."""
        while self._context.holds:
            self._settle(-1)
        held, self._held, self._held_size = self._held, [], 0
        for line in held:
            self._put(*line)

    def _put(self, line: bytes, end: bytes, sites: Sequence[Site]) -> None:
        """Write a line, its addresses named where they are found."""
        parts, done = [], 0
        for site in sites:
            found = self._resolver.resolve(site.query)
            if isinstance(found, Miss):
                self.counts.missed += 1
                continue
            self.counts.named += 1
            words = self._wording.answer(site, found)
            if site.indent >= 0 and len(found) == 1:
                for inlined in self._wording.inlined(found[0]):
                    self._write(site.lead(line) + inlined + (end or b"\n"))
            if words:
                parts += [line[done : site.start], site.before, words, site.after]
                done = site.end
        self._write(b"".join([*parts, line[done:], end]))


def _bare(line: bytes) -> bytes:
    """Return a line without its end; b"" for one that no format looks at."""
    return line.removesuffix(b"\n").rstrip(b"\r") if len(line) <= MAX_TEXT else b""
