"""Mach-O files, thin and fat (32- and 64-bit tables), in full, through lief."""

from __future__ import annotations

from lief import MachO

from okld.image.foreign import RULE, reading, text, word
from okld.image.full_macho_symbols import SWAPPED, parse_macho
from okld.image.macho_slices import FAT, slices, window
from okld.image.model import ProgramFile, Section, Segment, permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.macho_slices import Slice
    from okld.image.open import OpenFile

ARCHES = {"ARM64": "aarch64", "X86": "i386", "POWERPC": "ppc", "POWERPC64": "ppc64"}
VM_PROT_READ, VM_PROT_WRITE, VM_PROT_EXECUTE = 1, 2, 4


def read_macho(file: OpenFile) -> ProgramFile:
    """
    Return what the Mach-O *file* says of itself; every slice of a fat file, in the file's order.

    Raises:
        FormatError: If it is cut, or lief does not make sense of it (CLI-4).
    """
    programs = [_thin(file, each) for each in slices(file.view)]
    if bytes(file.view.window(0, 4, "magic", RULE)) not in FAT:
        return programs[0]
    return ProgramFile(
        format="mach-o-fat",
        arch=None,
        bits=0,
        byte_order="big",
        type="FAT",
        entry=None,
        slices=tuple(programs),
    )


def _thin(file: OpenFile, place: Slice) -> ProgramFile:
    binary = parse_macho(window(file.view, place))
    with reading("Mach-O"):
        return _program(binary)


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
