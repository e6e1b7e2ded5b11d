"""What answers about one program file are put together from, whatever its format."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.syms.joined import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.address_space import AddressSpace
    from okld.syms.answer import Found, Miss
    from okld.syms.dwarf.reader import Dwarf
    from okld.syms.elf_sources import ElfSources
    from okld.syms.foreign import Foreign
    from okld.syms.foreign_table import ForeignTable
    from okld.syms.options import Options
    from okld.syms.table import Table


ELF_MAGIC = b"\x7fELF"
NAMES_FROM = "names from "
"""How the note begins that says which symbol table answers."""


class Sources:
    """
    A file's symbol table and its debug information; a class for each format says how they are read.

    Attributes:
        options: Where other files are.
        space: The address space of the file.
        notes: What answers came from, and what was found and could not be used, a line each.
    """

    options: Options
    space: AddressSpace
    notes: list[str]

    @property
    def extent(self) -> int:
        """Bytes of the file and its debug file, where there can be an index of them; else 0."""
        return 0

    def table(self) -> Table | ForeignTable:
        """Return the symbol table that names come from."""
        raise NotImplementedError

    def debug(self) -> Dwarf | None:
        """Return the debug information, or None where there is none."""
        raise NotImplementedError

    def named(self, name: str, offset: int, size: int) -> list[int]:
        """Return what `Symbols.named` says."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what was opened besides the file itself."""
        raise NotImplementedError

    def lookup(self, link: int, *, lines: bool) -> Found | Miss:
        """Return what a link address belongs to."""
        found = self.table().lookup(link)
        debug = self.debug() if lines else None
        return joined(found, debug.lookup(link), link) if debug else found

    def lookup_many(self, links: list[int], *, lines: bool) -> list[Found | Miss]:
        """Return for each of *links* what `lookup` returns."""
        found = self.table().lookup_many(links)
        debug = self.debug() if lines else None
        if debug is None:
            return list(found)
        several = zip(found, debug.lookup_many(links), links, strict=True)
        return [joined(each, told, link) for each, told, link in several]


def open_sources(file: OpenFile, options: Options) -> ElfSources | Foreign:
    """
    Return what is known of *file*, which stays open.

    Raises:
        FormatError: If it is no program file that can be read (SYM-1).
        Unreadable: If the system refuses to read it.
    """
    magic = bytes(file.view.window(0, min(len(ELF_MAGIC), file.view.size), "magic", "SYM-1"))
    if magic != ELF_MAGIC:
        from okld.image.open import foreign_kind

        if foreign_kind(file):
            from okld.syms.foreign import open_foreign

            return open_foreign(file, options)
        what = "no ELF, PE or Mach-O file"
        raise FormatError("SYM-1", what, got=magic.hex() or "nothing", at=0)
    from okld.syms.elf_sources import ElfSources

    return ElfSources(file, options)
