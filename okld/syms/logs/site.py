"""Where in a line an answer goes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.logs.query import Query


class Site:
    """
    A place in a line that has something to ask.

    Attributes:
        query: What it asks.
        start, end: The bytes of the line that the answer replaces; nothing where they are equal.
        before, after: What stands around the answer.
        name: The function's name that the line has already, so that only its source is added;
            "": none.
        indent: The line's first *indent* bytes begin a line for each function inlined there; -1:
            no line can be added.
        json: Whether the answer is written as members of a JSON object.
        unmarked: Whether a signal's frame looks like any other here, so that the next address is
            exact where this one is what a signal's handler returns to.
        key: What a format keeps to find the module by, once the log has told more.
    """

    __slots__ = (
        "after",
        "before",
        "end",
        "indent",
        "json",
        "key",
        "name",
        "query",
        "start",
        "unmarked",
    )

    def __init__(
        self,
        query: Query,
        start: int,
        end: int,
        *,
        before: bytes = b"",
        after: bytes = b"",
        name: str = "",
        indent: int = -1,
        json: bool = False,
        unmarked: bool = False,
        key: int = 0,
    ) -> None:
        """State a place."""
        self.query = query
        self.start = start
        self.end = end
        self.before = before
        self.after = after
        self.name = name
        self.indent = indent
        self.json = json
        self.unmarked = unmarked
        self.key = key

    def lead(self, line: bytes) -> bytes:
        """Return what a line for an inlined function begins with."""
        return line[: self.indent] + (self.before if self.indent == self.start else b"")


def text(part: bytes | None) -> str:
    """Return a part of a line as text, bytes that are not UTF-8 as surrogates."""
    return (part or b"").decode("utf-8", "surrogateescape")
