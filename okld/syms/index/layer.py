"""One kind of what an index knows, in as many packs as there are: names, or lines."""

from __future__ import annotations

import os

from okld.syms.index.blocks import Lines, Names
from okld.syms.index.format import Unusable, unseal
from okld.syms.index.pack import END, LINES, NAMES, NOTHING, UNKNOWN, Pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS = {"names": NAMES, "lines": LINES}
MAX_HELD = 1 << 26  # bytes of payloads that are kept: all units of a kernel

FAULTS = (Unusable, OSError, LookupError, ValueError, TypeError, OverflowError)
"""What can come of a cache that is broken, or that somebody has written who meant to break it."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TYPE, _REGULAR, _OTHERS = 0o170000, 0o100000, 0o077


def open_ours(folder: int, name: str) -> tuple[int, os.stat_result]:
    """
    Open a file of the cache; return its descriptor and its status.

    Raises:
        OSError: If the system does not give it.
        Unusable: If it is not a regular file of ours alone.

    Source: IDX-2.
    """
    fd = os.open(name, _FILE, dir_fd=folder)
    status = os.fstat(fd)
    ours = status.st_uid == os.geteuid() and not status.st_mode & _OTHERS
    if not ours or status.st_mode & _TYPE != _REGULAR:
        os.close(fd)
        raise Unusable("the file is not ours alone")
    return fd, status


class Nothing:
    """That there is no block for an address, and that this is known."""


NONE = Nothing()


class Layer:
    """All packs of one kind, opened one after the other until one knows an address."""

    __slots__ = ("_blocks", "_folder", "_held", "_kind", "_packs", "_unopened")

    def __init__(self, folder: int, prefix: str, kind: int) -> None:
        """Take the packs of the directory *folder* whose names begin with *prefix*."""
        self._folder = folder
        self._kind = kind
        self._unopened = sorted(name for name in os.listdir(folder) if name.startswith(prefix))
        self._packs: list[Pack] = []
        self._blocks: dict[tuple[int, int], Names | Lines] = {}
        self._held = 0

    def close(self) -> None:
        """Close every pack."""
        for pack in self._packs:
            pack.close()

    def find(self, address: int) -> tuple[Names | Lines | Nothing | None, int]:
        """
        Return the block of a link address, and up to which address it is that of; NONE where it is
        known that there is none, and None where that is not known.
        """
        end = END
        for at, pack in enumerate(self._opened()):
            part, until = pack.part_at(address)
            if part == NOTHING:
                return NONE, until
            if part != UNKNOWN:
                return self._block(at, pack, part), until
            end = min(end, until)
        return None, end

    def _opened(self) -> Iterator[Pack]:
        yield from self._packs
        while self._unopened:
            name = self._unopened.pop(0)
            try:
                fd, _ = open_ours(self._folder, name)
            except (OSError, Unusable):  # somebody has just put it together with others
                continue
            try:
                pack = Pack(fd, self._kind)
            except FAULTS:
                os.close(fd)
                continue
            self._packs.append(pack)
            yield pack

    def _block(self, at: int, pack: Pack, part: int) -> Names | Lines:
        block = self._blocks.get((at, part))
        if block is None:
            payload = unseal(pack.block(part))
            block = Names(payload) if self._kind == NAMES else Lines(payload)
            self._held += block.size
            while self._held > MAX_HELD and self._blocks:
                self._held -= self._blocks.pop(next(iter(self._blocks))).size
            self._blocks[at, part] = block
        return block
