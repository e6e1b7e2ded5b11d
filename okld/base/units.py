"""Kinds of addresses: each number says which space it is in, so that none is taken for another.

All are plain integers to arithmetic, whose results are plain integers again.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 1 << 64


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


def require_addresses(values: Sequence[object]) -> None:
    """
    Return when every one of *values* is an address: an integer of bytes, of 64 bits.

    Raises:
        TypeError: If one is no integer, or a truth value.
        ValueError: If one is less than 0, or has more than 64 bits.
    """
    for kind in set(map(type, values)):
        if kind is bool or not issubclass(kind, int):
            raise TypeError(
                "an address is an int, which is a link address in bytes, or a LinkAddr,"
                f" ImageOffset, FileOffset or SectionOffset (got {kind.__name__})"
            )
    if not values:
        return
    for value in (min(values), max(values)):  # type: ignore[type-var]  # integers, all of them
        if not 0 <= value < LIMIT:  # type: ignore[operator]
            raise ValueError(f"an address is from 0 to {LIMIT - 1:#x}, in bytes (got {value:#x})")
