"""How an answer is written into a line. Source: LOG-2."""

from __future__ import annotations

from okld.base.errors import printable
from okld.syms.answer import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okld.syms.answer import Found, Frame
    from okld.syms.logs.site import Site


class Wording:
    """
    The choices of one rewriting.

    Attributes:
        inlines: Whether inlined functions get lines of their own.
        name_of: Gives the name for people of a raw one.
    """

    def __init__(self, name_of: Callable[[str], str], *, inlines: bool) -> None:
        """State the choices."""
        self.name_of = name_of
        self.inlines = inlines

    def answer(self, site: Site, found: Sequence[Found]) -> bytes:
        """Return what goes into the line at *site*; b"" where the line says it already."""
        first = found[0]
        offset = first.offset + site.query.is_return
        if site.json:
            return self._members(first, offset)
        places: dict[str, None] = {}
        for answer in found:
            place = position(self._shown(answer))
            if place:
                places[place] = None
        where = f" ({' or '.join(places)})" if places else ""
        if site.name and any(self._same(site.name, answer) for answer in found):
            return where.encode()
        words = f"{self._name(shown_name(first)) or '??'}+{offset:#x}{where}"
        return (f" {words}" if site.name else words).encode()

    def inlined(self, found: Found) -> list[bytes]:
        """Return what the lines of the functions inlined there say, innermost first."""
        if not self.inlines:
            return []
        return [
            f"{self._name(frame.function) or '??'} ({position(frame) or '??'}) (inlined)".encode()
            for frame in found.frames
            if frame.inlined
        ]

    def _shown(self, found: Found) -> Frame | None:
        """Return the frame whose source stands beside the function's name."""
        if not found.frames:
            return None
        return found.frames[-1] if self.inlines else found.frames[0]

    def _name(self, raw: str) -> str:
        return printable(self.name_of(raw))

    def _same(self, name: str, found: Found) -> bool:
        """Say whether the log's *name* is one of those that the answer is known by."""
        raw = [found.name, found.symbol, *found.aliases, *(f.function for f in found.frames)]
        if name in raw:
            return True
        stem = name.partition("(")[0]
        return stem != "" and any(self.name_of(known).partition("(")[0] == stem for known in raw)

    def _members(self, found: Found, offset: int) -> bytes:
        import json

        members: dict[str, str | int] = {
            "symbol": self.name_of(shown_name(found)),
            "symbolLocation": offset,
        }
        frame = self._shown(found)
        if frame is not None and frame.file is not None:
            members["sourceFile"] = frame.file
            if frame.line is not None:
                members["sourceLine"] = frame.line
        return json.dumps(members, separators=(",", ":"))[1:-1].encode()


def position(frame: Frame | None) -> str:
    """Return ``file:line:column`` as far as it is known; "" without a file."""
    if frame is None or frame.file is None:
        return ""
    numbers = [frame.line, frame.column] if frame.line is not None else []
    return ":".join([printable(frame.file), *(str(n) for n in numbers if n is not None)])
