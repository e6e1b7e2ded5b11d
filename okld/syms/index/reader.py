"""Answers from the index: `open_index` opens the one of a file, if there is one that holds.

Every fault here is a miss: whoever asks then reads the file itself. Source: IDX-1 to IDX-6.
"""

from __future__ import annotations

import os

from okld.base.identity import identity_of
from okld.base.place import cache_dir, is_elevated
from okld.base.private import NotOurs, open_directory
from okld.syms.answer import Miss
from okld.syms.index import head as heads
from okld.syms.index.blocks import Lines, Names
from okld.syms.index.format import Unusable
from okld.syms.index.layer import FAULTS, LAYERS, Layer, open_ours
from okld.syms.joined import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from okld.image.open import OpenFile
    from okld.syms.answer import Found, Frame
    from okld.syms.index.head import Head
    from okld.syms.index.symbol_pieces import SymbolPieces
    from okld.syms.options import Options

APPLICATION, FOLDER = "okld", "symbols"
AT_ONCE = 1 << 14  # addresses that are sorted at a time; their answers take some 8 MB
TOUCHED = 86400 * 10**9  # ns; how exact a head's last use is known


def folder_path() -> str | None:
    """Return where all indexes are, or None where there is no place for them. Source: IDX-1."""
    place = cache_dir(APPLICATION, elevated=is_elevated())
    return place and f"{place}/{FOLDER}"


def open_index(file: OpenFile, options: Options, now: int = 0) -> Index | None:
    """
    Return the index of an open file, or None where there is none that holds.

    Args:
        file: The file; nothing of it is read.
        options: What the question is.
        now: In nanoseconds since 1970, where the use is to be noted.
    """
    status = file.status
    path = folder_path() if options.cache and status else None
    if path is None or status is None:
        return None
    try:
        folder = open_directory(path)
    except (OSError, NotOurs):
        return None
    try:
        head = read_head(folder, heads.name_of(file.path, identity_of(status), options), now)
        if heads.stale(head, status):
            return None
        packs = open_directory(head.key, folder)
    except (NotOurs, *FAULTS):
        return None
    finally:
        os.close(folder)
    return Index(head, packs)


def read_head(folder: int, name: str, now: int = 0) -> Head:
    """
    Return a head of the directory that is open as *folder*; a use at *now* is noted.

    Raises:
        OSError: If the system does not give it.
        Unusable: If it is none, or not ours alone.
    """
    fd, status = open_ours(folder, name)
    try:
        if status.st_size > heads.MAX_HEAD:
            raise Unusable("the head is too long")
        head = heads.decode(os.pread(fd, status.st_size, 0))
        if now and abs(now - status.st_mtime_ns) > TOUCHED:
            _touch(fd, now)
    finally:
        os.close(fd)
    if not head.key or "/" in head.key or head.key.startswith("."):
        raise Unusable("the head is malformed")
    return head


class Index:
    """
    The index of one file, open.

    Attributes:
        head: What it is of, and the headers of the file.
        pieces: What `okld.syms.index.bulk` has made of it.
    """

    def __init__(self, head: Head, folder: int) -> None:
        """Take over the directory of its packs, which is open as *folder*."""
        self.head = head
        self.pieces: SymbolPieces | None = None
        self._folder = folder
        self._names: Layer | None = None
        self._lines: Layer | None = None

    def close(self) -> None:
        """Close every file; what was answered stays valid."""
        for layer in (self._names, self._lines):
            if layer is not None:
                layer.close()
        if self._folder >= 0:
            os.close(self._folder)
        self._folder = -1
        self._names = self._lines = self.pieces = None

    def lookup(self, address: int, *, lines: bool = True) -> Found | Miss | None:
        """
        Return what is known of a link *address*, or None where the file itself has to be asked.

        Args:
            address: A link address.
            lines: Whether frames are wanted, as `okld.syms.symbolizer.Symbols.lookup` takes it.
        """
        return self._known((address,), lines)[0]

    def lookup_many(
        self, addresses: Iterable[int], *, lines: bool = True
    ) -> Iterator[Found | Miss | None]:
        """Give for each of *addresses* what `lookup` returns, much faster where they are many."""
        waiting: list[int] = []
        for address in addresses:
            waiting.append(address)
            if len(waiting) == AT_ONCE:
                yield from self._known(waiting, lines)
                waiting.clear()
        yield from self._known(waiting, lines)

    def _known(self, addresses: Sequence[int], lines: bool) -> list[Found | Miss | None]:
        answers: list[Found | Miss | None] = [None] * len(addresses)
        order = sorted(range(len(addresses)), key=addresses.__getitem__)
        try:
            if lines:
                self._with_lines(addresses, order, answers)
            else:
                self._without(addresses, order, answers)
        except FAULTS:
            return answers  # those that were given are right: every block is checked by itself
        return answers

    def _without(
        self, addresses: Sequence[int], order: list[int], answers: list[Found | Miss | None]
    ) -> None:
        names = self.layer("names")
        names_end = -1
        for index in order:
            address = addresses[index]
            if address >= names_end:
                block, names_end = names.find(address)
            if isinstance(block, Names):
                answers[index] = block.at(address)

    def _with_lines(
        self, addresses: Sequence[int], order: list[int], answers: list[Found | Miss | None]
    ) -> None:
        layer, names = self.layer("lines"), self.layer("names")
        end = names_end = -1
        told = Told()
        for index in order:
            address = addresses[index]
            if address >= end:
                block, end = layer.find(address)
            if block is None:
                continue
            if address >= names_end:
                named, names_end = names.find(address)
            if not isinstance(named, Names):
                continue
            answer = named.at(address)
            if isinstance(block, Lines):
                told.frames, told.low = block.at(address)
                answer = joined(answer, told, address)  # type: ignore[arg-type]
            answers[index] = answer

    def layer(self, name: str) -> Layer:
        """Return all that is known of "names" or of "lines"."""
        layer = self._names if name == "names" else self._lines
        if layer is None:
            layer = Layer(self._folder, f"{self.head.stamp}.{name}.", LAYERS[name])
            if name == "names":
                self._names = layer
            else:
                self._lines = layer
        return layer


class Told:
    """What debug information says of an address: `okld.syms.dwarf.reader.Lines`'s attributes."""

    __slots__ = ("frames", "low", "notes")

    frames: tuple[Frame, ...]
    low: int | None
    notes: tuple[str, ...]

    def __init__(self) -> None:
        """Begin without notes: units that have some are not in an index."""
        self.notes = ()


def _touch(fd: int, now: int) -> None:
    """Note a use in the modification time, which is ours whatever a mount says of access times."""
    try:
        os.utime(fd, ns=(now, now))
    except OSError:
        return
