"""Files that debug information is in besides: split units, their packages, and what dwz shared.

A companion that is missing, or that is another build's, costs names and inlined calls, never the
line, which the program's own file has; a note says what was lost. Nothing is believed of a
companion but what its id says.
"""

from __future__ import annotations

from okld.base.errors import FormatError, OkError, printable
from okld.base.limits import MAX_SPLIT
from okld.syms.debugfiles import Trail, find_alt, find_dwo, find_dwp
from okld.syms.dwarf.split import Split, contribution, unit_offset
from okld.syms.elf_file import FLAGS, NAME, SHF_COMPRESSED
from okld.syms.sections import Sections, section_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.base.view import View
    from okld.syms.debugfiles import DebugFile
    from okld.syms.dwarf.source import DebugBytes
    from okld.syms.elf_file import ElfFile
    from okld.syms.inflate import Inflated
    from okld.syms.options import Options

RULE = "LIN-35"
UNITS = ".debug_info.dwo"
READ = ("info", "abbrev", "str", "str_offsets", "rnglists")
"""The sections of a split unit that names, ranges and calls are in."""


class Companions:
    """
    The companions of one file with debug information; each is opened when it is first needed.

    Attributes:
        opened: The files of them that are open.
        trail: What the searches met, and which paths were not there.
    """

    __slots__ = ("_alt", "_elf", "_options", "_packages", "_program", "opened", "trail")

    def __init__(self, elf: ElfFile, options: Options, program: ElfFile | None = None) -> None:
        """
        Search on behalf of *elf*, which has the debug information of *program*, where that is
        another file.
        """
        self._elf = elf
        self._program = program
        self._options = options
        self.opened: list[DebugFile] = []
        self._alt: DebugBytes | str | None = None
        self._packages: list[Sections] | None = None
        self.trail = Trail()

    def close(self) -> None:
        """Close every companion."""
        for found in self.opened:
            found.close()
        self.opened = []

    def alt(self) -> DebugBytes | str:
        """
        Return the sections of the file that dwz moved common parts to, or a note of why not.

        Source: LIN-33, LIN-34.
        """
        if self._alt is None:
            found = find_alt(self._elf, self._options, self.trail)
            if found is None:
                self._alt = self._lost("the alternate file of debug information")
            else:
                self.opened.append(found)
                self._alt = Sections.of_elf(found.elf)
        return self._alt

    def dwo(self, name: str, comp_dir: str, dwo_id: int) -> Split | str:
        """
        Return the split unit *dwo_id*, which was compiled to *name* in *comp_dir*, or a note of
        why it cannot be had.

        Source: LIN-30, LIN-31, LIN-32, LIN-35.
        """
        what = f"split unit {printable(name)}"
        why = ""
        for package in self._all_packages():
            try:
                part = contribution(package, dwo_id)
                offset = None if part is None else unit_offset(part, dwo_id)
            except OkError as error:
                why = why or f"{what}, in a package: {error}"
                continue
            if part is not None and offset is not None:
                return Split(part, offset)
        for found in self._files(name, comp_dir):
            try:
                sections = _held(found.elf)
                offset = unit_offset(sections, dwo_id)
            except OkError as error:
                why = why or f"{what}: {error}"
                continue
            finally:
                found.close()
            if offset is not None:
                return Split(sections, offset)
        return why or self._lost(what)

    def _files(self, name: str, comp_dir: str) -> Iterator[DebugFile]:
        for elf in (self._elf, self._program):
            if elf is not None:
                yield from find_dwo(elf, name, comp_dir, self._options, self.trail)

    def _all_packages(self) -> list[Sections]:
        if self._packages is None:
            self._packages = []
            for elf in (self._elf, self._program):
                for found in find_dwp(elf, self._options, self.trail) if elf else ():
                    self.opened.append(found)
                    self._packages.append(Sections.of_elf(found.elf, dwo=True))
        return self._packages

    def _lost(self, what: str) -> str:
        if not self._options.external:
            return f"{what} is not looked for: other files may not be read [{RULE}]"
        return f"{what} is not found, or is another build's [{RULE}]"


def _held(elf: ElfFile) -> Sections:
    """
    Return the sections of a file of split units, in memory: a program may have thousands of such
    files, and not so many can be open.

    Raises:
        FormatError: If they are too large together (LIN-32), or one is damaged (DBG-1, DBG-2).
        Refusal: If nothing here can inflate one (DBG-3).
        Unreadable: If the system refuses to read it.
    """
    sections = Sections.of_elf(elf, dwo=True)
    further = _further_units(elf)
    total = sum(part.size for part in further) + sum(sections.size(name) for name in READ)
    if total > MAX_SPLIT:
        raise FormatError("LIN-32", "bytes of a split file", got=total, limit=MAX_SPLIT)
    held = {name: sections.whole(name) for name in READ}
    more = (part.window(0, part.size, UNITS, RULE) for part in further)
    held["info"] = b"".join((held["info"], *more))
    return Sections.of_parts(held, sections.order, sections.address_size)


def _further_units(elf: ElfFile) -> list[View | Inflated]:
    """
    Return every section of units but the first: GCC gives each type unit one of its own, and the
    first may be such a one.
    """
    first = section_index(elf, UNITS)
    name = elf.sections[first][NAME] if first else None
    further: list[View | Inflated] = []
    for index, section in enumerate(elf.sections):
        if index != first and section[NAME] == name:
            part = elf.raw(index)
            if section[FLAGS] & SHF_COMPRESSED:
                from okld.syms.inflate import inflated

                further.append(inflated(part, elf.header.bits, elf.header.order))
            else:
                further.append(part)
    return further
