"""Directories of files that are this user's alone, and are written whole or not at all.

Source: CAC-7 to CAC-9, IDX-2.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_OTHERS_WRITE = 0o022


class NotOurs(Exception):
    """A directory that another user owns, or may write to."""


def open_directory(path: str, above: int | None = None) -> int:
    """
    Open a directory of ours, in the one that is open as *above* where that is given.

    Raises:
        OSError: If there is none, or it is a symbolic link.
        NotOurs: If another user can write to it.
    """
    folder = os.open(path, _DIRECTORY, dir_fd=above)
    status = os.fstat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE:
        os.close(folder)
        raise NotOurs
    return folder


def make_directory(path: str, levels: int) -> None:
    """
    Make a directory, and at most *levels* with it, for nobody else to look into.

    None is made in a directory that is another user's: what root makes in a user's home, with
    HOME still the user's, would be in that user's way for ever.

    Raises:
        OSError: If that is not possible.
    """
    try:
        parent = os.path.dirname(path)
        if levels and not os.path.exists(path):
            make_directory(parent, levels - 1)
            if os.stat(parent).st_uid not in (os.geteuid(), 0):
                raise PermissionError(0, f"{parent} is another user's")
            os.mkdir(path, 0o700)
    except FileExistsError:
        return


def write_file(folder: int, name: str, parts: Iterable[bytes], used: int) -> None:
    """
    Write a file of mode 0600 into the directory that is open as *folder*, in the place of another.

    Args:
        folder: The directory.
        name: The file's name in it.
        parts: Its bytes, in order.
        used: Its modification time, in nanoseconds since 1970.

    Raises:
        OSError: If the system refuses; nothing is left then.
    """
    part = f".{name}.{os.urandom(8).hex()}"
    fd = os.open(part, _NEW, 0o600, dir_fd=folder)
    try:
        try:
            for data in parts:
                left = memoryview(data)
                while left:
                    left = left[os.write(fd, left) :]
            os.utime(fd, ns=(used, used))
        finally:
            os.close(fd)
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        remove_file(folder, part)
        raise


def remove_file(folder: int, name: str) -> bool:
    """Remove a file of the directory that is open as *folder*; say whether that was done."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True
