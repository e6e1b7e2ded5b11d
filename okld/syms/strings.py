"""The string table of a symbol table: names, of which nobody says how long they are.

Names may overlap, so that a small file can hold a million long ones: what is asked of every symbol
reads the head of its name, and no more.
"""

from __future__ import annotations

from okld.syms.choose import is_mapping

CORRUPT = "<corrupt>"
HEAD = 64
"""Bytes of a name that tell mapping symbols and count underscores. Source: SYM-2, SYM-5."""


class Strings:
    """A string table; bytes of a name that are not UTF-8 are surrogates, as in `os.fsdecode`."""

    __slots__ = ("_data", "_end", "_versioned")

    def __init__(self, data: bytes, *, versioned: bool) -> None:
        """Take the table's bytes; *versioned*: a name ends before the "@" of its version."""
        self._data = data
        self._end = data.rfind(b"\0") + 1
        self._versioned = versioned

    def name(self, offset: int) -> tuple[str, str]:
        """
        Return the name at *offset* and its version, "" for none; "<corrupt>" for a name that does
        not lie in the table.

        At offset 0 is the name of what has none. Source: SYM-1; gABI, "String Table".
        """
        if offset == 0:
            return "", ""
        if offset >= self._end:
            return CORRUPT, ""
        return self._split(self._data[offset : self._data.index(b"\0", offset)])

    def head(self, offset: int) -> str:
        """Return what `name` gives, without the version, cut after HEAD bytes."""
        if offset >= self._end:
            return CORRUPT
        return self._split(self._data[offset : offset + HEAD].partition(b"\0")[0])[0]

    def is_answer(self, offset: int) -> bool:
        """Say whether the name at *offset* can be one of an answer. Source: SYM-2."""
        if offset < self._end and self._data[offset] in b"\0$":
            head = self.head(offset)
            return head != "" and not is_mapping(head)
        return True

    def short(self, offset: int, limit: int) -> str | None:
        """Return the name at *offset* without its version, or None if it has over *limit* bytes."""
        if offset < self._end and self._data.find(b"\0", offset, offset + limit + 1) < 0:
            return None
        return self.name(offset)[0]

    def _split(self, name: bytes) -> tuple[str, str]:
        # An "@" at the start is the name's own: there would be nothing left to have a version.
        at = name.find(b"@", 1) if self._versioned else -1
        if at < 0:
            return name.decode("utf-8", "surrogateescape"), ""
        version = name[at + 1 :].removeprefix(b"@")
        return name[:at].decode("utf-8", "surrogateescape"), version.decode(
            "utf-8", "surrogateescape"
        )
