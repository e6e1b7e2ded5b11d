"""Reading through a library that was not written for hostile bytes: only one error comes out."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

from okld.base.errors import FormatError, OkError
from okld.base.limits import MAX_COPIES, MAX_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE = "CLI-4"


@contextmanager
def reading(what: str) -> Iterator[None]:
    """
    Run a reader of *what* files without its warnings.

    Raises:
        FormatError: In place of whatever else the reader raises (CLI-4).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lief warns of every number that it has no name for
            yield
    except OkError:
        raise
    except Exception as error:  # any: what a reader in C++ raises for hostile bytes is not stated
        raise unreadable(what, f"{type(error).__name__}: {error}") from None


def limit_copies(sizes: Iterable[int], size: int) -> None:
    """
    Return if what the reader copies, parts of these *sizes* of a file of *size* bytes, fits memory.

    Raises:
        FormatError: If so many of the parts overlap that it may not (CLI-4).
    """
    copied, limit = sum(min(each, size) for each in sizes), MAX_COPIES * size
    if copied > limit:
        what = "bytes of all segments and sections together"
        raise FormatError(RULE, what, got=copied, limit=limit)


def limit_names(offsets: Iterable[int], strings: bytes) -> None:
    """
    Return if the names at *offsets* of a table of *strings*, which may overlap, fit memory.

    Raises:
        FormatError: If they are more than MAX_NAMES bytes together (CLI-4).
    """
    room, size = MAX_NAMES, len(strings)
    for offset in offsets:
        end = strings.find(b"\0", offset)
        room -= (size if end < 0 else end) - min(offset, size)
        if room < 0:
            raise FormatError(RULE, "bytes of all names together", limit=MAX_NAMES)


def unreadable(what: str, reason: str = "") -> FormatError:
    """Return the error for a file that has the magic of a *what* file and makes no sense as one."""
    return FormatError(RULE, f"no {what} file that can be read", got=reason or None, at=0)


def word(value: object) -> str:
    """Return the reader's name for a number, or the number in hexadecimal where it has none."""
    name = getattr(value, "name", None)
    return str(name) if name else f"{value:#x}"


def text(name: str | bytes) -> str:
    """Return a name of the file; bytes that are not UTF-8 as surrogates."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
