"""Sections of debug information by blocks: what is read together lies together."""

from __future__ import annotations

from itertools import repeat

from okld.base.errors import FormatError
from okld.base.limits import MAX_DEBUG_STRING, MAX_ENTRIES, MAX_WORK, WHOLE
from okld.syms.dwarf.leb import RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    class DebugBytes(Protocol):
        """
        The door to one file's debug sections: `Sections`, or a part of them.

        Attributes:
            order: "<" or ">".
        """

        order: str

        def size(self, name: str) -> int:
            """Return the bytes of a section; 0: there is none."""

        def window(self, name: str, offset: int, size: int) -> memoryview | bytes:
            """Return *size* bytes at *offset*, or raise FormatError (LIN-1)."""


SHIFT = 14
BLOCK = 1 << SHIFT
KEPT = 1 << 10  # blocks of one section: 16 MiB, all strings of a kernel


class Budget:
    """
    What a question may still cost, in all files that it leads to: counted, so that every machine
    gives the same answers.

    Attributes:
        entries: Gives None as often as a walk may still go on to an entry; a `for` over it counts
            in less time than any sum would take.
        work: Steps of all other work that are left; one takes what going on to an entry takes.
    """

    __slots__ = ("_times", "entries", "work")

    def __init__(self) -> None:
        """Begin with what one address may cost."""
        self.entries: Iterator[None] = iter(())
        self.work = self._times = 0
        self.begin()

    def begin(self, *, whole: bool = False) -> None:
        """Begin a question: about one address, or about a *whole* unit or all units (LIN-14)."""
        self._times = WHOLE if whole else 1
        self.entries = repeat(None, MAX_ENTRIES * self._times)
        self.work = MAX_WORK * self._times

    def spend(self, steps: int) -> None:
        """
        Take steps of work.

        Raises:
            FormatError: If there are not so many left (LIN-14).
        """
        self.work -= steps
        if self.work < 0:
            raise FormatError("LIN-14", "too much work: steps", limit=MAX_WORK * self._times)

    def too_many(self, at: int) -> FormatError:
        """Return what a walk that `entries` ended is refused with; *at*: where in the section."""
        limit = MAX_ENTRIES * self._times
        return FormatError("LIN-14", "too much work: entries", limit=limit, at=at)


class Source:
    """
    One file's sections of debug information.

    Attributes:
        sections: Where the bytes come from.
        budget: What the present question may cost.
        spend: Of that budget.
    """

    __slots__ = ("_blocks", "budget", "sections", "spend")

    def __init__(self, sections: DebugBytes, budget: Budget | None = None) -> None:
        """Stand before *sections*; nothing is read yet. Without *budget* it has one of its own."""
        self.sections = sections
        self.budget = budget or Budget()
        self.spend = self.budget.spend
        self._blocks: dict[str, dict[int, bytes]] = {}

    def size(self, name: str) -> int:
        """Return the section's size in bytes; 0: there is none."""
        return self.sections.size(name)

    def exact(self, name: str, offset: int, size: int) -> bytes:
        """
        Return *size* bytes, which are not kept.

        Raises:
            FormatError: If they are not all in the section (LIN-1).
        """
        return bytes(self.sections.window(name, offset, size))

    def ahead(self, name: str, offset: int, size: int) -> bytes:
        """
        Return the bytes from *offset* on, *size* of them or what the section has.

        Raises:
            FormatError: If *offset* is not in the section (LIN-1).
        """
        total = self.sections.size(name)
        if not 0 <= offset < total:
            raise FormatError(RULE, f"offset in .debug_{name}", got=offset, limit=total)
        size = min(size, total - offset)
        block = self._block(name, offset >> SHIFT)
        start = offset & (BLOCK - 1)
        if start + size <= len(block):
            return block[start : start + size]
        return self.exact(name, offset, size)

    def string(self, name: str, offset: int) -> bytes:
        """
        Return the string at *offset*, without its NUL.

        Raises:
            FormatError: If it does not lie in the section, or is too long (LIN-1); or if there were
                too many bytes of strings (LIN-14).
        """
        total = self.sections.size(name)
        if not 0 <= offset < total:
            raise FormatError(RULE, f"offset in .debug_{name}", got=offset, limit=total)
        key = offset >> SHIFT
        start = offset & (BLOCK - 1)
        block = self._block(name, key)
        end = block.find(b"\0", start)
        if end >= 0:
            self.spend(end - start)
            return block[start:end]
        parts = [block[start:]]
        size = len(parts[0])
        while size < MAX_DEBUG_STRING:
            self.spend(len(parts[-1]))
            key += 1
            if key << SHIFT >= total:
                raise FormatError(RULE, f"a string of .debug_{name} does not end", at=offset)
            block = self._block(name, key)
            end = block.find(b"\0")
            if end >= 0:
                return b"".join((*parts, block[:end]))
            parts.append(block)
            size += len(block)
        raise FormatError(RULE, "string", got=size, limit=MAX_DEBUG_STRING, at=offset)

    def _block(self, name: str, key: int) -> bytes:
        blocks = self._blocks.get(name)
        if blocks is None:
            blocks = self._blocks[name] = {}
        block = blocks.get(key)
        if block is None:
            if len(blocks) >= KEPT:
                blocks.clear()
            start = key << SHIFT
            size = min(BLOCK, self.sections.size(name) - start)
            block = blocks[key] = bytes(self.sections.window(name, start, size))
        return block
