"""What was found out before, found again. Every fault here is a miss, and says why.

`okrun.admission.store` writes what this reads.
"""

from __future__ import annotations

import os

from okld.base.identity import difference, identity_of
from okld.base.private import NotOurs, open_directory
from okrun.admission.identity import FILE_SYSTEMS, file_system, writable_by_others
from okrun.admission.record import MAX_RECORD, Miss, Record, checksum, decode

FOLDER = "admitted"
MAX_AGE = 30 * 86400 * 10**9  # ns
TOUCHED = 86400 * 10**9  # ns; how exact a record's last use is known

_TYPE, _REGULAR = 0o170000, 0o100000
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def name_of(asked: tuple[str, str, str, str], identity: tuple[int, ...]) -> str:
    """
    Return the name of the file that a record is in.

    What was asked, and of which file, is in the record and compared: two that meet under one name
    only put each other out. Source: CAC-2.
    """
    return checksum(" ".join([*asked, *map(str, identity[:2])]).encode())


def look_up(
    place: str | None,
    asked: tuple[str, str, str, str],
    fd: int,
    status: os.stat_result,
    trust: bytes,
    now: int,
) -> Record:
    """
    Return what is remembered of the very file that is open as *fd*.

    Args:
        place: The cache's directory, or None where there is to be none.
        asked: As `Record.asked`.
        fd: The bundle's file.
        status: That file's.
        trust: The user's trust file.
        now: In nanoseconds since 1970.

    Raises:
        Miss: If nothing is, or it does not hold (any more).

    Source: CAC-1, CAC-2.
    """
    if place is None:
        raise Miss("the cache is off")
    why = writable_by_others(status, os.geteuid())
    if why:
        raise Miss(why)
    identity = identity_of(status)
    record = _find(f"{place}/{FOLDER}", name_of(asked, identity), now)
    if record.asked != asked:
        raise Miss("the record is of something else")
    changed = difference(record.identity, identity)
    if changed:
        raise Miss(f"the file's {changed} is another")
    if record.trust != trust:
        raise Miss("the trust file is another")
    if record.stored > now:
        raise Miss("the clock went back")
    if now - record.stored > MAX_AGE:
        raise Miss("the record is too old")
    # The number of a block device is that of one file system for as long as it is there; others
    # are given to whatever is mounted next, and asking takes as long as all of the above.
    if not os.major(status.st_dev) and file_system(fd) not in FILE_SYSTEMS:
        raise Miss("the file system may not tell of changes")
    return record


def _find(path: str, name: str, now: int) -> Record:
    try:
        folder = open_folder(path)
        try:
            return read_record(folder, name, now)
        finally:
            os.close(folder)
    except FileNotFoundError:
        raise Miss("there is no record") from None
    except OSError as error:
        raise Miss(f"the record cannot be read: {error.strerror}") from None


def open_folder(path: str) -> int:
    """
    Open the directory of the records.

    Raises:
        OSError: If there is none, or it is a symbolic link.
        Miss: If another user can write to it.

    Source: CAC-8.
    """
    try:
        return open_directory(path)
    except NotOurs:
        raise Miss("the cache's directory is not ours alone") from None


def read_record(folder: int, name: str, now: int | None = None) -> Record:
    """
    Return a record of the directory that is open as *folder*; a use at *now* is noted.

    Raises:
        OSError: If the system does not give it.
        Miss: If it is none, or not ours alone.

    Source: CAC-8.
    """
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(fd)
        record = decode(_contents(fd, status))
        if now is not None and abs(now - status.st_mtime_ns) > TOUCHED:
            _touch(fd, now)
    finally:
        os.close(fd)
    return record


def _contents(fd: int, status: os.stat_result) -> bytes:
    if status.st_mode & _TYPE != _REGULAR:
        raise Miss("the record is no regular file")
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise Miss("the record is not ours alone")
    if status.st_size > MAX_RECORD:
        raise Miss("the record is too long")
    data = os.read(fd, status.st_size + 1)
    while 0 < len(data) < status.st_size:
        more = os.read(fd, status.st_size - len(data))
        if not more:
            break
        data += more
    return data


def _touch(fd: int, now: int) -> None:
    """Note a use in the modification time, which is ours whatever a mount says of access times."""
    try:
        os.utime(fd, ns=(now, now))
    except OSError:
        return
