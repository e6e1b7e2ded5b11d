"""Mach-O files, thin and fat (32- and 64-bit tables), in full, through lief."""

from __future__ import annotations

import struct

import lief
from lief import MachO

from okld.base.errors import FormatError
from okld.base.limits import MAX_COMMANDS, MAX_SLICES
from okld.image.foreign import RULE, limit_copies, reading, text, unreadable, word
from okld.image.model import ProgramFile, Section, Segment, permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile

lief.logging.disable()

ARCHES = {"ARM64": "aarch64", "X86": "i386", "POWERPC": "ppc", "POWERPC64": "ppc64"}
FAT = {b"\xca\xfe\xba\xbe": ">IIIII", b"\xca\xfe\xba\xbf": ">IIQQII"}
"""The layout of a row of the table: processor (two words), offset, size, alignment."""
THIN = {
    b"\xfe\xed\xfa\xce": (">", 28, 1, "I", 36),
    b"\xce\xfa\xed\xfe": ("<", 28, 1, "I", 36),
    b"\xfe\xed\xfa\xcf": (">", 32, 0x19, "Q", 48),
    b"\xcf\xfa\xed\xfe": ("<", 32, 0x19, "Q", 48),
}
"""Byte order, bytes of the header, `LC_SEGMENT` or `LC_SEGMENT_64`, and where in that its filesize
stands."""
SWAPPED = (MachO.MACHO_TYPES.CIGAM, MachO.MACHO_TYPES.CIGAM_64)
VM_PROT_READ, VM_PROT_WRITE, VM_PROT_EXECUTE = 1, 2, 4


def read_macho(file: OpenFile) -> ProgramFile:
    """
    Return what the Mach-O *file* says of itself; every slice of a fat file, in the file's order.

    Raises:
        FormatError: If it is cut, or lief does not make sense of it (CLI-4).
    """
    magic = bytes(file.view.window(0, 4, "magic", RULE))
    if magic not in FAT:
        return _thin(file, 0, file.view.size)
    return ProgramFile(
        format="mach-o-fat",
        arch=None,
        bits=0,
        byte_order="big",
        type="FAT",
        entry=None,
        slices=tuple(_thin(file, *place) for place in _slices(file, FAT[magic])),
    )


def _slices(file: OpenFile, layout: str) -> list[tuple[int, int]]:
    """Return (file offset, bytes) of each slice, from a table that is always big-endian."""
    (count,) = struct.unpack(">I", file.view.window(4, 4, "fat header", RULE))
    if not 0 < count <= MAX_SLICES:
        raise FormatError(RULE, "fat file: slices", got=count, limit=MAX_SLICES, at=4)
    table = file.view.window(8, count * struct.calcsize(layout), "fat table", RULE)
    places = [(row[2], row[3]) for row in struct.iter_unpack(layout, table)]
    limit_copies([size for _, size in places], file.view.size)
    return places


def _thin(file: OpenFile, offset: int, size: int) -> ProgramFile:
    data = bytes(file.view.window(offset, size, "slice of a fat file", RULE))
    limit_copies(_sizes(data), size)
    with reading("Mach-O"):
        binaries = MachO.parse(data, MachO.ParserConfig.quick)
        binary = binaries.at(0) if binaries else None
        if binary is None:
            raise unreadable("Mach-O")
        return _program(binary)


def _sizes(data: bytes) -> list[int]:
    """Return the bytes of every segment, of those whose load commands are in the file."""
    order, header, command, fields, at = THIN.get(data[:4], THIN[b"\xcf\xfa\xed\xfe"])
    (count,) = struct.unpack_from(f"{order}I", data, 16) if len(data) >= header else (0,)
    if count > MAX_COMMANDS:
        raise FormatError(RULE, "load commands", got=count, limit=MAX_COMMANDS, at=16)
    sizes: list[int] = []
    for _ in range(count):
        if header + at + 8 > len(data):
            break
        kind, size = struct.unpack_from(f"{order}II", data, header)
        if kind == command:
            sizes += struct.unpack_from(order + fields, data, header + at)
        header += max(size, 8)
    return sizes


def _program(binary: MachO.Binary) -> ProgramFile:
    header = binary.header
    cpu = word(header.cpu_type)
    main = binary.main_command
    uuid = binary.uuid
    return ProgramFile(
        format="mach-o",
        arch=ARCHES.get(cpu, cpu.lower()),
        bits=64 if header.is_64bit else 32,
        byte_order="big" if header.magic in SWAPPED else "little",
        type=f"MH_{word(header.file_type)}",
        entry=main.entrypoint if main else None,
        segments=tuple(_segment(s, header.is_64bit) for s in binary.segments),
        sections=tuple(
            Section(
                name=f"{text(s.segment_name)},{text(s.name)}",
                offset=s.offset,
                vaddr=s.virtual_address,
                size=s.size,
            )
            for s in binary.sections
        ),
        needed=tuple(
            text(library.name)
            for library in binary.libraries
            if library.command != MachO.LoadCommand.TYPE.ID_DYLIB
        ),
        build_id=bytes(uuid.uuid).hex() if uuid else None,
        interpreter=text(binary.dylinker.name) if binary.dylinker else None,
    )


def _segment(segment: MachO.SegmentCommand, is_64bit: bool) -> Segment:
    prot = int(segment.init_protection)
    return Segment(
        name=text(segment.name),
        type="LC_SEGMENT_64" if is_64bit else "LC_SEGMENT",
        offset=segment.file_offset,
        vaddr=segment.virtual_address,
        filesz=segment.file_size,
        memsz=segment.virtual_size,
        flags=permissions(
            read=bool(prot & VM_PROT_READ),
            write=bool(prot & VM_PROT_WRITE),
            execute=bool(prot & VM_PROT_EXECUTE),
        ),
    )
