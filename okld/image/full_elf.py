"""ELF files of any class and byte order, in full, through lief."""

from __future__ import annotations

import struct

import lief
from lief import ELF

from okld.base.limits import MAX_NOTES
from okld.elf.header import SHT_NOBITS, Header, read_header, read_sections, read_segments
from okld.elf.tables import NOTE_SIZE, NT_GNU_BUILD_ID
from okld.image.foreign import RULE, limit_copies, reading, text, unreadable, word
from okld.image.model import ProgramFile, Section, Segment, permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View
    from okld.image.open import OpenFile

lief.logging.disable()

HEADER_SIZES = {32: (32, 40), 64: (56, 64)}
"""Bytes of a program header and of a section header, by class."""


def read_elf(file: OpenFile) -> ProgramFile:
    """
    Return what the ELF *file* says of itself.

    Raises:
        FormatError: If it is cut, or lief does not make sense of it (CLI-4).
    """
    header = read_header(file.view, RULE)
    limit_copies(_sizes(file.view, header), file.view.size)
    data = file.view.window(0, file.view.size, "file", RULE)
    with reading("ELF"):
        binary = ELF.parse(bytes(data), _config())
        if binary is None:
            raise unreadable("ELF")
        return _program(binary)


def _sizes(view: View, header: Header) -> list[int]:
    """
    Return the bytes of every segment and every section.

    As lief does, this passes over the sizes of headers that the file states, and those headers that
    are not in the file.
    """
    header.phentsize, header.shentsize = HEADER_SIZES[header.bits]
    header.phnum = min(header.phnum, max(0, view.size - header.phoff) // header.phentsize)
    room = max(0, view.size - header.shoff) // header.shentsize
    header.shnum = min(header.shnum, room)
    header.shoff = header.shoff if room else 0
    sizes = [row[5] for row in read_segments(view, header, RULE)]
    sections = read_sections(view, header, RULE)
    return sizes + [row[5] for row in sections if row[1] != SHT_NOBITS]


def _config() -> ELF.ParserConfig:
    config = ELF.ParserConfig()
    config.parse_relocations = False
    config.parse_symbol_versions = False
    config.parse_dyn_symbols = False
    config.parse_symtab_symbols = False
    config.parse_overlay = False
    config.parse_notes = False
    return config


def _program(binary: ELF.Binary) -> ProgramFile:
    header = binary.header
    bits = 32 if header.identity_class == ELF.Header.CLASS.ELF32 else 64
    big = header.identity_data == ELF.Header.ELF_DATA.MSB
    arch = word(header.machine_type).lower()
    return ProgramFile(
        format="elf",
        arch=f"{arch}{bits}" if arch == "riscv" else arch,
        bits=bits,
        byte_order="big" if big else "little",
        type=f"ET_{word(header.file_type)}",
        entry=header.entrypoint,
        segments=tuple(map(_segment, binary.segments)),
        sections=tuple(
            Section(name=text(s.name), offset=s.offset, vaddr=s.virtual_address, size=s.size)
            for s in binary.sections
        ),
        needed=tuple(map(text, binary.libraries)),
        build_id=_build_id(binary, ">" if big else "<"),
        interpreter=text(binary.interpreter) if binary.has_interpreter else None,
    )


def _segment(segment: ELF.Segment) -> Segment:
    flags = segment.raw_flags
    return Segment(
        name="",
        type="PT_" + word(segment.type).removeprefix("PT_").rstrip("_"),
        offset=segment.file_offset,
        vaddr=segment.virtual_address,
        filesz=segment.physical_size,
        memsz=segment.virtual_size,
        flags=permissions(read=bool(flags & 4), write=bool(flags & 2), execute=bool(flags & 1)),
    )


def _build_id(binary: ELF.Binary, order: str) -> str | None:
    """Return the first GNU build id; lief swaps the bytes of big-endian files' descriptors."""
    notes = [s.content for s in binary.segments if s.type == ELF.Segment.TYPE.NOTE]
    notes += [s.content for s in binary.sections if s.type == ELF.Section.TYPE.NOTE]
    for content in notes:
        data = bytes(content[:MAX_NOTES])
        at = 0
        while at + NOTE_SIZE <= len(data):
            name, desc, kind = struct.unpack_from(f"{order}III", data, at)
            begin = at + NOTE_SIZE + -(-name // 4) * 4
            if kind == NT_GNU_BUILD_ID and data[at + NOTE_SIZE : begin] == b"GNU\0":
                return data[begin : begin + desc].hex()
            at = begin + -(-desc // 4) * 4
    return None
