"""PE files (EXE and DLL, 32 and 64 bits) in full, through lief."""

from __future__ import annotations

from lief import PE

from okld.image.foreign import RULE, reading, text, word
from okld.image.full_pe_symbols import ARCHES, PE32, parse_pe
from okld.image.model import ProgramFile, Section, Segment, permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile

IMAGE_FILE_EXECUTABLE_IMAGE, IMAGE_FILE_DLL = 0x2, 0x2000
IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_MEM_READ, IMAGE_SCN_MEM_WRITE = 0x20000000, 0x40000000, 0x80000000


def read_pe(file: OpenFile) -> ProgramFile:
    """
    Return what the PE *file* says of itself.

    Raises:
        FormatError: If lief does not make sense of it (CLI-4).
    """
    binary = parse_pe(bytes(file.view.window(0, file.view.size, "file", RULE)))
    with reading("PE"):
        return _program(binary)


def _program(binary: PE.Binary) -> ProgramFile:
    machine = word(binary.header.machine)
    optional = binary.optional_header
    pdb = binary.codeview_pdb
    return ProgramFile(
        format="pe",
        arch=ARCHES.get(machine, machine.lower()),
        bits=32 if int(optional.magic) == PE32 else 64,
        byte_order="little",
        type=_type(binary.header.characteristics),
        entry=optional.addressof_entrypoint or None,
        segments=tuple(map(_segment, binary.sections)),
        sections=tuple(
            Section(
                name=text(s.name), offset=s.offset, vaddr=s.virtual_address, size=s.sizeof_raw_data
            )
            for s in binary.sections
        ),
        needed=tuple(map(text, binary.libraries)),
        build_id=pdb.guid.replace("-", "").lower() if pdb else None,
    )


def _type(characteristics: int) -> str:
    if characteristics & IMAGE_FILE_DLL:
        return "DLL"
    return "EXE" if characteristics & IMAGE_FILE_EXECUTABLE_IMAGE else "OBJECT"


def _segment(section: PE.Section) -> Segment:
    flags = section.characteristics
    return Segment(
        name=text(section.name),
        type="IMAGE_SECTION_HEADER",
        offset=section.offset,
        vaddr=section.virtual_address,
        filesz=section.sizeof_raw_data,
        memsz=section.virtual_size,
        flags=permissions(
            read=bool(flags & IMAGE_SCN_MEM_READ),
            write=bool(flags & IMAGE_SCN_MEM_WRITE),
            execute=bool(flags & IMAGE_SCN_MEM_EXECUTE),
        ),
    )
