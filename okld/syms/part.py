"""One symbol table of one file: its columns, and what each symbol may reach.

Nothing that a file says of its sizes is believed: a name outside the string table is "<corrupt>",
and a table outside the file is not there.
"""

from __future__ import annotations

from _struct import unpack_from

from okld.base.limits import MAX_NAMES
from okld.elf.header import ET_REL
from okld.elf.tables import STT_FUNC, STT_GNU_IFUNC, SYMBOL_SIZE, column
from okld.syms import locate
from okld.syms.choose import SHN_LORESERVE, SHN_XINDEX, TYPES, Symbol, is_placed
from okld.syms.elf_file import SIZE
from okld.syms.layout import NOWHERE, section_addresses
from okld.syms.strings import Strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from okld.base.view import View
    from okld.image.shape import Shape
    from okld.syms.elf_file import ElfFile

EM_ARM, EM_PPC64 = 40, 21

_ENTRY = {32: "IIIBBH", 64: "IBBHQQ"}
_COLUMNS: dict[int, dict[str, tuple[Literal["H", "I", "Q"], int, int]]] = {
    32: {"name": ("I", 0, 4), "section": ("H", 7, 8), "value": ("I", 1, 4), "size": ("I", 2, 4)},
    64: {"name": ("I", 0, 6), "section": ("H", 3, 12), "value": ("Q", 1, 3), "size": ("Q", 2, 3)},
}
_INFO = {32: slice(12, None, 16), 64: slice(4, None, 24)}
_MAY_ANSWER = bytes(info & 15 in TYPES for info in range(256))
_IS_CODE = bytes(info & 15 in (STT_FUNC, STT_GNU_IFUNC) for info in range(256))

WHOLE_FROM = 64  # names; about as many reads cost what reading a large string table costs


class Part:
    """
    The symbols of one table.

    Attributes:
        source: Where they come from, as `Place.name`.
        values: The link address of each: `st_value`, without the bit that says Thumb on `EM_ARM`,
            where the code is and not its descriptor on `EM_PPC64`, and in a relocatable file in
            the addresses of `section_addresses`.
        info: `st_info` of each.
        strings: Their names.
    """

    def __init__(self, elf: ElfFile, shape: Shape | None, program: ElfFile | None) -> None:
        """
        Read the table of *elf*; of an ok image *shape* is given, of a debug file *program*.

        Raises:
            FormatError: If it has more symbols than can be read (SYM-1).
        """
        place = locate.find(elf, shape)
        self.source = place.name
        self._elf = elf
        self._by_segment = not elf.sections or shape is not None
        size = place.count * SYMBOL_SIZE[elf.header.bits]
        self._table = elf.view.window(place.offset, size, "symbol table", locate.RULE)
        self.info = bytes(self._table[_INFO[elf.header.bits]])
        self.strings = Strings(_rest(elf.view, *place.strings), versioned=self.source == ".symtab")
        extended = _rest(elf.view, *place.extended)
        self._extended = extended.window(0, extended.size, "section indices", locate.RULE)
        self._addresses = section_addresses(elf)
        self._lists: dict[str, list[int]] = {}
        self.values = self._placed(program or elf)

    def __len__(self) -> int:
        """Return the number of entries, the first, empty one included."""
        return len(self.info)

    @property
    def sizes(self) -> list[int]:
        """`st_size` of each."""
        return self._column("size")

    def size(self, index: int) -> int:
        """Return `st_size` of the symbol at *index*."""
        sizes = self._lists.get("size")
        return sizes[index] if sizes else self._entry(index)[3]

    def answers(self, indices: Iterable[int]) -> list[int]:
        """Return those of *indices* whose symbols can be an answer. Source: SYM-2."""
        info, found = self.info, []
        for index in indices:
            if not _MAY_ANSWER[info[index]]:
                continue
            name, _, section, _ = self._entry(index)
            if name and is_placed(section) and self.strings.is_answer(name):
                found.append(index)
                if len(found) == WHOLE_FROM:
                    self.strings.whole()
        return found

    def all_answers(self) -> list[int]:
        """Return the indices of all symbols that can be an answer. Source: SYM-2."""
        data, end, is_answer = self.strings.whole(), self.strings.end, self.strings.is_answer
        mask = self.info.translate(_MAY_ANSWER)
        rows = zip(mask, self._column("section"), self._column("name"), strict=True)
        return [
            index
            for index, (may, section, name) in enumerate(rows)
            if may
            and name
            and section
            and (section < SHN_LORESERVE or section == SHN_XINDEX)
            and (name >= end or data[name] not in b"\0$" or is_answer(name))
        ]

    def symbol(self, index: int) -> Symbol:
        """Return the entry at *index*; of a relocatable file with its own value."""
        _, _, section, size = self._entry(index)
        value = self.values[index]
        if self._elf.header.type == ET_REL:
            value -= self._base(index, section)
        name, version = self.name(index)
        info = self.info[index]
        return Symbol(
            index=index,
            name=name,
            version=version,
            value=value,
            size=size,
            info=info,
            section=section,
        )

    def name(self, index: int) -> tuple[str, str]:
        """Return the name of the symbol at *index*, and its version or ""."""
        names = self._lists.get("name")
        return self.strings.name(names[index] if names else self._entry(index)[0])

    def head(self, index: int) -> str:
        """Return how the name of the symbol at *index* begins."""
        return self.strings.head(self._entry(index)[0])

    def short(self, index: int, limit: int) -> str | None:
        """Return the name of the symbol at *index*, or None if it has over *limit* bytes."""
        return self.strings.short(self._entry(index)[0], limit)

    def limits(self, indices: list[int]) -> list[int]:
        """Return link addresses up to which symbols of size 0 may reach. Source: SYM-4."""
        values = self.values
        if self.source != ".symtab":
            return [values[index] + 1 for index in indices]
        if self._by_segment:
            loads = [(s[3], s[3] + s[6]) for s in self._elf.loads()]
            return [
                next((end for start, end in loads if start <= values[i] < end), values[i])
                for i in indices
            ]
        sections = self._elf.sections
        ends = [at + s[SIZE] for at, s in zip(self._addresses, sections, strict=True)]
        homes = [(self._section(index, self._entry(index)[2]), index) for index in indices]
        return [ends[home] if home < len(ends) else values[index] for home, index in homes]

    def _entry(self, index: int) -> tuple[int, int, int, int]:
        """Return (st_name, st_value, st_shndx, st_size)."""
        bits = self._elf.header.bits
        layout = self._elf.header.order + _ENTRY[bits]
        fields = unpack_from(layout, self._table, SYMBOL_SIZE[bits] * index)
        if bits == 32:
            return fields[0], fields[1], fields[5], fields[2]
        return fields[0], fields[4], fields[3], fields[5]

    def _column(self, field: str) -> list[int]:
        if field not in self._lists:
            header = self._elf.header
            self._lists[field] = column(self._table, *_COLUMNS[header.bits][field], header.order)
        return self._lists[field]

    def _placed(self, program: ElfFile) -> list[int]:
        """Return `values`; *program* is the file that holds the descriptors of functions."""
        values, header = self._column("value"), self._elf.header
        if header.type == ET_REL:
            sections = self._column("section")
            values = [self._base(i, s) + values[i] for i, s in enumerate(sections)]
        if header.machine == EM_ARM:
            code = self.info.translate(_IS_CODE)
            values = [v & ~1 if is_code else v for v, is_code in zip(values, code, strict=True)]
        if header.machine == EM_PPC64:
            from okld.syms.opd import entry_points

            values = entry_points(program, values, self.info.translate(_IS_CODE))
        return values

    def _base(self, index: int, section: int) -> int:
        """Return the address that a relocatable file's section was given."""
        section = self._section(index, section)
        return self._addresses[section] if section < len(self._addresses) else NOWHERE

    def _section(self, index: int, section: int) -> int:
        """Return the index of the section that a symbol is defined in, past all if in none."""
        if section < SHN_LORESERVE:
            return section
        if section != SHN_XINDEX or 4 * index + 4 > len(self._extended):
            return len(self._addresses)
        number: int = unpack_from(self._elf.header.order + "I", self._extended, 4 * index)[0]
        return number


def _rest(view: View, offset: int, size: int) -> View:
    """Return the *size* bytes at *offset*, those of the first MAX_NAMES that are in the file."""
    size = max(0, min(size, view.size - offset, MAX_NAMES))
    return view.part(min(offset, view.size), size, "string table", locate.RULE)
