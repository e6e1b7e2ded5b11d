"""Link addresses for a relocatable file, whose sections all begin at 0.

Each section that a program has in memory gets an address of its own, one after the other, as a
linker would give it: symbols, debug information and questions then speak of one place by one
number.

Source: SYM-16.
"""

from __future__ import annotations

from okld.elf.header import ET_REL
from okld.syms.elf_file import ADDR, ALIGN, FLAGS, SHF_ALLOC, SHF_EXECINSTR, SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.elf_file import ElfFile

FIRST = 0x10000
"""Where the first section is laid: not at 0, where debug information puts what linkers removed."""

GAP = 16
"""Bytes between sections at least, so that the end of one is not the start of another."""

NOWHERE = 1 << 64
"""The address of a section that no program has in memory: past every address."""


def section_addresses(elf: ElfFile) -> list[int]:
    """
    Return the link address of every section, by its index.

    For a file that was linked these are its own (`sh_addr`). In a relocatable one code comes first:
    a file and its separate debug file then agree where its code is, whatever else was added to one.
    """
    if elf.header.type != ET_REL:
        return [section[ADDR] for section in elf.sections]
    addresses = [NOWHERE] * len(elf.sections)
    laid = [index for index, section in enumerate(elf.sections) if section[FLAGS] & SHF_ALLOC]
    laid.sort(key=lambda index: not elf.sections[index][FLAGS] & SHF_EXECINSTR)
    at = FIRST
    for index in laid:
        section = elf.sections[index]
        align = min(section[ALIGN], 1 << 16) or 1
        addresses[index] = at = -(-at // align) * align
        at += section[SIZE] + GAP
    return addresses


def code_ranges(elf: ElfFile) -> list[tuple[int, int]]:
    """Return what `ElfFile.code` does, in the addresses of `section_addresses`."""
    if elf.header.type != ET_REL:
        return elf.code()
    return [
        (address, address + section[SIZE])
        for address, section in zip(section_addresses(elf), elf.sections, strict=True)
        if section[FLAGS] & SHF_ALLOC and section[FLAGS] & SHF_EXECINSTR and section[SIZE]
    ]


def memory_ranges(elf: ElfFile) -> list[tuple[int, int]]:
    """Return where an address can be, as (start, end): segments, or a relocatable's sections."""
    if elf.header.type != ET_REL:
        return [(segment[3], segment[3] + segment[6]) for segment in elf.loads()]
    return [
        (address, address + section[SIZE])
        for address, section in zip(section_addresses(elf), elf.sections, strict=True)
        if address != NOWHERE and section[SIZE]
    ]
