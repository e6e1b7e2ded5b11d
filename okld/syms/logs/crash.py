"""The crash reports of okrun: frames, then the command that has the image's path.

Every frame but the first is a return address, printed as it is (okrun/host/crash.c). Source: LOG-5.
"""

from __future__ import annotations

import re

from okld.syms.logs.query import LINK, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(
    rb"#(\d{1,4}) (?:(\S+)(\+0x[0-9a-f]+) \((.+)\+0x([0-9a-f]+)\)"
    rb"|((?!0x)[^(\s]\S*)\+0x([0-9a-f]+))$"
)
OTHER = re.compile(rb"    (?:#\d+ (?:okhost|implementation|0x[0-9a-f]+)|\.\.\.)$")
COMMAND = b"okld symbolize "


class Crash:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        at = line.find(b"#")
        match = FRAME.match(line, at) if at >= 0 else None
        if match is None:
            return None
        number, name, _, image, inner, bare, outer = match.groups()
        query = Query(
            text(image or bare),
            int(inner or outer, 16),
            space=LINK,
            is_return=int(number) > 0,
        )
        if image is not None and b") (" in image:
            return ()  # f+0x1 (file:line) (image+0x1)
        if name is not None:
            end = match.end(3)
            site = Site(query, end, end, name=text(name), indent=match.start(2))
        else:
            start = match.start(6)
            after = b" (" + line[start:] + b")"
            site = Site(query, start, len(line), after=after, indent=start)
        if "/" not in query.module:
            context.wait(Report())
        return (site,)


class Report:
    """Waits for the command after the frames: see `Hold`."""

    def __init__(self) -> None:
        """Know no path yet."""
        self.path = ""

    def feed(self, line: bytes) -> bool:
        """Take a frame, or the line after the last."""
        at = line.find(b"#")
        if (at >= 0 and FRAME.match(line, at)) or OTHER.match(line):
            return False
        at = line.find(COMMAND)
        if at >= 0:
            self.path = _word(text(line[at + len(COMMAND) :]))
        return True

    def settle(self, site: Site) -> None:
        """Put the path for the image's name, where it ends in that."""
        if self.path.rsplit("/", 1)[-1] == site.query.module:
            # A name alone, as the command has it, is a file of the working directory.
            site.query.module = self.path if "/" in self.path else f"./{self.path}"


def _word(line: str) -> str:
    """Return the first word of a line, as a shell reads it that knows single quotes alone."""
    word, quoted, at = "", False, 0
    while at < len(line) and (quoted or line[at] != " "):
        if line[at] == "'":
            quoted = not quoted
        elif not quoted and line[at] == "\\":
            at += 1
            word += line[at : at + 1]
        else:
            word += line[at]
        at += 1
    return word
