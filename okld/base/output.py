"""Writing a file at once or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from okld.base.errors import OkError, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


@contextmanager
def replacing(path: str, what: str) -> Iterator[BinaryIO]:
    """
    Give a new file, to be written and read, which takes the place of *path* at the end.

    Where the block raises, nothing is left of it and *path* is what it was.

    Raises:
        OkError: If *path* is something else than a regular file.
        Unreadable: If the system refuses, also within the block; *what* is in the message.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise OkError(f"{what} cannot be written: {path}: not a regular file")
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "x+b") as file:
            yield file
        os.replace(part, path)
    except OSError as error:
        raise Unreadable(f"{what} cannot be written", path, error) from None
    finally:
        with suppress(OSError):
            os.unlink(part)
