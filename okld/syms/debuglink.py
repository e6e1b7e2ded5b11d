"""
Links from a file to others that hold its debug information, as they stand in its sections.

Source: DBG-8, DBG-10; the GNU tool chain's `.gnu_debuglink` and dwz's `.gnu_debugaltlink`.
"""

from __future__ import annotations

import os

from okld.base.limits import MAX_BUILD_ID, MAX_LINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View
    from okld.syms.elf_file import ElfFile

RULE = "DBG-8"
CRC_CHUNK = 1 << 20


def debug_link(elf: ElfFile) -> tuple[str, int] | None:
    """
    Return the name of *elf*'s debug file and the CRC-32 of all its bytes, or None without a link.

    A name with a directory is no link: tools write none, and it would lead out of where debug
    files are looked for.
    """
    data = _section(elf, ".gnu_debuglink")
    name, nul, _ = data.partition(b"\0")
    at = (len(name) + 1 + 3) // 4 * 4
    if not nul or not name or b"/" in name or name in (b".", b"..") or len(data) < at + 4:
        return None
    order = "little" if elf.header.order == "<" else "big"
    return os.fsdecode(name), int.from_bytes(data[at : at + 4], order)  # type: ignore[arg-type]


def alternate_link(elf: ElfFile) -> tuple[str, str] | None:
    """
    Return the path and the build id of the file that *elf* shares debug information with, or None
    without one.
    """
    path, nul, build_id = _section(elf, ".gnu_debugaltlink").partition(b"\0")
    if not nul or not path or not 0 < len(build_id) <= MAX_BUILD_ID:
        return None
    return os.fsdecode(path), build_id.hex()


def crc32(view: View) -> int:
    """
    Return the CRC-32 of all bytes, which are read in pieces.

    Raises:
        FormatError: If the file shrinks meanwhile.
        Unreadable: If the system refuses to read it.
    """
    import zlib

    crc = 0
    for at in range(0, view.size, CRC_CHUNK):
        size = min(CRC_CHUNK, view.size - at)
        crc = zlib.crc32(view.window(at, size, "debug file", RULE), crc)
    return crc


def _section(elf: ElfFile, name: str) -> bytes:
    index = elf.index(name)
    if not index:
        return b""
    part = elf.raw(index)
    return bytes(part.window(0, min(part.size, MAX_LINK), name, RULE))
