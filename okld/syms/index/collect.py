"""What is kept in the cache, and throwing away what is too old or too much. Source: IDX-8."""

from __future__ import annotations

import os
from stat import S_ISDIR
from time import time_ns

from okld.base.private import remove_file
from okld.syms.index.format import Unusable
from okld.syms.index.head import Head
from okld.syms.index.layer import FAULTS
from okld.syms.index.pack import END
from okld.syms.index.reader import read_head
from okld.syms.index.store import is_anybodys, open_private, sizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_AGE = 30 * 86400 * 10**9  # ns that an index may be unused
MAX_BYTES = 1 << 30  # of all indexes together; a kernel's takes a twentieth
ABANDONED = 3600 * 10**9  # ns; a file that is written for so long belonged to a process that died


class Kept:
    """
    One index in the cache.

    Attributes:
        name: The name of its head.
        head: It, or why it is none.
        size: Bytes of all of it.
        used: When it was last used, to a day, in nanoseconds since 1970.
    """

    __slots__ = ("head", "name", "size", "used")

    def __init__(self, name: str, head: Head | str, size: int, used: int) -> None:
        """State one."""
        self.name = name
        self.head = head
        self.size = size
        self.used = used


def kept(store: int) -> list[Kept]:
    """Return the indexes in the directory that is open as *store*, the last used first."""
    found = []
    for name, status in _files(store):
        if S_ISDIR(status.st_mode) or name.startswith("."):
            continue
        size = status.st_size
        head: Head | str
        try:
            head = read_head(store, name)
            size += sum(_packs(store, head.key, f"{head.stamp}.").values())
        except FAULTS as error:
            head = _reason(error)
        found.append(Kept(name, head, size, status.st_mtime_ns))
    return sorted(found, key=lambda each: (-each.used, each.name))


def _reason(error: Exception) -> str:
    """Return why a head, or what belongs to it, cannot be gone by."""
    if isinstance(error, OSError):
        return error.strerror or "the system does not give it"
    return str(error) if isinstance(error, Unusable) else "the head is malformed"


def collect(store: int, now: int, spared: str = "") -> int:
    """
    Remove the indexes that are too old or too much, the longest unused first, and what belongs to
    none; return how many indexes that were.

    Args:
        store: The directory of all indexes, open.
        now: In nanoseconds since 1970.
        spared: The name of a head that stays, whatever it is.
    """
    removed = size = 0
    alive = []
    for each in kept(store):
        size += each.size
        unwanted = now - each.used > MAX_AGE or size > MAX_BYTES or isinstance(each.head, str)
        if unwanted and each.name != spared:
            removed += remove_file(store, each.name)
        elif isinstance(each.head, Head):
            alive.append((each.head.key, each.head.stamp))
    # A pack is there before its head is: a young one may be about to get one.
    _sweep(store, set(alive), now - ABANDONED, now - ABANDONED)
    return removed


def forget(store: int, names: set[str]) -> int:
    """Remove the heads *names*, and what then belongs to none; return how many that were."""
    removed = sum(remove_file(store, name) for name in sorted(names))
    heads = [each.head for each in kept(store)]
    alive = {(head.key, head.stamp) for head in heads if isinstance(head, Head)}
    _sweep(store, alive, END, time_ns() - ABANDONED)
    return removed


def _sweep(store: int, alive: set[tuple[str, str]], before: int, young: int) -> None:
    """
    Remove packs that no head speaks of, if they are from *before* that and nobody has a part in
    their directory, and parts of heads that are not *young*.
    """
    for key, status in _files(store):
        if not S_ISDIR(status.st_mode):
            if key.startswith(".") and status.st_mtime_ns < young:
                remove_file(store, key)
            continue
        try:
            packs = open_private(key, store)
        except (Unusable, OSError):
            continue
        try:
            if is_anybodys(packs):
                continue
            for name, pack in _files(packs):
                if pack.st_mtime_ns < before and (key, name.partition(".")[0]) not in alive:
                    remove_file(packs, name)
            _remove_empty(store, key)
        finally:
            os.close(packs)


def _remove_empty(store: int, key: str) -> None:
    try:
        os.rmdir(key, dir_fd=store)
    except OSError:
        return


def _packs(store: int, key: str, prefix: str) -> dict[str, int]:
    packs = open_private(key, store)
    try:
        return sizes(packs, prefix)
    finally:
        os.close(packs)


def _files(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(os.listdir(folder)):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        yield name, status
