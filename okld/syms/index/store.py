"""The files of all indexes: writing them, putting packs together, and throwing them away.

Below `okld/symbols` in the user's cache::

    HEAD                          a head; its name is that of a question (okld.syms.index.head)
    KEY/STAMP.names.RANDOM        packs: of the symbol table's answers
    KEY/STAMP.lines.RANDOM        of lines and functions

Each file is written whole or not at all, and none is ever changed: whoever reads one goes on with
it though it was removed. Source: IDX-2, IDX-7, IDX-8.
"""

from __future__ import annotations

import os
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from stat import S_ISREG

from okld.base.private import (
    NotOurs,
    make_directory,
    open_directory,
    remove_file,
    write_file,
)
from okld.syms.index.encode_pack import pack_bytes, together
from okld.syms.index.format import Unusable
from okld.syms.index.layer import FAULTS, LAYERS, open_ours
from okld.syms.index.pack import Pack
from okld.syms.index.reader import folder_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.index.encode_pack import Range

LEVELS = 3  # .cache/okld/symbols: nobody's home is made


def open_store() -> int:
    """
    Open the directory of all indexes, which is made where it is not there.

    Raises:
        Unusable: If there is no place for it, or it is not ours alone.
        OSError: If the system refuses.
    """
    path = folder_path()
    if path is None:
        raise Unusable("there is no place for a cache")
    make_directory(path, LEVELS)
    return open_private(path)


def open_private(path: str, above: int | None = None) -> int:
    """
    Open a directory of the cache.

    Raises:
        Unusable: If it is not ours alone.
        OSError: If there is none.
    """
    try:
        return open_directory(path, above)
    except NotOurs:
        raise Unusable("the cache's directory is not ours alone") from None


def open_packs(folder: int, key: str) -> int:
    """
    Open the directory of the packs of a key, which is made where it is not there.

    Raises:
        Unusable: If it is not ours alone.
        OSError: If the system refuses.
    """
    with suppress(FileExistsError):
        os.mkdir(key, 0o700, dir_fd=folder)
    return open_private(key, folder)


def has_part(packs: int) -> bool:
    """
    Have a part in a directory of packs, which nobody sweeps until it is closed. False: somebody
    does right now, or puts its packs together, or has removed it.
    """
    try:
        flock(packs, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return os.fstat(packs).st_nlink > 0


def is_anybodys(packs: int) -> bool:
    """Say whether another process has a part in a directory of packs; else it is this one's now."""
    try:
        flock(packs, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def add_pack(
    packs: int, stamp: str, layer: str, ranges: Sequence[Range], blocks: Sequence[bytes], now: int
) -> None:
    """
    Write a pack beside the others.

    Raises:
        OverflowError: As `pack_bytes`.
        OSError: If the system refuses; there is then no less than before.
    """
    name = f"{stamp}.{layer}.{os.urandom(8).hex()}"
    write_file(packs, name, pack_bytes(LAYERS[layer], ranges, blocks), now)


def overgrown(files: dict[str, int]) -> list[str]:
    """
    Return which of *files*, by their sizes, are to be put together: those of which none is larger
    than all smaller ones with it.

    That leaves some ten of thousands that were added one after the other, and writes each block as
    often: whoever adds unit after unit writes little, and whoever reads opens few.
    """
    names: list[str] = []
    total = 0
    for name, size in sorted(files.items(), key=lambda each: each[1]):
        if names and size > total:
            break
        names.append(name)
        total += size
    return names if len(names) > 1 else []


def put_together(packs: int, stamp: str, layer: str, names: Sequence[str], now: int) -> None:
    """
    Write one pack of several, and remove those; a broken one is only removed.

    Raises:
        OverflowError, OSError: As for `add_pack`.
    """
    opened, broken = [], []
    for name in names:
        try:
            opened.append(_open_pack(packs, name, LAYERS[layer]))
        except FAULTS:
            broken.append(name)
    try:
        ranges, blocks = together(opened)
        write_file(
            packs,
            f"{stamp}.{layer}.{os.urandom(8).hex()}",
            pack_bytes(LAYERS[layer], ranges, blocks),
            now,
        )
    except Unusable:
        broken = list(names)  # which of them it was does not matter: all can be found out again
    finally:
        for pack in opened:
            pack.close()
    for name in names:
        remove_file(packs, name)


def sizes(packs: int, prefix: str) -> dict[str, int]:
    """Return the size of each file of a directory whose name begins with *prefix*."""
    found = {}
    for name in os.listdir(packs):
        if name.startswith(prefix):
            try:
                status = os.stat(name, dir_fd=packs, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if S_ISREG(status.st_mode):
                found[name] = status.st_size
    return found


def _open_pack(packs: int, name: str, kind: int) -> Pack:
    fd, _ = open_ours(packs, name)
    try:
        return Pack(fd, kind)
    except BaseException:
        os.close(fd)
        raise
