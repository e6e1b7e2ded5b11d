"""Crash reports of macOS and iOS as JSON (.ips): members are added to the frames of a line.

A frame's ``imageOffset`` counts from where the image is mapped; the image's path, architecture and
UUID are in ``usedImages``, after the frames. The first frame of a thread is exact, the others are
return addresses. A frame that has a ``symbol`` passes. Source: LOG-16; Apple, "Interpreting the
JSON format of a crash report".
"""

from __future__ import annotations

import re

from okld.syms.logs.query import IMAGE, Query
from okld.syms.logs.site import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.logs.context import Context

FRAME = re.compile(rb'\{([^{}]*"imageOffset" ?: ?[^{}]*)\}')
OFFSET = re.compile(rb'"imageOffset" ?: ?(\d{1,20})')
INDEX = re.compile(rb'"imageIndex" ?: ?(\d{1,6})')
MEMBER = re.compile(rb'"(arch|uuid|path|name)" ?: ?("(?:[^"\\]|\\.)*+")')
FIRST = re.compile(rb'"frames" ?: ?\[\s*$')
USED = b'"usedImages"'
MAX_IMAGES = 4096  # of a report; the largest programs load 1,500


class AppleJson:
    """A format: see `Format`."""

    def read(self, line: bytes, context: Context) -> Sequence[Site] | None:
        """Read the frames of a line."""
        if b'"imageOffset"' not in line:
            return None
        sites = []
        for match in FRAME.finditer(line):
            offset, index = OFFSET.search(match[1]), INDEX.search(match[1])
            if offset is None or index is None or b'"symbol"' in match[1]:
                continue
            exact = FIRST.search(line[max(0, match.start() - 32) : match.start()]) is not None
            query = Query("", int(offset[1]), space=IMAGE, is_return=not exact)
            start = match.start(1)
            sites.append(Site(query, start, start, after=b",", json=True, key=int(index[1])))
        if sites:
            context.wait(UsedImages())
        return sites


class UsedImages:
    """Waits for the list of images after the frames: see `Hold`."""

    def __init__(self) -> None:
        """Know of no image yet."""
        self._images: list[dict[str, str]] = []
        self._listing = False

    def feed(self, line: bytes) -> bool:
        """Take the next line of the report."""
        if not self._listing:
            at = line.find(USED)
            if at < 0:
                return False
            self._listing = True
            line = line[at + len(USED) :]
        for part in re.split(rb"(?=\{)", line):
            if part.startswith(b"{"):
                self._images.append({})
            for key, value in MEMBER.findall(part):
                if self._images:
                    self._images[-1][key.decode()] = _string(value)
        ended = line.strip().startswith(b"]") or line.rstrip().endswith((b"],", b"]"))
        return ended or len(self._images) > MAX_IMAGES

    def settle(self, site: Site) -> None:
        """Put the image's path, architecture and UUID into the query."""
        if site.json and site.key < len(self._images):
            image = self._images[site.key]
            site.query.module = image.get("path") or image.get("name", "")
            site.query.arch = image.get("arch", "")
            site.query.build_id = image.get("uuid", "").replace("-", "").lower()


def _string(literal: bytes) -> str:
    """Return what a JSON string says, or "" where it is none."""
    import json

    try:
        value = json.loads(literal)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
