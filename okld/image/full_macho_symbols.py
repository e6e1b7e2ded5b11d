"""The symbols of a Mach-O program, and where its sections lie, through lief."""

from __future__ import annotations

import struct

import lief
from lief import MachO

from okld.elf.tables import STT_FUNC, STT_OBJECT
from okld.image.foreign import reading, text, unreadable
from okld.image.macho_slices import NLIST, window
from okld.image.program import ABSOLUTE, PLACED, UNDEFINED, Names, Program, ProgramSection, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View
    from okld.image.macho_slices import Slice

lief.logging.disable()

SWAPPED = (MachO.MACHO_TYPES.CIGAM, MachO.MACHO_TYPES.CIGAM_64)

N_STAB, N_TYPE, N_EXT = 0xE0, 0xE, 1
N_ABS, N_SECT, N_OSO = 0x2, 0xE, 0x66
N_WEAK_DEF, N_ALT_ENTRY = 0x80, 0x200

SECTION_TYPE, S_ZEROFILL, S_SYMBOL_STUBS = 0xFF, (0x1, 0xC, 0x12), 0x8
S_ATTR_CODE, S_ATTR_DEBUG = 0x80000400, 0x02000000

ASSEMBLERS = ("l", "L")
"""How the names of an assembler's own labels begin; those of a source begin with "_"."""

STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1 << 4, 2 << 4


def parse_macho(data: bytes) -> MachO.Binary:
    """
    Return lief's reading of one program, of bytes that `macho_slices.window` gave.

    Raises:
        FormatError: If lief does not make sense of it (CLI-4).
    """
    with reading("Mach-O"):
        binaries = MachO.parse(data, MachO.ParserConfig.quick)
        binary = binaries.at(0) if binaries else None
        if binary is None:
            raise unreadable("Mach-O")
        return binary


def read_macho_symbols(view: View, place: Slice) -> Program:
    """
    Return the program in the slice *place* of a Mach-O file.

    Raises:
        FormatError: If it is cut, takes too much memory, or lief does not make sense of it (CLI-4).

    Source: OBJ-3, OBJ-4.
    """
    data = window(view, place)
    binary = parse_macho(data)
    with reading("Mach-O"):
        header, uuid = binary.header, binary.uuid
        program = Program(
            place.arch,
            ">" if header.magic in SWAPPED else "<",
            64 if header.is_64bit else 32,
            _base(binary),
            bytes(uuid.uuid).hex() if uuid else "",
        )
        program.sections = [_section(each, place.offset) for each in binary.sections]
        starts = binary.function_starts
        if starts:
            program.starts = sorted(program.base + each for each in starts.functions)
        _read_table(program, binary, data)
    return program


def _base(binary: MachO.Binary) -> int:
    """Return where the header is linked to go; 0 in an object file, whose segment has no name."""
    places = (s.virtual_address for s in binary.segments if text(s.name) == "__TEXT")
    return next(places, 0)


def _section(section: MachO.Section, slice_offset: int) -> ProgramSection:
    flags = int(section.flags) | int(section.type)
    size = section.size
    is_filled = flags & SECTION_TYPE in S_ZEROFILL or section.offset == 0
    is_debug = bool(flags & S_ATTR_DEBUG) or section.segment_name == "__DWARF"
    return ProgramSection(
        f"{text(section.segment_name)},{text(section.name)}",
        section.virtual_address,
        size,
        offset=slice_offset + section.offset,
        filesize=0 if is_filled else size,
        is_code=bool(flags & S_ATTR_CODE) and not is_debug,
        is_loaded=not is_debug,
    )


def _read_table(program: Program, binary: MachO.Binary, data: bytes) -> None:
    """Read the symbol table, and from it the names of the functions that stubs jump to."""
    command = binary.symbol_command
    if command is None or not command.numberof_symbols:
        return
    layout = program.order + NLIST[32 if program.bits == 64 else 28]
    table = data[command.symbol_offset :][: command.numberof_symbols * struct.calcsize(layout)]
    table = table[: len(table) - len(table) % struct.calcsize(layout)]
    names = Names(data[command.strings_offset :][: command.strings_size])
    known: list[str] = []
    objects: list[str] = []
    for strx, kind, section, desc, value in struct.iter_unpack(layout, table):
        name = names.at(strx)
        known.append(name)
        if kind == N_OSO:
            objects.append(name)
        if not kind & N_STAB:
            program.symbols.append(_row(program, name, kind, section, desc, value))
    program.source = "LC_SYMTAB"
    program.stubs = _stubs(program, binary, data, known)
    places = (row for row in program.symbols if row[4] == PLACED)
    program.has_locals = any(row[3] < STB_GLOBAL for row in places)
    if binary.header.file_type == MachO.Header.FILE_TYPE.OBJECT:
        program.has_locals = True  # nobody strips it
    program.is_exact = program.has_locals or bool(program.starts)
    if objects:
        what = f"{len(objects)} object files, the first {objects[0]}"
        program.notes.append(f"the debug map says that lines are in {what}")


def plain(name: str) -> str:
    """Return a name as its source has it, without the underscore before every name."""
    return name[1:] if name.startswith("_") else name


def _row(program: Program, name: str, kind: int, section: int, desc: int, value: int) -> Row:
    binding = STB_LOCAL
    if kind & N_EXT:
        binding = STB_WEAK if desc & N_WEAK_DEF else STB_GLOBAL
    if kind & N_TYPE != N_SECT or not 0 < section <= len(program.sections):
        is_absolute = kind & N_TYPE == N_ABS
        return plain(name), value, 0, binding, ABSOLUTE if is_absolute else UNDEFINED
    home = program.sections[section - 1]
    is_label = desc & N_ALT_ENTRY or (binding == STB_LOCAL and name[:1] in ASSEMBLERS)
    info = binding | (STT_FUNC if home.is_code else STT_OBJECT)
    return plain(name), value, 0, info, PLACED if home.is_loaded and not is_label else ABSOLUTE


def _stubs(
    program: Program, binary: MachO.Binary, data: bytes, names: list[str]
) -> list[tuple[int, int, str]]:
    """Return the stubs, each with the name that the table of indirect symbols has for it."""
    command = binary.dynamic_symbol_command
    if command is None:
        return []
    words = data[command.indirect_symbol_offset :][: 4 * command.nb_indirect_symbols]
    stubs: list[tuple[int, int, str]] = []
    for section, place in zip(binary.sections, program.sections, strict=True):
        size, first = section.reserved2, section.reserved1
        if int(section.type) != S_SYMBOL_STUBS or not size:
            continue
        entries = words[4 * first : 4 * (first + place.size // size)]
        for index, (symbol,) in enumerate(struct.iter_unpack(f"{program.order}I", entries)):
            if symbol < len(names):
                name = f"{plain(names[symbol])}@plt"
                stubs.append((place.address + index * size, size, name))
    return stubs
