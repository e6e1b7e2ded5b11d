"""The file that says whom to trust, on the disk. Source: TRU-5, TRU-7.

What is in it is for `okld.bundle.trust`. A start that remembers an admission reads this file too,
for its digest: nothing here imports more than a start has.
"""

from __future__ import annotations

import os

from okld.base.errors import FormatError, Refusal, Unreadable
from okld.base.limits import MAX_TRUST

_REGULAR = 0o100000
_TYPE = 0o170000
_STICKY = 0o1000
_OTHERS_WRITE = 0o022


def read_trust_file(path: str, *, required: bool = False) -> bytes:
    """
    Return the bytes of the trust file at *path*; none where it is not *required* and not there.

    Raises:
        Refusal: TRU-5, if somebody else can change it.
        FormatError: TRU-1, if it is too long.
        Unreadable: If the system does not give it.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not required:
            return b""
        raise Unreadable("trust file", path, error) from None
    try:
        _require_ours(fd, path)
        data = b""
        while len(data) <= MAX_TRUST and (more := os.read(fd, MAX_TRUST + 1)):
            data += more
    except OSError as error:
        raise Unreadable("trust file", path, error) from None
    finally:
        os.close(fd)
    if len(data) > MAX_TRUST:
        raise FormatError("TRU-1", f"trust file {path} is too long", limit=MAX_TRUST)
    return data


def _require_ours(fd: int, path: str) -> None:
    """Refuse a file that another user can change, or put another in the place of."""
    status = os.fstat(fd)
    if status.st_mode & _TYPE != _REGULAR:
        raise Refusal("TRU-5", f"trust file {path} is not a regular file")
    _require_owner(status, f"trust file {path}")
    if status.st_mode & _OTHERS_WRITE:
        raise Refusal("TRU-5", f"trust file {path} can be written by others; chmod go-w it")
    # A symbolic link is followed: the directory that it lies in counts, and that it leads to.
    for place in {os.path.dirname(path) or ".", os.path.dirname(os.path.realpath(path))}:
        require_own_directory(place)


def require_own_directory(path: str) -> None:
    """
    Refuse a directory in which another user can replace a file of ours.

    Raises:
        Refusal: TRU-5.
        OSError: If there is no such directory.
    """
    status = os.stat(path)
    _require_owner(status, f"directory {path} of the trust file")
    if status.st_mode & _OTHERS_WRITE and not status.st_mode & _STICKY:
        raise Refusal("TRU-5", f"directory {path} of the trust file can be written by others")


def _require_owner(status: os.stat_result, what: str) -> None:
    if status.st_uid not in (os.geteuid(), 0):
        raise Refusal("TRU-5", f"{what} is of another owner (user {status.st_uid})")
