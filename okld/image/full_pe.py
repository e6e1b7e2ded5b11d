"""PE files (EXE and DLL, 32 and 64 bits) in full, through lief."""

from __future__ import annotations

import struct

import lief
from lief import PE

from okld.image.foreign import RULE, limit_copies, reading, text, unreadable, word
from okld.image.model import ProgramFile, Section, Segment, permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile

lief.logging.disable()

ARCHES = {"AMD64": "x86_64", "ARM64": "aarch64", "ARMNT": "arm"}
IMAGE_FILE_EXECUTABLE_IMAGE, IMAGE_FILE_DLL = 0x2, 0x2000
IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_MEM_READ, IMAGE_SCN_MEM_WRITE = 0x20000000, 0x40000000, 0x80000000
PE32 = 0x10B
COFF_SIZE, SECTION_SIZE = 24, 40  # with the signature "PE", 0, 0


def read_pe(file: OpenFile) -> ProgramFile:
    """
    Return what the PE *file* says of itself.

    Raises:
        FormatError: If lief does not make sense of it (CLI-4).
    """
    data = file.view.window(0, file.view.size, "file", RULE)
    limit_copies(_sizes(bytes(data)), file.view.size)
    with reading("PE"):
        binary = PE.parse(bytes(data), _config())
        if binary is None:
            raise unreadable("PE")
        return _program(binary)


def _sizes(data: bytes) -> list[int]:
    """Return the bytes of every section, of those whose headers are in the file."""
    (pe,) = struct.unpack_from("<I", data, 60) if len(data) >= 64 else (len(data),)
    if pe + COFF_SIZE > len(data):
        return []
    count, optional = struct.unpack_from("<H12xH", data, pe + 6)
    table = pe + COFF_SIZE + optional
    count = min(count, max(0, len(data) - table) // SECTION_SIZE)
    rows = struct.iter_unpack("<16xI20x", data[table : table + SECTION_SIZE * count])
    return [size for (size,) in rows]


def _config() -> PE.ParserConfig:
    config = PE.ParserConfig()
    config.parse_signature = False
    config.parse_exports = False
    config.parse_reloc = False
    config.parse_rsrc = False
    config.parse_exceptions = False
    return config


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
