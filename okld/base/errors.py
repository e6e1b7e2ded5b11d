"""The errors of okld and okrun: one root, one class for each decision that a caller can take.

Every message is one line, lower case, with no full stop:
``what (got X, limit Y, at byte Z) [RULE]``. Callers read attributes, not text.
"""

from __future__ import annotations


def printable(name: str | bytes) -> str:
    """
    Return *name* with every byte as ``\\xNN`` that a terminal may act on or that is not UTF-8.

    Characters that Unicode calls not printable (controls, text direction marks, lone surrogates)
    are escaped byte by byte, as they stand in UTF-8; surrogates that stand for undecodable bytes
    give those bytes.

    Source: ERR-2.
    """
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def _restored(kind: type[OkError], args: tuple[object, ...]) -> OkError:
    error = kind.__new__(kind)
    error.args = args
    return error


class OkError(Exception):
    """
    The root of all errors that these packages raise on purpose.

    Attributes:
        rule: The id of the SPEC clause that refuses, or "" when none does.
        at: Where the fault lies, in bytes from the start of the file, or None.
        file: The path of the file that the message begins with, or "" where it names none so.
    """

    def __init__(self, what: str, *, rule: str = "", at: int | None = None) -> None:
        super().__init__(printable(what) + (f" [{rule}]" if rule else ""))
        self.rule = rule
        self.at = at
        self.file = ""

    def __str__(self) -> str:
        """Return the message, of the file where that is known."""
        text = str(self.args[0])
        return f"{printable(self.file)}: {text}" if self.file else text

    def __reduce__(self) -> tuple[object, ...]:
        """Have copies, and what another process is sent, made from what there is, not anew."""
        return _restored, (type(self), self.args), self.__dict__


class FormatError(OkError):
    """
    The bytes are not an ok image, or not what their own headers claim.

    Numbers given as *got* and *limit* are shown in hexadecimal, text as it is.
    """

    def __init__(
        self,
        rule: str,
        what: str,
        *,
        got: int | str | None = None,
        limit: int | str | None = None,
        at: int | None = None,
    ) -> None:
        parts = []
        if got is not None:
            parts.append(f"got {_shown(got)}")
        if limit is not None:
            parts.append(f"limit {_shown(limit)}")
        if at is not None:
            parts.append(f"at byte {at:#x}")
        super().__init__(f"{what} ({', '.join(parts)})" if parts else what, rule=rule, at=at)


def _shown(value: int | str) -> str:
    return value if isinstance(value, str) else f"{value:#x}"


class Refusal(OkError):
    """A sound file that may not run here, or that lacks something it needs."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(what, rule=rule)


class Unreadable(OkError):
    """
    The system refused to give the bytes.

    Attributes:
        errno: The system's error number, 0 when it gave none.
    """

    def __init__(self, what: str, path: str, os_error: OSError) -> None:
        reason = os_error.strerror or str(os_error)
        super().__init__(f"{what}: {path}: {reason}" if path else f"{what}: {reason}")
        self.errno = os_error.errno or 0
