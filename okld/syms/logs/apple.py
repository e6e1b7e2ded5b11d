"""Crash reports of macOS and iOS as text: frames first, the list of images after them.

``0  libfoo.dylib  0x1a2b 0x10000 + 123``: the last number counts from where the image is mapped.
That of frame 0 and that after ``_sigtramp`` are exact, the others return addresses.
Source: LOG-15; Apple, "Examining the fields in a crash report".
"""

from __future__ import annotations

import re

from okld.syms.logs.query import IMAGE, Query
from okld.syms.logs.site import Site, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(rb"(\d{1,4})\s+(\S.*?)\s+0x([0-9a-f]{1,16}) (?:0x([0-9a-f]{1,16}) \+ (\d+)$)?")
LISTED = re.compile(
    rb" *0x([0-9a-f]{1,16}) - +0x[0-9a-f]{1,16} \+?(\S.*?) +(?:\(.*\) +)?"
    rb"(?:(arm64e?|x86_64h?|armv7[sk]?|i386) +)?<([0-9A-Fa-f-]{32,36})> +(/.*)$"
)
SIGNAL = b"_sigtramp "
MAX_IMAGES = 4096  # of a report; the largest programs load 1,500


class Apple:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read one frame."""
        match = FRAME.match(line)
        if match is None:
            return None
        number, module, _, base, offset = match.groups()
        if base is None and b" + " not in line:
            return None
        exact = number == b"0" or (context.follows(self) and context.after_signal)
        context.after_signal = line.startswith(SIGNAL, match.end())
        if base is None:  # has a name
            return ()
        query = Query(text(module), int(offset), space=IMAGE, is_return=not exact)
        context.wait(Images())
        start = match.start(4) - 2
        return (Site(query, start, len(line), indent=start, key=int(base, 16)),)


class Images:
    """Waits for the list of images after the frames: see `Hold`."""

    def __init__(self) -> None:
        """Know of no image yet."""
        self._images: dict[int, tuple[str, str, str]] = {}

    def feed(self, line: bytes) -> bool:
        """Take the next line of the report."""
        match = LISTED.match(line)
        if match is None:
            return bool(self._images)
        base, _, arch, uuid, path = match.groups()
        self._images[int(base, 16)] = (text(path), text(arch), text(uuid))
        return len(self._images) > MAX_IMAGES

    def settle(self, site: Site) -> None:
        """Put the image's path, architecture and UUID for its name."""
        found = self._images.get(site.key)
        if found is not None and site.query.space == IMAGE:
            path, site.query.arch, uuid = found
            site.query.build_id = uuid.replace("-", "").lower()
            site.query.module = path
