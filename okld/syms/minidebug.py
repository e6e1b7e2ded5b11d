"""MiniDebugInfo: an ELF file with the function symbols that `strip` took, packed into a section."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_MINIDEBUG, MAX_XZ_MEMORY
from okld.base.view import View
from okld.syms.elf_file import ElfFile

RULE = "DBG-7"
SECTION = ".gnu_debugdata"
INPUT = 1 << 16


def minidebug(elf: ElfFile) -> ElfFile | None:
    """
    Return the file in *elf*'s section `.gnu_debugdata`, or None where there is no such section.

    Raises:
        FormatError: If it is no xz stream, no ELF file, or larger than MAX_MINIDEBUG (DBG-7).
        Unreadable: If the system refuses to read the file.
    """
    index = elf.index(SECTION)
    if not index:
        return None
    return ElfFile(View.of_bytes(_unpacked(elf.raw(index))), f"{elf.path}({SECTION})")


def _unpacked(packed: View) -> bytes:
    import lzma

    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
    parts, size, taken = [], 0, 0
    while not stream.eof:
        data: memoryview | bytes = b""
        if stream.needs_input:
            left = min(INPUT, packed.size - taken)
            data = packed.window(taken, left, SECTION, RULE)
            taken += left
            if not data:
                raise FormatError(RULE, f"{SECTION} ends early", got=taken)
        try:
            part = stream.decompress(data, INPUT)
        except lzma.LZMAError as error:
            raise FormatError(RULE, f"{SECTION}: {error}") from None
        size += len(part)
        if size > MAX_MINIDEBUG:
            raise FormatError(RULE, f"inflated {SECTION}", got=size, limit=MAX_MINIDEBUG)
        parts.append(part)
    return b"".join(parts)
