"""The one checked door to the bytes of a file.

A reader asks for a window before it decodes anything; there is no other way to a byte, so that no
reader can run past the end. A view over an open file reads what is asked for and nothing else.
"""

from __future__ import annotations

import os

from okld.base.errors import FormatError, Unreadable


class View:
    """
    The bytes of one file, or of a part of one.

    Attributes:
        size: How many bytes there are.
    """

    __slots__ = ("_data", "_fd", "_start", "size")

    def __init__(self, data: memoryview | None, fd: int, start: int, size: int) -> None:
        self._data = data
        self._fd = fd
        self._start = start
        self.size = size

    @classmethod
    def of_bytes(cls, data: bytes | bytearray | memoryview) -> View:
        """Return a view of bytes in memory."""
        flat = memoryview(data).cast("B")
        return cls(flat, -1, 0, len(flat))

    @classmethod
    def of_fd(cls, fd: int, size: int, offset: int = 0) -> View:
        """
        Return a view of *size* bytes, from *offset* on, of an open file that can seek.

        The descriptor stays the caller's, and its position is not moved.
        """
        return cls(None, fd, offset, size)

    def window(self, offset: int, size: int, what: str, rule: str) -> memoryview | bytes:
        """
        Return the *size* bytes at *offset*, counted from the first byte of the view.

        Raises:
            FormatError: With *rule*, if any of them lies outside the view, or the file has shrunk
                since.
            Unreadable: If the system refuses to read them.
        """
        if offset < 0 or size < 0 or offset > self.size - size:
            raise FormatError(
                rule, f"{what} is past the end", got=offset + size, limit=self.size, at=offset
            )
        if self._data is not None:
            return self._data[offset : offset + size]
        return self._pread(offset, size, what, rule)

    def part(self, offset: int, size: int, what: str, rule: str) -> View:
        """
        Return a view of the *size* bytes at *offset* alone, counted from the view's first byte.

        Raises:
            FormatError: With *rule*, if any of them lies outside the view.
        """
        if offset < 0 or size < 0 or offset > self.size - size:
            raise FormatError(
                rule, f"{what} is past the end", got=offset + size, limit=self.size, at=offset
            )
        data = None if self._data is None else self._data[offset : offset + size]
        return View(data, self._fd, self._start + offset, size)

    def _pread(self, offset: int, size: int, what: str, rule: str) -> bytes:
        try:
            data = os.pread(self._fd, size, self._start + offset)
            while len(data) < size:
                more = os.pread(self._fd, size - len(data), self._start + offset + len(data))
                if not more:
                    raise FormatError(
                        rule,
                        f"{what} is past the end of a file that shrank",
                        got=offset + size,
                        at=offset,
                    )
                data += more
        except OSError as error:
            raise Unreadable(what, "", error) from None
        return data
