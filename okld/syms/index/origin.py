"""What answers come from, seen as an index needs it: which files, in which state, and their key."""

from __future__ import annotations

import os

from okld import __version__
from okld.base.identity import difference, identity_of, unsettled
from okld.syms.build_id import build_id
from okld.syms.index import head as heads
from okld.syms.index.encode import Pool, payload_of, seal
from okld.syms.index.format import VERSION, Unusable, checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.debugfiles import Trail
    from okld.syms.elf_file import ElfFile
    from okld.syms.elf_sources import ElfSources

    Others = list[tuple[str, tuple[int, ...] | None]]

MAX_SECTIONS = 256  # section headers in a head; a program has 40, and an object file its functions
MAX_OTHERS = 64  # files that are looked at before an answer is given: 0.1 ms


class Origin:
    """
    The files that the answers of one index come from.

    Attributes:
        name: The name of its head.
        key: The directory of its packs: the build id or, without one, what the identity gives.
        stamp: How the names of its packs begin; another for each state of the files.
        size: Bytes of all files together.
    """

    __slots__ = ("_file", "_opened", "_others", "_sources", "key", "name", "size", "stamp")

    def __init__(self, file: OpenFile, sources: ElfSources) -> None:
        """
        Find out what *sources*, which are those of *file*, read; all of it is opened.

        Raises:
            Unusable: If one of the files cannot be told apart from what it may become.
            OkError: If they cannot be read.
        """
        self._file = file
        self._sources = sources
        sources.table()
        sources.debug()
        self._opened = [file, *_opened(sources)]
        self._others = _others(sources)
        identities = [_identity(each) for each in self._opened]
        self.size = sum(identity[2] for identity in identities)
        self.name = heads.name_of(file.path, identities[0], sources.options)
        state = (VERSION, __version__, file.path, identities, self._others)
        self.stamp = checksum(repr(state).encode("utf-8", "surrogateescape")).hex()
        self.key = build_id(sources.elf) or f"file-{self.name}"

    def check(self, now: int) -> None:
        """
        Make sure that the files are what they were when they were opened, and that a later change
        will show. *now* is in nanoseconds since 1970. Source: IDX-3, IDX-4.

        Raises:
            Unusable: If that is not so.
            OSError: If the system does not say.
        """
        for each in self._opened:
            status = os.fstat(each.fd)
            changed = difference(_identity(each), identity_of(status))
            why = f"its {changed} changed" if changed else unsettled(status, now)
            if why:
                raise Unusable(f"{each.path}: {why}")

    def head(self) -> bytes:
        """
        Return the block that says all this.

        Raises:
            OverflowError: If there are numbers that no file has.
        """
        elf, pool = self._sources.elf, Pool()
        kept = len(elf.sections) <= MAX_SECTIONS
        path = os.path.abspath(self._file.path)
        texts = [self.key, self.stamp, path, elf.damage, *self._sources.notes]
        named = [path for path, _ in self._others] + (_section_names(elf) if kept else [])
        present = [int(identity is not None) for _, identity in self._others]
        blank = (0,) * heads.FIELDS
        columns: list[list[int]] = [
            [*_identity(self._file)],
            [value for _, identity in self._others for value in identity or blank],
            present,
            [elf.header.type, elf.header.machine, elf.header.bits, int(kept)],
            [value for segment in elf.segments for value in segment],
            [value for section in elf.sections for value in section] if kept else [],
            [pool.index(name) for name in named],
            [pool.index(text) for text in texts],
        ]
        return seal(payload_of(columns, pool.strings()), compressed=False)


def _section_names(elf: ElfFile) -> list[str]:
    names = {index: name for name, index in elf.names().items()}
    return [names.get(index, "") for index in range(len(elf.sections))]


def _identity(file: OpenFile) -> tuple[int, ...]:
    if file.status is None:
        raise Unusable("a part of a file has no identity")
    return identity_of(file.status)


def _opened(sources: ElfSources) -> list[OpenFile]:
    """Return the files besides the one that was asked about; the alternate one is opened first."""
    found = [] if sources.separate is None else [sources.separate]
    if sources.companions is not None:
        sources.companions.alt()
        found += sources.companions.opened
    return [each.file for each in found]


def _others(sources: ElfSources) -> Others:
    """Return what `Head.others` is to say."""
    trails: list[Trail | None] = [sources.trail]
    if sources.companions is not None:
        trails.append(sources.companions.trail)
    absent = [path for trail in trails if trail for path in trail.absent]
    others: Others = [(os.path.abspath(each.path), _identity(each)) for each in _opened(sources)]
    others += [(os.path.abspath(path), None) for path in dict.fromkeys(absent)]
    if len(others) > MAX_OTHERS:
        raise Unusable("answers come from too many files")
    return others
