"""Sections of debug information by blocks: what is read together lies together."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_DEBUG_STRING, MAX_WORK
from okld.syms.dwarf.leb import RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
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


class Source:
    """
    One file's sections of debug information.

    Attributes:
        sections: Where the bytes come from.
        work: What the present answer has cost, in bytes decoded, of which there is a limit.
    """

    __slots__ = ("_blocks", "sections", "work")

    def __init__(self, sections: DebugBytes) -> None:
        """Stand before *sections*; nothing is read yet."""
        self.sections = sections
        self.work = 0
        self._blocks: dict[str, dict[int, bytes]] = {}

    def size(self, name: str) -> int:
        """Return the section's size in bytes; 0: there is none."""
        return self.sections.size(name)

    def spend(self, amount: int) -> None:
        """
        Count what decoding lists and tables costs: entries without end can refer to the same ones.

        Raises:
            FormatError: If it is far more than all there are (LIN-14).
        """
        self.work += amount
        if self.work > MAX_WORK:
            size = self.size
            limit = MAX_WORK + size("info") + 4 * size("abbrev")
            limit += 4 * (size("ranges") + size("rnglists"))
            if self.work > limit:
                raise FormatError("LIN-14", "bytes to be decoded", got=self.work, limit=limit)

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
            FormatError: If it does not lie in the section, or is too long (LIN-1).
        """
        total = self.sections.size(name)
        if not 0 <= offset < total:
            raise FormatError(RULE, f"offset in .debug_{name}", got=offset, limit=total)
        key = offset >> SHIFT
        start = offset & (BLOCK - 1)
        block = self._block(name, key)
        end = block.find(b"\0", start)
        if end >= 0:
            return block[start:end]
        text = block[start:]
        while len(text) < MAX_DEBUG_STRING:
            key += 1
            if key << SHIFT >= total:
                raise FormatError(RULE, f"a string of .debug_{name} does not end", at=offset)
            block = self._block(name, key)
            end = block.find(b"\0")
            if end >= 0:
                return text + block[:end]
            text += block
        raise FormatError(RULE, "string", got=len(text), limit=MAX_DEBUG_STRING, at=offset)

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
