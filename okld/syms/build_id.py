"""A build id: the bytes that a file and its separate debug file share, and no other file has."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_BUILD_ID, MAX_NOTES
from okld.elf.header import PT_NOTE
from okld.elf.tables import NT_GNU_BUILD_ID
from okld.syms.elf_file import ALIGN, TYPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.base.view import View
    from okld.syms.elf_file import ElfFile

SHT_NOTE = 7
RULE = "DBG-6"
OWNER = b"GNU\0"


def build_id(elf: ElfFile) -> str:
    """
    Return the build id of a file, in hexadecimal, or "" where it has none.

    The note sections are asked first: in a debug file the program headers are those of the file
    that it was made from, and say nothing of where its own bytes are.

    Source: DBG-6.
    """
    try:
        for index, section in enumerate(elf.sections):
            if section[TYPE] == SHT_NOTE:
                found = _in_notes(elf.raw(index), section[ALIGN], elf.header.order)
                if found:
                    return found
        if elf.sections:
            return ""
        for segment in elf.segments:
            if segment[0] == PT_NOTE:
                part = elf.view.part(segment[2], segment[5], "notes", RULE)
                found = _in_notes(part, segment[7], elf.header.order)
                if found:
                    return found
    except FormatError:
        pass
    return ""


def _in_notes(notes: View, align: int, order: str) -> str:
    for owner, kind, desc in _notes(notes, 8 if align == 8 else 4, order):
        if owner == OWNER and kind == NT_GNU_BUILD_ID and 0 < len(desc) <= MAX_BUILD_ID:
            return desc.hex()
    return ""


def _notes(notes: View, align: int, order: str) -> Iterator[tuple[bytes, int, bytes]]:
    """Give the owner, the type and the descriptor of each note."""
    data = bytes(notes.window(0, min(notes.size, MAX_NOTES), "notes", RULE))
    endian = "little" if order == "<" else "big"
    at = 0
    while at + 12 <= len(data):
        owner_size, desc_size, kind = (
            int.from_bytes(data[i : i + 4], endian)  # type: ignore[arg-type]
            for i in (at, at + 4, at + 8)
        )
        start = -(-(at + 12 + owner_size) // align) * align
        yield data[at + 12 : at + 12 + owner_size], kind, data[start : start + desc_size]
        at = -(-(start + desc_size) // align) * align
