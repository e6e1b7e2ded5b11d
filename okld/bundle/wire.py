"""The wire format of SSH: strings with their lengths, and numbers.

Source: RFC 4251, section 5.
"""

from __future__ import annotations

from okld.base.errors import FormatError


class Wire:
    """
    Reads fields from the start of *data* on; `end` says that nothing is left.

    Every method raises FormatError with *rule* where the bytes are no such field; *what* names in
    the message what is being read.
    """

    __slots__ = ("_at", "_data", "_rule", "_what")

    def __init__(self, data: bytes, what: str, rule: str) -> None:
        self._data = data
        self._at = 0
        self._what = what
        self._rule = rule

    def take(self, size: int) -> bytes:
        """Return the next *size* bytes."""
        left = len(self._data) - self._at
        if size > left:
            raise self.fault("is cut short", got=size, limit=left)
        self._at += size
        return self._data[self._at - size : self._at]

    def byte(self) -> int:
        """Return the next byte as a number."""
        return self.take(1)[0]

    def u32(self) -> int:
        """Return the next four bytes as a number."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """Return the bytes of the next string."""
        return self.take(self.u32())

    def name(self) -> str:
        """Return the next string as a name: any bytes but ASCII's are shown as U+DC80 to U+DCFF."""
        return self.string().decode("ascii", "surrogateescape")

    def positive(self) -> int:
        """Return the next `mpint`, which is to be above zero and in its shortest form."""
        data = self.string()
        if not data or data[0] & 0x80 or (data[0] == 0 and data[1:2] < b"\x80"):
            raise self.fault("has a number that is not positive and in its shortest form")
        return int.from_bytes(data, "big")

    def end(self) -> None:
        """Return when every byte has been read."""
        left = len(self._data) - self._at
        if left:
            raise self.fault("has bytes after its last field", got=left)

    def fault(self, how: str, *, got: int | None = None, limit: int | None = None) -> FormatError:
        """Return the error that says *how* the bytes are wrong."""
        return FormatError(self._rule, f"{self._what} {how}", got=got, limit=limit)


def string(data: bytes) -> bytes:
    """Return *data* as a string on the wire."""
    return len(data).to_bytes(4, "big") + data


def positive(number: int) -> bytes:
    """Return a number above zero as an `mpint` on the wire."""
    return string(number.to_bytes(number.bit_length() // 8 + 1, "big"))
