"""The string table of a symbol table: names, of which nobody says how long they are.

Names may overlap, so that a small file can hold a million long ones: what is asked of every symbol
reads the head of its name, and no more. The table of a large program takes longer to read than its
symbols: it is read when many names are asked for.
"""

from __future__ import annotations

from okld.syms.choose import is_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View

RULE = "SYM-1"
CORRUPT = "<corrupt>"
HEAD = 64
"""Bytes of a name that tell mapping symbols and count underscores. Source: SYM-2, SYM-5."""

PIECE = 4096  # bytes that are read at a time in search of a name's end


class Strings:
    """
    A string table; bytes of a name that are not UTF-8 are surrogates, as in `os.fsdecode`.

    Attributes:
        end: Past the last NUL: no name that begins here or later has an end.
    """

    __slots__ = ("_data", "_versioned", "_view", "end")

    def __init__(self, view: View, *, versioned: bool) -> None:
        """Take the table's bytes; *versioned*: a name ends before the "@" of its version."""
        self._view = view
        self._versioned = versioned
        self._data: bytes | None = None
        self.end = self._end()

    def whole(self) -> bytes:
        """Return the table, from now on in memory."""
        if self._data is None:
            self._data = bytes(self._view.window(0, self._view.size, "string table", RULE))
        return self._data

    def name(self, offset: int) -> tuple[str, str]:
        """
        Return the name at *offset* and its version, "" for none; "<corrupt>" for a name that does
        not lie in the table.

        At offset 0 is the name of what has none. Source: SYM-1; gABI, "String Table".
        """
        if offset == 0:
            return "", ""
        if offset >= self.end:
            return CORRUPT, ""
        if self._data is not None:
            return self._split(self._data[offset : self._data.index(b"\0", offset)])
        size = HEAD
        while True:
            found, nul, _ = self._bytes(offset, size).partition(b"\0")
            if nul:
                return self._split(found)
            size *= 8

    def head(self, offset: int) -> str:
        """Return what `name` gives, without the version, cut after HEAD bytes."""
        if offset >= self.end:
            return CORRUPT
        return self._split(self._bytes(offset, HEAD).partition(b"\0")[0])[0]

    def is_answer(self, offset: int) -> bool:
        """Say whether the name at *offset* can be one of an answer. Source: SYM-2."""
        head = self.head(offset)
        return head != "" and not is_mapping(head)

    def short(self, offset: int, limit: int) -> str | None:
        """Return the name at *offset* without its version, or None if it has over *limit* bytes."""
        if offset < self.end and b"\0" not in self._bytes(offset, limit + 1):
            return None
        return self.name(offset)[0]

    def _bytes(self, offset: int, size: int) -> bytes:
        if self._data is not None:
            return self._data[offset : offset + size]
        size = min(size, self._view.size - offset)
        return bytes(self._view.window(offset, size, "string table", RULE))

    def _end(self) -> int:
        end = self._view.size
        while end:
            start = max(0, end - PIECE)
            piece = bytes(self._view.window(start, end - start, "string table", RULE))
            nul = piece.rfind(b"\0")
            if nul >= 0:
                return start + nul + 1
            end = start
        return 0

    def _split(self, name: bytes) -> tuple[str, str]:
        # An "@" at the start is the name's own: there would be nothing left to have a version.
        at = name.find(b"@", 1) if self._versioned else -1
        if at < 0:
            return name.decode("utf-8", "surrogateescape"), ""
        version = name[at + 1 :].removeprefix(b"@")
        return name[:at].decode("utf-8", "surrogateescape"), version.decode(
            "utf-8", "surrogateescape"
        )
