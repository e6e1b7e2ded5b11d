"""Writing a file at once or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress

from okld.base.errors import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


@contextmanager
def replacing(path: str, what: str) -> Iterator[BinaryIO]:
    """
    Give a new file, to be written and read, which takes the place of *path* at the end.

    Where the block raises, nothing is left of it and *path* is what it was. A link stays one: what
    it leads to is replaced.

    Raises:
        Unreadable: If *path* is something else than a regular file, or the system refuses, also
            within the block; *what* is in the message.
    """
    place = os.path.realpath(path)
    if os.path.lexists(place) and not os.path.isfile(place):
        refused = OSError(errno.EINVAL, "not a regular file")
        raise Unreadable(f"{what} cannot be written", path, refused)
    part = f"{place}.{os.getpid()}.part"
    try:
        with open(part, "x+b") as file:
            try:
                yield file
                file.flush()
                os.replace(part, place)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part)
                raise
    except OSError as error:
        raise Unreadable(f"{what} cannot be written", path, error) from None
