"""Every kind of address to the link address that symbols and debug information speak of.

Source: SYM-13 to SYM-16.
"""

from __future__ import annotations

from okld.base.errors import printable
from okld.base.units import FileOffset, ImageOffset, SectionOffset
from okld.elf.header import ET_REL, PF_X, SHT_NOBITS
from okld.syms.answer import Miss
from okld.syms.elf_file import FLAGS, NAME, OFFSET, SHF_ALLOC, SHF_EXECINSTR, SIZE, TYPE
from okld.syms.layout import section_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.syms.elf_file import ElfFile

PAGE = 0x1000  # bytes; what a loader rounds the first segment's address down to
SHOWN = 4  # sections that a message names

NO_SEGMENTS = "no segment says where the image begins"
NOT_LOADED = "no segment holds that byte of the file"
STRIPPED_FROM = "a debug file's bytes are not where its program headers say"
ONE_PIECE = "a relocatable file is not one piece in memory"


def to_link(
    elf: ElfFile, address: int, segments: Sequence[tuple[int, ...]] | None = None
) -> int | Miss:
    """
    Return the link address that *address* means in *elf*, or why it means none.

    Args:
        elf: The file that the address is of.
        address: Of any kind of `okld.base.units`; a plain integer is a link address.
        segments: The program headers of the file that was stripped, where *elf* is its debug file.
    """
    if isinstance(address, SectionOffset):
        return _in_section(elf, address)
    relocatable = elf.header.type == ET_REL
    if isinstance(address, ImageOffset):
        if relocatable:
            return Miss(ONE_PIECE)
        base = image_base(elf.segments if segments is None else segments)
        return Miss(NO_SEGMENTS) if base is None else base + address
    if isinstance(address, FileOffset):
        if relocatable:
            return _of_section_byte(elf, address)
        if segments is None and is_stripped_from(elf):
            return Miss(STRIPPED_FROM)
        return _of_byte(elf.segments if segments is None else segments, address)
    return _without_section(elf, address) if relocatable else int(address)


def from_link(elf: ElfFile, address: int) -> int:
    """
    Return a link address of `to_link` for people: of a relocatable file the section, by its index,
    and the offset in it; of any other the address itself.
    """
    if elf.header.type != ET_REL:
        return address
    places = section_addresses(elf)
    inside = (i for i, place in enumerate(places) if 0 <= address - place < elf.sections[i][SIZE])
    index = next(inside, 0)
    return SectionOffset(index, address - places[index]) if index else address


def image_base(segments: Sequence[tuple[int, ...]]) -> int | None:
    """Return the link address of the image's first byte in memory. Source: SYM-13."""
    lowest = min((segment[3] for segment in segments if segment[0] == 1), default=None)
    return None if lowest is None else lowest // PAGE * PAGE


def is_stripped_from(elf: ElfFile) -> bool:
    """Say whether *elf* has sections for code, and none of their bytes: a debug file."""
    code = [s for s in elf.sections if s[FLAGS] & SHF_ALLOC and s[FLAGS] & SHF_EXECINSTR]
    return bool(code) and all(section[TYPE] == SHT_NOBITS for section in code)


def _of_byte(segments: Sequence[tuple[int, ...]], offset: int) -> int | Miss:
    """Return where the byte at *offset* of the file goes; in code, if two segments hold it."""
    holders = [s for s in segments if s[0] == 1 and s[2] <= offset < s[2] + s[5]]
    if not holders:
        return Miss(NOT_LOADED)
    holder = max(holders, key=lambda segment: segment[1] & PF_X)
    return holder[3] + offset - holder[2]


def _of_section_byte(elf: ElfFile, offset: int) -> int | Miss:
    for index, section in enumerate(elf.sections):
        inside = section[OFFSET] <= offset < section[OFFSET] + section[SIZE]
        if inside and section[FLAGS] & SHF_ALLOC and section[TYPE] != SHT_NOBITS:
            return section_addresses(elf)[index] + offset - section[OFFSET]
    return Miss("no section of the program holds that byte of the file")


def _in_section(elf: ElfFile, address: SectionOffset) -> int | Miss:
    if isinstance(address.section, int):
        named = [address.section] if 0 < address.section < len(elf.sections) else []
        shown = f"number {address.section}"
    else:
        named, shown = _named(elf, address.section), f"named {printable(address.section)}"
    if not named:
        return Miss(f"no section is {shown}")
    holders = [index for index in named if 0 <= address < elf.sections[index][SIZE]]
    if len(holders) > 1:
        return Miss(f"several sections are {shown}: {_listed([str(i) for i in holders])}")
    if not holders:
        return Miss(f"past the end of the section {shown}")
    place = section_addresses(elf)[holders[0]]
    if not elf.sections[holders[0]][FLAGS] & SHF_ALLOC:
        return Miss(f"the section {shown} is not in memory")
    return place + address


def _named(elf: ElfFile, name: str) -> list[int]:
    """Return the indices of all sections of this name; equal names are one string in the file."""
    first = elf.index(name)
    if not first:
        return []
    key = elf.sections[first][NAME]
    return [index for index, section in enumerate(elf.sections) if section[NAME] == key and index]


def _without_section(elf: ElfFile, address: int) -> int | Miss:
    """Return what a number alone means in a relocatable file, if there is one section for it."""
    long_enough = [
        index
        for index, section in enumerate(elf.sections)
        if section[FLAGS] & SHF_ALLOC
        and section[FLAGS] & SHF_EXECINSTR
        and 0 <= address < section[SIZE]
    ]
    if not long_enough:
        return Miss("outside every section with code")
    if len(long_enough) > 1:
        return Miss(f"in which section: {_listed(_names_of(elf, long_enough))}")
    return section_addresses(elf)[long_enough[0]] + address


def _names_of(elf: ElfFile, indices: list[int]) -> list[str]:
    names = {elf.sections[index][NAME]: name for name, index in elf.names().items()}
    return [printable(names.get(elf.sections[i][NAME], str(i))) for i in indices[: SHOWN + 1]]


def _listed(words: list[str]) -> str:
    return ", ".join(words[:SHOWN]) + (", ..." if len(words) > SHOWN else "")
