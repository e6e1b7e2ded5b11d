"""Writing what is remembered, and throwing it away. Nothing is written elsewhere.

Source: CAC-7, CAC-12.
"""

from __future__ import annotations

import os
from contextlib import suppress
from stat import S_ISDIR

from attrs import frozen

from okld.base import private
from okrun.admission.cache import FOLDER, MAX_AGE, name_of, open_folder, read_record
from okrun.admission.record import MAX_RECORD, Miss, Record, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RECORDS = 256
MAX_BYTES = 1 << 26
ABANDONED = 3600 * 10**9  # ns; a file that is written for so long belonged to a process that died

_LEVELS = 3  # .cache/okrun/admitted: nobody's home is made


@frozen(kw_only=True)
class Kept:
    """
    A file of the cache.

    Attributes:
        name: Its name in the directory.
        size: In bytes.
        used: When it was last used, to a day, in nanoseconds since 1970.
    """

    name: str
    size: int
    used: int

    @property
    def is_part(self) -> bool:
        """Whether it has not been written to its end, or not yet."""
        return self.name.startswith(".")


def store(place: str, record: Record, now: int) -> str:
    """
    Remember *record* in the cache at *place*; return why that is not possible, or "".

    A whole record takes the place of another in one step, or none does. *now* is in nanoseconds
    since 1970.
    """
    data = encode(record)
    if len(data) > MAX_RECORD:
        return "the record would be too long"
    path = f"{place}/{FOLDER}"
    try:
        private.make_directory(path, _LEVELS)
        folder = open_folder(path)
        try:
            name = name_of(record.asked, record.identity)
            private.write_file(folder, name, (data,), now)
            collect(folder, now, spared=name)
        finally:
            os.close(folder)
    except OSError as error:
        return f"the cache cannot be written: {error.strerror}"
    except Miss as reason:
        return str(reason)
    return ""


def kept(folder: int) -> list[Kept]:
    """
    Return the files of the directory that is open as *folder*, the last used first.

    A directory in it is not ours to empty, and keeps nothing of ours.
    """
    found = []
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not S_ISDIR(status.st_mode):
                found.append(Kept(name=name, size=status.st_size, used=status.st_mtime_ns))
    return sorted(found, key=lambda file: (-file.used, file.name))


def collect(folder: int, now: int, spared: str = "") -> int:
    """
    Remove what is too old or too much, the longest unused first; return how many that were.

    *spared* stays whatever it is. Source: CAC-12.
    """
    removed = count = size = 0
    for file in kept(folder):
        if file.is_part:
            unwanted = now - file.used > ABANDONED
        else:
            count, size = count + 1, size + file.size
            unwanted = now - file.used > MAX_AGE or count > MAX_RECORDS or size > MAX_BYTES
        if unwanted and file.name != spared:
            removed += remove(folder, file.name)
    return removed


def remove(folder: int, name: str) -> bool:
    """Remove one file of the cache; say whether it was this call that did."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def records(folder: int) -> Iterator[tuple[Kept, Record | str]]:
    """Yield each file of the cache that is whole, with its record or with why it is none."""
    for file in kept(folder):
        if not file.is_part:
            try:
                yield file, read_record(folder, file.name)
            except OSError as error:
                yield file, str(error.strerror)
            except Miss as reason:
                yield file, str(reason)
