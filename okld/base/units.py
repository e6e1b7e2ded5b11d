"""Kinds of addresses: each number says which space it is in, so that none is taken for another.

All are plain integers to arithmetic, whose results are plain integers again.
"""

from __future__ import annotations


class LinkAddr(int):
    """A link address: what `p_vaddr`, `st_value` and DWARF state. Plain integers are taken so."""

    __slots__ = ()


class ImageOffset(int):
    """Bytes from where the image's first byte is mapped: what logs print as ``image+0x1152``."""

    __slots__ = ()


class FileOffset(int):
    """Bytes from the start of the file: what ``perf`` and BPF print for a mapped file."""

    __slots__ = ()


class SectionOffset(int):
    """
    Bytes from the start of a section, for relocatable files, whose sections all start at 0.

    Attributes:
        section: The section's name, as ".text.f"; or its index, where names repeat.
    """

    section: str | int

    def __new__(cls, section: str | int, offset: int) -> SectionOffset:
        """State the section and the offset in it."""
        self = super().__new__(cls, offset)
        self.section = section
        return self

    def __getnewargs__(self) -> tuple[str | int, int]:  # type: ignore[override]  # of `__new__`
        """Return what makes the same again, in another process."""
        return self.section, int(self)

    def __repr__(self) -> str:
        """Return both, for people."""
        return f"SectionOffset({self.section!r}, {int(self):#x})"
