"""The directories that an image is given, as ``--dir`` and its like name them. Source: FS-1."""

from __future__ import annotations

import os
import stat
from errno import ENOTDIR

from okld.base.errors import Unreadable
from okrun.measuring import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DIRECTORIES = 64
MAX_DIGITS = 9
"""Of a descriptor, as in the plan."""

NONE = b"\0"
"""What the plan's `preopens` says where none is given; empty, it says those of FS-1."""


class Grants:
    """
    Directories that an image is given.

    Attributes:
        fds: Their open descriptors, above the standard streams.
        names: The names that they are given under, in the same order.
    """

    __slots__ = ("fds", "names")

    def __init__(self, fds: tuple[int, ...], names: tuple[bytes, ...]) -> None:
        self.fds = fds
        self.names = names

    def encode(self) -> bytes:
        """Return the plan's `preopens`."""
        words = zip(self.fds, self.names, strict=True)
        return b"".join(b"%d\0%s\0" % word for word in words) or NONE


def open_grants(directories: Iterable[str | tuple[str, str]], inherited: Iterable[str]) -> Grants:
    """
    Open what ``--dir`` names, and take what ``--dir-fd`` passes on.

    Args:
        directories: ``PATH`` or ``PATH=NAME`` each, or both in a tuple; a PATH that has an "=" has
            to be given with a NAME.
        inherited: ``FD=NAME`` each; whoever started this program left the descriptor open.

    Raises:
        Usage: If one is not of this form, or there are more than MAX_DIRECTORIES.
        Unreadable: If a directory cannot be opened, or a descriptor is none of a directory.
    """
    grants = [_inherited(word) for word in inherited]
    given = len(grants)
    try:
        for directory in directories:
            path, name = directory if isinstance(directory, tuple) else _split(directory)
            if not path or not name or "\0" in path + name:
                raise Usage(f"--dir takes PATH or PATH=NAME (got '{path}={name}')")
            grants.append((_open(path), os.fsencode(name)))
        if len(grants) > MAX_DIRECTORIES:
            raise Usage(f"at most {MAX_DIRECTORIES} directories can be given (got {len(grants)})")
    except BaseException:
        close(fd for fd, _ in grants[given:])
        raise
    return Grants(tuple(fd for fd, _ in grants), tuple(name for _, name in grants))


def close(fds: Iterable[int]) -> None:
    """Close what `open_grants` opened, once it is passed on."""
    for fd in fds:
        os.close(fd)


def _split(word: str) -> tuple[str, str]:
    path, equals, name = word.rpartition("=")
    return (path, name) if equals else (word, word)


def _inherited(word: str) -> tuple[int, bytes]:
    """Read FD=NAME; the descriptor has to be one of a directory, and no standard stream."""
    fd, equals, name = word.partition("=")
    digits = fd.isdecimal() and fd.isascii() and len(fd) <= MAX_DIGITS
    if not (equals and name and digits and int(fd) > 2):
        raise Usage(f"--dir-fd takes FD=NAME, with an open descriptor above 2 (got '{word}')")
    try:
        status = os.fstat(int(fd))
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
    except OSError as error:
        raise Unreadable("--dir-fd", fd, error) from None
    return int(fd), os.fsencode(name)


def _open(path: str) -> int:
    """Open a directory, which need not be one that can be listed, above the standard streams."""
    flags = os.O_DIRECTORY | os.O_CLOEXEC
    try:
        try:
            fd = os.open(path, os.O_RDONLY | flags)
        except PermissionError:
            fd = os.open(path, os.O_PATH | flags)
        if fd > 2:
            return fd
        from fcntl import F_DUPFD_CLOEXEC, fcntl

        high = fcntl(fd, F_DUPFD_CLOEXEC, 3)
        os.close(fd)
        return high
    except OSError as error:
        raise Unreadable("--dir", path, error) from None
