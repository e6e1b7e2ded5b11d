"""
What an index is of: the file that was asked about, and every other file that answers came from.

A head is one block in a file of its own. Its name is made of the device and inode of the file that
was asked about and of what the question was, so that it is found before that file is read; where
the blocks are, it says itself: in the directory of the file's build id, in packs whose names begin
with the head's stamp. Another state of any of the files is another stamp.

Source: IDX-2, IDX-3.
"""

from __future__ import annotations

import os

from okld.base.identity import identity_of
from okld.syms.index.format import VERSION, Unusable, checksum, columns_of, unseal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.options import Options

MAX_HEAD = 1 << 20  # bytes; one of the most sections and files takes 30,000
FIELDS, SEGMENT, SECTION = 5, 8, 10  # values of an identity, a program header, a section header
KEY, STAMP, PATH, DAMAGE, TEXTS = range(5)
"""The strings that every head has; after them come the notes."""

_COLUMNS = 8


class Header:
    """The fields of an ELF header that addresses depend on: `okld.elf.header.Header`'s."""

    __slots__ = ("bits", "machine", "type")

    def __init__(self, kind: int, machine: int, bits: int) -> None:
        """State them."""
        self.type = kind
        self.machine = machine
        self.bits = bits


class Head:
    """
    The head of an index; also the headers of the file, as `okld.syms.places` wants an `ElfFile`.

    Attributes:
        key: The directory of its packs: the build id, or a name made of the file's identity.
        stamp: How the names of its packs begin.
        path: Where the file was, for people.
        damage: As `ElfFile.damage`.
        notes: Where answers come from, a line each.
        identity: Of the file: the values of `okld.base.identity.FIELDS`.
        others: The path and the identity of every other file that answers came from; None for one
            that was looked for and was not there.
        header, segments, sections: As those of `ElfFile`; sections are None where they are many.
    """

    __slots__ = (
        "_names",
        "damage",
        "header",
        "identity",
        "key",
        "notes",
        "others",
        "path",
        "sections",
        "segments",
        "stamp",
    )

    key: str
    stamp: str
    path: str
    damage: str
    notes: tuple[str, ...]
    identity: tuple[int, ...]
    others: list[tuple[str, tuple[int, ...] | None]]
    header: Header
    segments: list[tuple[int, ...]]
    sections: list[tuple[int, ...]] | None
    _names: dict[str, int]

    def loads(self) -> list[tuple[int, ...]]:
        """Return the program headers of type PT_LOAD."""
        return [segment for segment in self.segments if segment[0] == 1]

    def index(self, name: str) -> int:
        """Return the index of the first section of this name, or 0 where there is none."""
        return self._names.get(name, 0)

    def names(self) -> dict[str, int]:
        """Return the sections' names, each with the index of its first section."""
        return self._names


def name_of(path: str, identity: tuple[int, ...], options: Options) -> str:
    """
    Return the name of the file that a head is in.

    What the files are is in the head and compared: two that meet under one name only put each other
    out.
    """
    question = (
        VERSION,
        os.path.abspath(path),  # debug files are also looked for beside it
        identity[0],
        identity[1],
        *map(_absolute, (*options.debug_dirs, "", options.sysroot, options.debug_file)),
        options.external,
        options.debuginfod,
    )
    return checksum(repr(question).encode("utf-8", "surrogateescape")).hex()


def decode(data: bytes) -> Head:
    """
    Return the head that *data* is.

    Raises:
        Unusable: If it is none.
    """
    columns, strings = columns_of(unseal(data))
    head = Head()
    try:
        identity, others, present, header, segments, sections, named, texts = columns
        head.identity = tuple(identity)
        head.header = Header(header[0], header[1], header[2])
        head.segments = _rows(segments, SEGMENT)
        head.sections = _rows(sections, SECTION) if header[3] else None
        words = [strings[number] for number in texts]
        head.key, head.stamp, head.path, head.damage = words[:TEXTS]
        head.notes = tuple(words[TEXTS:])
        head.others = [
            (strings[number], row if there else None)
            for number, there, row in zip(
                named[: len(present)], present, _rows(others, FIELDS), strict=True
            )
        ]
        pairs = zip(named[len(present) :], range(len(named)), strict=False)
        head._names = {}
        for number, index in pairs:
            if strings[number]:
                head._names.setdefault(strings[number], index)
    except (ValueError, IndexError):
        raise Unusable("the head is malformed") from None
    return head


def stale(head: Head, status: os.stat_result) -> str:
    """Return which of the files that the head is of is another now, or "". Source: IDX-3."""
    if head.identity != identity_of(status):
        return head.path
    for path, identity in head.others:
        try:
            now = identity_of(os.stat(path))
        except OSError:
            now = None
        if now != identity:
            return path
    return ""


def _absolute(path: str) -> str:
    return path and os.path.abspath(path)


def _rows(column: memoryview, width: int) -> list[tuple[int, ...]]:
    values = column.tolist()
    return [tuple(values[at : at + width]) for at in range(0, len(values), width)]
