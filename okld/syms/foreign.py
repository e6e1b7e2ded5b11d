"""Mach-O and PE programs: their addresses, symbols and debug information.

Everything that a symbolizer asks of a file is answered as for ELF; what differs is how it is read,
which is in `okld.image`, and where it may be.

Source: OBJ-1 to OBJ-11.
"""

from __future__ import annotations

from okld.base.errors import Refusal, printable
from okld.base.units import FileOffset, ImageOffset, SectionOffset
from okld.syms.address_space import AddressSpace
from okld.syms.answer import Miss
from okld.syms.foreign_table import ForeignTable
from okld.syms.sources import NAMES_FROM, Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View
    from okld.image.open import OpenFile
    from okld.image.program import Program, ProgramSection
    from okld.syms.dwarf.reader import Dwarf
    from okld.syms.options import Options
    from okld.syms.sections import Sections

PREFIXES = ("__debug_", ".debug_")
CUT = {"str_offs": "str_offsets"}
"""Names that Mach-O cuts, as it has 16 bytes for one."""

NOT_LOADED = "no section holds that byte of the file"


def open_foreign(file: OpenFile, options: Options) -> Foreign:
    """
    Return what an open Mach-O or PE *file* knows of addresses.

    Raises:
        FormatError: If it cannot be read as one (CLI-4).
        Refusal: If it holds several programs and *options* do not say which, or no such (OBJ-2).
        Unreadable: If the system refuses to read it.
    """
    if bytes(file.view.window(0, min(2, file.view.size), "magic", "OBJ-1")) == b"MZ":
        from okld.image.full_pe_symbols import read_pe_symbols

        return Foreign(file, read_pe_symbols(file.view), options, is_macho=False)
    from okld.syms.dsym import chosen

    return Foreign(file, chosen(file.view, options.architecture), options, is_macho=True)


class ForeignSpace(AddressSpace):
    """The address space of a program; object files of Mach-O have one of their own."""

    __slots__ = ("_base", "_sections")

    def __init__(self, program: Program) -> None:
        """Take the sections of *program*."""
        loaded = [section for section in program.sections if section.is_loaded]
        super().__init__([(s.address, s.address + s.size) for s in loaded])
        self._sections = program.sections
        self._base = program.base

    @property
    def base(self) -> int:
        """The link address of the image's first byte."""
        return self._base

    def to_link(self, address: int) -> int | Miss:
        """Return the link address that *address*, of any kind, means, or why it means none."""
        if isinstance(address, SectionOffset):
            return self._in_section(address)
        if isinstance(address, ImageOffset):
            return self.base + address
        if isinstance(address, FileOffset):
            for section in self._sections:
                if section.is_loaded and 0 <= address - section.offset < section.filesize:
                    return section.address + address - section.offset
            return Miss(NOT_LOADED)
        return int(address)

    def _in_section(self, address: SectionOffset) -> int | Miss:
        wanted = address.section
        if isinstance(wanted, int):
            named = self._sections[wanted - 1 : wanted] if wanted > 0 else []
        else:
            named = [s for s in self._sections if wanted in (s.name, _short(s))]
        shown = printable(str(wanted))
        if len(named) != 1:
            return Miss(f"{'several sections are' if named else 'no section is'} named {shown}")
        if not 0 <= address < named[0].size:
            return Miss(f"past the end of the section named {shown}")
        return named[0].address + address


class Foreign(Sources):
    """
    What is known of a Mach-O or PE program, each part read when it is asked for.

    Attributes:
        space: Its address space.
        identity: Its UUID, or the GUID of its PDB, in hex; "" where it has none.
        code: Where code lies, as (start, end) link addresses, ascending.
        notes: What answers came from, and what was found and could not be used, a line each.
    """

    def __init__(
        self, file: OpenFile, program: Program, options: Options, *, is_macho: bool
    ) -> None:
        """Take over what was read of *file*, which stays open."""
        self.space = ForeignSpace(program)
        self.identity = program.identity
        self.code = program.code()
        self.notes: list[str] = []
        self._file = file
        self._program = program
        self.options = options
        self._is_macho = is_macho
        self._table: ForeignTable | None = None
        self._separate: tuple[OpenFile, Program] | None = None
        self._has_searched = False
        self._dwarf: Dwarf | None = None
        self._has_searched_lines = False

    def close(self) -> None:
        """Close what was opened besides the file itself."""
        if self._separate:
            self._separate[0].close()
        self._separate = None

    def table(self) -> ForeignTable:
        """Return the symbols: the program's own and, where it was stripped, its debug file's."""
        if self._table is None:
            separate = None if self._program.has_locals else self._debug_file()
            self._table = ForeignTable(self._program, separate[1].symbols if separate else ())
            self.notes.append(NAMES_FROM + (self._table.source or "no table"))
        return self._table

    def sections(self) -> Sections | None:
        """Return the sections of debug information, its own or its debug file's, or None."""
        own = _debug_sections(self._file.view, self._program)
        if own:
            return own
        separate = self._debug_file()
        return _debug_sections(separate[0].view, separate[1]) if separate else None

    def debug(self) -> Dwarf | None:
        """Return the debug information, or None where there is none."""
        if not self._has_searched_lines:
            self._has_searched_lines = True
            sections = self.sections()
            if sections:
                from okld.syms.dwarf.reader import Dwarf

                self._dwarf = Dwarf(sections, code=self.code)
            else:
                self.notes += self._program.notes
        return self._dwarf

    def named(self, name: str, offset: int, size: int) -> list[int]:
        """Return what `Symbols.named` says."""
        same = [symbol for symbol in self.table() if symbol.name == name and symbol.section]
        same = [symbol for symbol in same if symbol.size == size] or same
        return [symbol.value + offset for symbol in same]

    def _debug_file(self) -> tuple[OpenFile, Program] | None:
        """Return the open file with the program's debug information, or None."""
        if not self._has_searched:
            self._has_searched = True
            if self._is_macho:
                from okld.syms.dsym import find_dsym

                path = self._file.path
                self._separate = find_dsym(path, self.identity, self.options, self.notes)
            elif self.options.debug_file:
                self._separate = _given_pe(self.options.debug_file, self.identity)
            if self._separate:
                self.notes.append(f"debug file {printable(self._separate[0].path)}")
        return self._separate


def _given_pe(path: str, identity: str) -> tuple[OpenFile, Program]:
    from okld.image.full_pe_symbols import read_pe_symbols
    from okld.image.open import Naming, open_file

    file = open_file(path)
    try:
        with Naming(path):
            program = read_pe_symbols(file.view)
        if identity and program.identity and program.identity != identity:
            raise Refusal("OBJ-5", f"{path} is of another build")
    except BaseException:
        file.close()
        raise
    return file, program


def _short(section: ProgramSection) -> str:
    return section.name.rpartition(",")[2]


def _debug_sections(view: View, program: Program) -> Sections | None:
    """Return the sections of DWARF that *program* has in its file, *view*, or None."""
    parts: dict[str, View] = {}
    for section in program.sections:
        name = _short(section)
        prefix = next((each for each in PREFIXES if name.startswith(each)), "")
        size = min(section.filesize, view.size - section.offset)
        if prefix and size > 0:
            name = name.removeprefix(prefix)
            part = view.part(section.offset, size, name, "OBJ-6")
            parts.setdefault(CUT.get(name, name), part)
    if "info" not in parts:
        return None
    from okld.syms.sections import Sections

    return Sections.of_parts(parts, program.order, program.bits // 8)
