"""Supplementary files: what `dwz` moved out of several files' debug information into one.

The link that GNU tools write, `.gnu_debugaltlink`, is read by `okld.syms.debuglink`; here is DWARF
5's own, `.debug_sup`, which stands in both files. Source: DWARF 5, 7.3.6.
"""

from __future__ import annotations

import os

from okld.base.limits import MAX_BUILD_ID, MAX_LINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.elf_file import ElfFile

RULE = "LIN-33"
VERSION = 5


def supplementary_link(elf: ElfFile) -> tuple[str, str] | None:
    """
    Return the path and the checksum, in hexadecimal, of the supplementary file of *elf*, or None.

    Source: LIN-33.
    """
    stated = _stated(elf)
    if stated is None or stated[0] or not stated[1]:
        return None
    return os.fsdecode(stated[1]), stated[2].hex()


def supplementary_id(elf: ElfFile) -> str:
    """Return the checksum that a supplementary file has; "" if *elf* is none. Source: LIN-33."""
    stated = _stated(elf)
    return stated[2].hex() if stated and stated[0] else ""


def _stated(elf: ElfFile) -> tuple[int, bytes, bytes] | None:
    """Return whether *elf* is the supplementary file, the other's path, and the checksum."""
    index = elf.index(".debug_sup")
    if not index:
        return None
    part = elf.raw(index)
    data = bytes(part.window(0, min(part.size, MAX_LINK), ".debug_sup", RULE))
    version = int.from_bytes(data[:2], "little" if elf.header.order == "<" else "big")
    path, nul, rest = data[3:].partition(b"\0")
    # A length below 128 is one byte, and no checksum in use is longer.
    if version != VERSION or not nul or not rest or not 0 < rest[0] <= MAX_BUILD_ID:
        return None
    checksum = rest[1 : 1 + rest[0]]
    return (data[2], path, checksum) if len(checksum) == rest[0] else None
