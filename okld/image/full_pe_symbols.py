"""The symbols of a PE program, and where its sections lie, through lief."""

from __future__ import annotations

import lief
from lief import PE

from okld.elf.tables import STT_FUNC, STT_NOTYPE, STT_OBJECT
from okld.image.foreign import RULE, reading, text, unreadable, word
from okld.image.pe_tables import CoffTable, Mapped, bound, exports, functions
from okld.image.program import ABSOLUTE, PLACED, UNDEFINED, Program, ProgramSection, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View

lief.logging.disable()

PE32 = 0x10B
I386 = 0x14C
ARCHES = {"AMD64": "x86_64", "ARM64": "aarch64", "ARMNT": "arm"}
EXPORT_TABLE, EXCEPTION_TABLE = 0, 3
MEM_EXECUTE, MEM_DISCARDABLE = 0x20000000, 0x02000000

EXTERNAL, STATIC, LABEL, WEAK_EXTERNAL = 2, 3, 6, 105  # storage classes
DTYPE, FUNCTION = 0x30, 0x20  # of a symbol's type
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1 << 4, 2 << 4
BINDINGS = {EXTERNAL: STB_GLOBAL, STATIC: STB_LOCAL, LABEL: STB_LOCAL, WEAK_EXTERNAL: STB_WEAK}


def parse_pe(data: bytes) -> PE.Binary:
    """
    Return lief's reading of a PE file, without what is not asked for here.

    Raises:
        FormatError: If it would take too much memory, or lief does not make sense of it (CLI-4).
    """
    bound(data)
    config = PE.ParserConfig()
    config.parse_signature = False
    config.parse_exports = False
    config.parse_reloc = False
    config.parse_rsrc = False
    config.parse_exceptions = False
    with reading("PE"):
        binary = PE.parse(data, config)
        if binary is None:
            raise unreadable("PE")
        return binary


def read_pe_symbols(view: View) -> Program:
    """
    Return the program in a PE file; link addresses are those at its preferred image base.

    Raises:
        FormatError: If it takes too much memory, or lief does not make sense of it (CLI-4).

    Source: OBJ-7 to OBJ-9.
    """
    data = bytes(view.window(0, view.size, "file", RULE))
    binary = parse_pe(data)
    with reading("PE"):
        optional, pdb = binary.optional_header, binary.codeview_pdb
        machine = word(binary.header.machine)
        program = Program(
            ARCHES.get(machine, machine.lower()),
            "<",
            32 if int(optional.magic) == PE32 else 64,
            optional.imagebase,
            pdb.guid.replace("-", "").lower() if pdb else "",
        )
        table = CoffTable(data)
        for each in binary.sections:
            program.sections.append(_section(program, each, table.section_name(_bytes(each))))
        image = Mapped(data, [(s.virtual_address, s.offset, s.size) for s in binary.sections])
        _read_tables(program, image, binary, table)
        if pdb and pdb.filename:
            program.notes.append(f"lines are in {text(pdb.filename)}, a PDB, which cannot be read")
    return program


def _bytes(section: PE.Section) -> bytes:
    name = section.fullname
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def _section(program: Program, section: PE.Section, name: str) -> ProgramSection:
    size = max(section.virtual_size, section.sizeof_raw_data)
    flags = section.characteristics
    is_debug = bool(flags & MEM_DISCARDABLE) and name.startswith(".debug_")
    return ProgramSection(
        name,
        program.base + section.virtual_address,
        section.virtual_size or size,
        offset=section.offset,
        filesize=min(section.virtual_size or size, section.sizeof_raw_data),
        is_code=bool(flags & MEM_EXECUTE),
        is_loaded=not is_debug,
    )


def _read_tables(program: Program, image: Mapped, binary: PE.Binary, table: CoffTable) -> None:
    machine = int(binary.header.machine)
    directories = list(binary.data_directories)
    ranges, exported = [], []
    if len(directories) > EXCEPTION_TABLE:
        directory = directories[EXCEPTION_TABLE]
        ranges = functions(image, machine, directory.rva, directory.size)
    if directories:
        directory = directories[EXPORT_TABLE]
        exported = exports(image, directory.rva, directory.size)
    sizes = {program.base + begin: end - begin for begin, end in ranges}
    program.starts = sorted({program.base + edge for each in ranges for edge in each})
    rows = [_row(program, row, sizes, machine) for row in table.rows() if _is_symbol(row)]
    program.source = "COFF symbols" if rows else "exports" if exported else ""
    program.is_exact = program.has_locals = bool(rows)
    known = {row[1] for row in rows}
    for name, rva in exported:
        address = program.base + rva if rva else 0
        if address not in known:
            rows.append((name, address, sizes.get(address, 0), *_exported(program, address)))
    program.symbols = rows


def _is_symbol(row: tuple[str, int, int, int, int, int]) -> bool:
    """Say whether a record names something, and not a file, a section or a block."""
    name, _, _, kind, storage, more = row
    is_section = storage == STATIC and more and name.startswith(".") and kind & DTYPE != FUNCTION
    return storage in BINDINGS and not is_section


def _row(
    program: Program,
    row: tuple[str, int, int, int, int, int],
    sizes: dict[int, int],
    machine: int,
) -> Row:
    name, value, section, kind, storage, _ = row
    if machine == I386 and name.startswith("_"):
        name = name[1:]  # which C's names have there, as for Mach-O
    binding = BINDINGS[storage]
    if not 0 < section <= len(program.sections):
        return name, value, 0, binding, ABSOLUTE if section < 0 else UNDEFINED
    home = program.sections[section - 1]
    address = home.address + value
    if not home.is_code:
        return name, address, 0, binding | STT_OBJECT, PLACED
    is_function = kind & DTYPE == FUNCTION
    info = binding | (STT_FUNC if is_function else STT_NOTYPE)
    return name, address, sizes.get(address, 0), info, PLACED


def _exported(program: Program, address: int) -> tuple[int, int]:
    """Return `st_info` and `st_shndx` of an export; a forwarder has the address 0."""
    home = next((section for section in program.sections if section.holds(address)), None)
    if home is None:
        return STB_GLOBAL, UNDEFINED
    return STB_GLOBAL | (STT_FUNC if home.is_code else STT_OBJECT), PLACED
