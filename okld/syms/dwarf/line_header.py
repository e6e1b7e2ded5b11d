"""The header of a line program: its constants, its directories and files.

Source: DWARF 5, 6.2.4; DWARF 2 to 4, the same section.
"""

from __future__ import annotations

from _struct import Struct

from okld.base.errors import FormatError
from okld.base.limits import MAX_LINE_FILES, MAX_LINE_PROGRAM
from okld.syms.dwarf.codes import AT_COMP_DIR, LNCT_DIRECTORY_INDEX, LNCT_PATH
from okld.syms.dwarf.forms import (
    BLOCK,
    INLINE,
    KINDS,
    LEB,
    PREFIXES,
    SLEB,
    TEXT,
    WIDTHS,
)
from okld.syms.dwarf.leb import PAST_THE_END, RULE, sleb, uleb, unit_length
from okld.syms.dwarf.values import string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.dwarf.unit import Unit

    Name = tuple[int, int]
    """A string's kind, of `forms`, and its number; for INLINE its position in the data."""


class LineHeader:
    """
    A line program before it runs.

    Attributes:
        unit: The unit it belongs to.
        data: The program with its header.
        version: Of the header, which need not be the unit's.
        start: Position of the first opcode.
        min_length: Bytes by which addresses advance at least.
        max_ops: Operations of an instruction word; more than 1: VLIW.
        line_base: What is added to a special opcode's advance of the line.
        line_range: How many advances of the line special opcodes have; 0: they advance nothing.
        opcode_base: The first special opcode.
        lengths: How many operands each standard opcode has; by opcode, from 1.
        defined: Files that the program itself defines, as (name, index of the directory).
    """

    __slots__ = (
        "_directories",
        "_encoding",
        "_files",
        "_paths",
        "_tables",
        "data",
        "defined",
        "lengths",
        "line_base",
        "line_range",
        "max_ops",
        "min_length",
        "opcode_base",
        "start",
        "unit",
        "version",
    )

    def __init__(self, unit: Unit, offset: int) -> None:
        """
        Read the header at *offset* of `.debug_line`, all but the names.

        Raises:
            FormatError: If it is none that DWARF 2 to 5 have, or is cut (LIN-1).
        """
        self.unit = unit
        self.defined: list[tuple[Name, int]] = []
        self._files: list[tuple[Name, int]] | None = None
        self._directories: list[Name] = []
        self._paths: dict[int, str | None] = {}
        source = unit.units.source
        try:
            size, offset_size = unit_length(source.ahead("line", offset, 12), unit.encoding.order)
            if size > MAX_LINE_PROGRAM:
                raise FormatError("LIN-14", "line program", got=size, limit=MAX_LINE_PROGRAM)
            self.data = source.exact("line", offset, size)
            self._read(4 if offset_size == 4 else 12, offset_size)
        except PAST_THE_END:
            raise FormatError(RULE, "header of a line program is cut", at=offset) from None

    def _read(self, at: int, offset_size: int) -> None:
        data, order = self.data, self.unit.encoding.order
        (self.version,) = Struct(order + "H").unpack_from(data, at)
        if not 2 <= self.version <= 5:
            raise FormatError(RULE, "version of a line program", got=self.version)
        at += 2 if self.version < 5 else 4
        own = self.unit.units.encoding
        self._encoding = own(self.version, offset_size, self.unit.encoding.address_size)
        (length,) = Struct(order + ("I" if offset_size == 4 else "Q")).unpack_from(data, at)
        at += offset_size
        self.start = at + length
        self.min_length = data[at]
        at += 1
        self.max_ops = 1
        if self.version >= 4:
            self.max_ops = data[at]
            at += 1
        fields = Struct(order + "xbBB")
        self.line_base, self.line_range, self.opcode_base = fields.unpack_from(data, at)
        at += fields.size
        self.lengths = data[at - 1 : at - 1 + max(self.opcode_base, 1)]
        self._tables = at - 1 + max(self.opcode_base, 1)
        if self.start > len(data):
            raise IndexError

    def path(self, file: int) -> str | None:
        """
        Return the path of a file by its number, or None where there is no such file.

        Relative names are joined to their directory, and that to the one it was compiled in.

        Raises:
            FormatError: If the tables are not as DWARF has them (LIN-1).
        """
        if file not in self._paths:
            self._paths[file] = self._path(file)
        return self._paths[file]

    def define(self, at: int) -> None:
        """
        Add the file that the program defines at a position.

        Raises:
            FormatError: If there are too many (LIN-14).
        """
        self._count(len(self.defined))
        self.defined.append(_file_v2(self.data, at)[0])

    def _count(self, files: int) -> None:
        if files > MAX_LINE_FILES:
            raise FormatError("LIN-14", "files", got=files, limit=MAX_LINE_FILES)

    def _path(self, file: int) -> str | None:
        if self._files is None:
            self._files = []
            try:
                self._files = self._read_v5() if self.version >= 5 else self._read_v2()
            except PAST_THE_END:
                raise FormatError(RULE, "files of a line program are cut") from None
        files = self._files
        index = file if self.version >= 5 else file - 1
        if 0 <= index < len(files):
            name, directory = files[index]
        elif 0 <= index - len(files) < len(self.defined):
            name, directory = self.defined[index - len(files)]
        else:
            return None
        path = self._text(name)
        if path is None:
            return None
        self.unit.units.source.spend(len(path))
        if _absolute(path):
            return path
        compiled = directory if self.version >= 5 else directory - 1
        where = ""
        if 0 <= compiled < len(self._directories):
            where = self._text(self._directories[compiled]) or ""
        if not _absolute(where) and not (self.version >= 5 and directory == 0):
            where = _join(self.unit.text(AT_COMP_DIR) or "", where)
        self.unit.units.source.spend(len(where))
        return _join(where, path)

    def _text(self, name: Name) -> str | None:
        kind, number = name
        if kind == INLINE:
            raw: bytes | None = self.data[number : self.data.index(b"\0", number)]
        else:
            raw = string(self.unit, kind, number)
        return None if raw is None else raw.decode("utf-8", "surrogateescape")

    def _read_v2(self) -> list[tuple[Name, int]]:
        data, at = self.data, self._tables
        while data[at]:
            self._directories.append((INLINE, at))
            at = _text_end(data, at)
        at += 1
        files: list[tuple[Name, int]] = []
        while data[at]:
            file, at = _file_v2(data, at)
            files.append(file)
            self._count(len(files))
        return files

    def _read_v5(self) -> list[tuple[Name, int]]:
        directories, at = self._entries(self._tables)
        self._directories = [name for name, _ in directories]
        return self._entries(at)[0]

    def _entries(self, at: int) -> tuple[list[tuple[Name, int]], int]:
        data = self.data
        formats = []
        number = data[at]
        at += 1
        for _ in range(number):
            content, at = uleb(data, at)
            form, at = uleb(data, at)
            formats.append((content, KINDS.get(form, 0), self._encoding.layout(form)))
        count, at = uleb(data, at)
        self._count(count)
        entries: list[tuple[Name, int]] = []
        for _ in range(count if formats else 0):
            name, directory = (0, 0), 0
            for content, kind, layout in formats:
                value, at = self._field(layout, at)
                if content == LNCT_PATH:
                    name = kind, value
                elif content == LNCT_DIRECTORY_INDEX:
                    directory = value
            entries.append((name, directory))
        return entries, at

    def _field(self, layout: int | str, at: int) -> tuple[int, int]:
        """Return a number, or the position of a string, and where the field ends."""
        data, order = self.data, self.unit.encoding.order
        if isinstance(layout, str):
            end = at + WIDTHS[layout]
            if end > len(data):
                raise IndexError
            return int.from_bytes(data[at:end], "little" if order == "<" else "big"), end
        if layout == TEXT:
            return at, _text_end(data, at)
        if layout in (LEB, SLEB):
            return uleb(data, at) if layout == LEB else sleb(data, at)
        if layout == BLOCK:
            size, at = uleb(data, at)
        else:
            if layout not in PREFIXES:
                raise FormatError(RULE, "a file's field has an indirect form")
            size, at = self._field(PREFIXES[layout], at)
        return 0, at + size


def _file_v2(data: bytes, at: int) -> tuple[tuple[Name, int], int]:
    """Return the file at *at* as DWARF 2 to 4 write it, and where it ends."""
    name = (INLINE, at)
    directory, at = uleb(data, _text_end(data, at))
    _, at = uleb(data, at)
    _, at = uleb(data, at)
    return (name, directory), at


def _text_end(data: bytes, at: int) -> int:
    end = data.find(b"\0", at)
    if end < 0:
        raise IndexError
    return end + 1


def _absolute(path: str) -> bool:
    return path[:1] == "/" or path[:2] == "\\\\" or path[1:3] in (":\\", ":/")


def _join(directory: str, name: str) -> str:
    if not directory or not name:
        return directory or name
    if directory.endswith("/"):
        return directory + name.lstrip("/")
    return directory + name if name.startswith("/") else f"{directory}/{name}"
