"""All that says something of an ELF file's addresses: its own tables, and those of debug files."""

from __future__ import annotations

from okld.base.errors import FormatError, Refusal, Unreadable, printable
from okld.base.units import SectionOffset
from okld.syms.address_space import ElfSpace
from okld.syms.elf_file import ElfFile
from okld.syms.sources import NAMES_FROM, Sources
from okld.syms.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.debugfiles import DebugFile, Trail
    from okld.syms.dwarf.companions import Companions
    from okld.syms.dwarf.reader import Dwarf
    from okld.syms.dwarf.source import DebugBytes
    from okld.syms.dwarf.split import Split
    from okld.syms.options import Options

SYMTAB, NO_TABLE = ".symtab", "no table"


class ElfSources(Sources):
    """
    What is known of an ELF file, each part read when it is asked for.

    Attributes:
        elf: Its headers.
        options: Where debug files are.
        options: How it is read.
        space: Its address space.
        notes: What answers came from, and what was found and could not be used, a line each.
        separate: Its debug file, once one was looked for and found.
        trail: What the search for a debug file met; None: there was none.
    """

    def __init__(self, file: OpenFile, options: Options) -> None:
        """
        Read the headers of *file*.

        Raises:
            FormatError: If it is no ELF file (SYM-1).
            Unreadable: If the system refuses to read it.
        """
        self.elf = ElfFile(file.view, file.path)
        self.options = options
        self.space = ElfSpace(self.elf)
        self.notes: list[str] = []
        self.separate: DebugFile | None = None
        self._companions: Companions | None = None
        self._described: ElfFile | None = None
        self.trail: Trail | None = None
        self._table: Table | None = None
        self._dwarf: Dwarf | None = None
        self._has_searched_lines = False

    def close(self) -> None:
        """Close what was opened besides the file itself."""
        for each in (self._companions, self.separate):
            if each is not None:
                each.close()
        self._companions = self.separate = self._dwarf = self._table = None

    @property
    def extent(self) -> int:
        """Bytes of the file and, once one was found, of its debug file."""
        separate = self.separate.file.view.size if self.separate else 0
        return self.elf.view.size + separate

    @property
    def companions(self) -> Companions | None:
        """The files that the debug information is spread over; None where there is none."""
        if self._companions is None and self._described is not None:
            from okld.syms.dwarf.companions import Companions

            program = None if self._described is self.elf else self.elf
            self._companions = Companions(self._described, self.options, program)
        return self._companions

    def dwo(self, name: str, comp_dir: str, dwo_id: int) -> Split | str:
        """Return what `Companions.dwo` does; few programs need one."""
        assert self.companions is not None
        return self.companions.dwo(name, comp_dir, dwo_id)

    def alt(self) -> DebugBytes | str:
        """Return what `Companions.alt` does."""
        assert self.companions is not None
        return self.companions.alt()

    def named(self, name: str, offset: int, size: int) -> list[int]:
        """Return what `Symbols.named` says."""
        is_relocatable = self.space.is_relocatable
        if is_relocatable and self.elf.index(name):
            return [SectionOffset(name, offset)]
        same = [symbol for symbol in self.table() if symbol.name == name and symbol.section]
        same = [symbol for symbol in same if symbol.size == size] or same
        if is_relocatable:
            return [SectionOffset(symbol.section, symbol.value + offset) for symbol in same]
        return [symbol.value + offset for symbol in same]

    def table(self) -> Table:
        """Return the symbol table that names come from: a whole one, else all that are left."""
        if self._table is None:
            own = Table(self.elf)
            self._table = own if own.source == SYMTAB else self._all_tables(own)
            self.notes.append(NAMES_FROM + (self._table.source or NO_TABLE))
        return self._table

    def debug(self) -> Dwarf | None:
        """Return the debug information, or None where there is none."""
        if self._dwarf is None and not self._has_searched_lines:
            self._has_searched_lines = True
            self._dwarf = self._opened(self.elf)
            separate = None if self._dwarf else self._debug_file()
            if separate is not None:
                self._dwarf = self._opened(separate.elf)
        return self._dwarf

    def _all_tables(self, own: Table) -> Table:
        """Return the table of a stripped file with those that have the names it has not."""
        from okld.syms.minidebug import minidebug
        from okld.syms.part import Part

        parts = own.parts
        try:
            packed = minidebug(self.elf)
            if packed is not None:
                parts = [Part(packed, None, self.elf), *parts]
        except FormatError as error:
            self.notes.append(str(error))
        separate = self._debug_file()
        if separate is not None:
            parts = [Part(separate.elf, None, self.elf), *parts]
        return Table.of_parts(own, parts) if len(parts) > 1 else own

    def _debug_file(self) -> DebugFile | None:
        """Return the first separate debug file that is this file's, or None."""
        if self.trail is None:
            from okld.syms.debugfiles import Trail, find

            self.trail = Trail()
            self.separate = next(find(self.elf, self.options, self.trail), None)
            self.notes += self.trail.notes
            if self.separate is None:
                self.notes.append(_why_none(self.elf, self.options))
            else:
                path, how = printable(self.separate.elf.path), self.separate.how
                self.notes.append(f"debug file {path}, found by {how}")
        return self.separate

    def _opened(self, elf: ElfFile) -> Dwarf | None:
        """Return the debug information of *elf*, or None where it has none that can be read."""
        if not elf.index(".debug_info") and not elf.index(".zdebug_info"):
            return None
        from okld.syms.dwarf.reader import Dwarf
        from okld.syms.layout import code_ranges
        from okld.syms.sections import Sections

        try:
            sections = Sections.of_elf(elf)
            if not sections.size("info"):
                return None
            self._described = elf
            return Dwarf(sections, code=code_ranges(self.elf), companions=self)
        except (FormatError, Refusal, Unreadable) as error:
            self.notes.append(f"{printable(elf.path)}: {error}")
            return None


def _why_none(elf: ElfFile, options: Options) -> str:
    """Return why there is no debug file, for people."""
    if not options.external:
        return "no debug file: no other file is to be read"
    from okld.syms.build_id import build_id
    from okld.syms.debuglink import debug_link

    link, identity = debug_link(elf), build_id(elf)
    told = [f"build id {identity}"] if identity else []
    told += [f"debug link {printable(link[0])}"] if link else []
    if not told:
        return "no debug file: the file tells neither a build id nor a debug link"
    places = ", ".join(map(printable, options.debug_dirs))
    return f"no debug file: none is in {places}, for {' or '.join(told)}"
