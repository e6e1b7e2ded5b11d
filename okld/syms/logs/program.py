"""One file that a log leads to: look-ups as logs ask for them."""

from __future__ import annotations

from bisect import bisect_right

from okld.base.errors import OkError
from okld.base.units import LIMIT, FileOffset, ImageOffset, LinkAddr, SectionOffset
from okld.elf.header import ET_EXEC, ET_REL, MAGIC, PF_X
from okld.image.open import MACHO_MAGICS, open_file
from okld.syms.answer import Miss
from okld.syms.build_id import build_id as identity
from okld.syms.choose import is_placed
from okld.syms.elf_file import ElfFile
from okld.syms.options import Options
from okld.syms.places import to_link
from okld.syms.symbolizer import Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.answer import Found


BEYOND = "outside every segment"
UUID = 32  # hexadecimal digits
MAX_INDEXED = 1 << 18  # symbols whose names are kept to ask by; kernels have half of it
MAX_SAME = 64  # symbols of one name that are told apart; kernels have some dozens

TRAMPOLINES = tuple(
    bytes.fromhex(code)
    for code in (
        "48c7c00f0000000f05",  # x86-64: mov $15, %rax; syscall
        "b8ad000000cd80",  # i386: mov $173, %eax; int $0x80
        "58b877000000cd80",  # i386: pop %eax; mov $119, %eax; int $0x80
        "681180d2010000d4",  # AArch64: mov x8, #139; svc #0
    )
)
"""What a signal's handler returns to: the call of `rt_sigreturn` or `sigreturn`, and nothing else.
gdb and libgcc know it by these bytes, too, for stripped C libraries have no name for it."""


class Program:
    """
    A program file, open.

    Attributes:
        path: Where it is.
        build_id: Its build id in hexadecimal, "" for none.
        is_fixed: Whether it runs where it was linked to run.
    """

    def __init__(self, path: str, options: Options, *, build_id: str = "", arch: str = "") -> None:
        """
        Open the file at *path*.

        Args:
            path: Where it is.
            options: Where debug files are, and who may be asked.
            build_id: Of a Mach-O file, the UUID of the program in it that is meant; "": not known.
            arch: Else its architecture; "": the file has one.

        Raises:
            FormatError: If it is no program file that can be read.
            Refusal: If it has no such program.
            Unreadable: If it cannot be opened or read.
        """
        self.path = path
        file = open_file(path)
        magic = _magic(file)
        is_macho = magic in MACHO_MAGICS
        if is_macho:
            options = _of_program(options, build_id if len(build_id) == UUID else arch)
        self._symbols = Symbols(file, options=options)
        self._elf = ElfFile(file.view, path) if magic == MAGIC else None
        self.build_id = identity(self._elf) if self._elf else build_id if is_macho else ""
        self.is_fixed = self._elf is not None and self._elf.header.type == ET_EXEC
        self._is_relocatable = self._elf is not None and self._elf.header.type == ET_REL
        self._named: dict[int, list[tuple[int, int, int]]] | None = None
        self._starts: list[int] = []
        self._is_large = False

    def close(self) -> None:
        """Close it; what was answered stays valid."""
        self._symbols.close()

    def lookup(self, address: int, *, back: bool) -> Found | Miss:
        """Return what *address*, or the byte before it where *back* says so, belongs to."""
        if back:
            address = (
                SectionOffset(address.section, address - 1)
                if isinstance(address, SectionOffset)
                else type(address)(address - 1)
            )
        return self._symbols.lookup(address) if 0 <= address < LIMIT else Miss(BEYOND)

    def guess(self, address: int) -> LinkAddr | ImageOffset:
        """Return *address* as what its range says."""
        return self._symbols.guess(address) if address < LIMIT else LinkAddr(address)

    def has_code_at(self, address: int) -> bool:
        """Say whether a link address lies in a segment with code."""
        loads = self._elf.loads() if self._elf else ()
        return any(s[1] & PF_X and s[3] <= address < s[3] + s[6] for s in loads)

    def file_offset_of_code(self, address: int) -> FileOffset | None:
        """Return *address* as an offset in the file, where code is at it, or None."""
        for segment in self._elf.loads() if self._elf else ():
            if segment[1] & PF_X and segment[2] <= address < segment[2] + segment[5]:
                return FileOffset(address)
        return None

    def link_of(self, address: int) -> int:
        """Return the link address of an offset in the file, -1 for none; others as they are."""
        if not isinstance(address, FileOffset):
            return address
        for segment in self._elf.loads() if self._elf else ():
            if segment[2] <= address < segment[2] + segment[5]:
                return address - segment[2] + segment[3]
        return -1

    def is_trampoline(self, address: int) -> bool:
        """Say whether the code at *address* is what a signal's handler returns to."""
        link = to_link(self._elf, address) if self._elf else Miss("")
        if self._elf is None or isinstance(link, Miss):
            return False
        for segment in self._elf.loads():
            at = link - segment[3] + segment[2]
            if segment[1] & PF_X and segment[2] <= at < segment[2] + segment[5]:
                size = min(max(map(len, TRAMPOLINES)), self._elf.view.size - at)
                code = bytes(self._elf.view.window(at, size, "code", "LOG-3")) if size > 0 else b""
                return code.startswith(TRAMPOLINES)
        return False

    def of_symbol(self, name: str, offset: int, size: int) -> list[int]:
        """
        Return the address *offset* bytes behind each symbol of this *name*; of several those from
        which it is *size* bytes to the next symbol, or that have that size, where there are such.
        """
        index = self._index()
        if index is None:
            return self._symbols.named(name, offset, size)
        rows = index.get(hash(name), [])
        if size:
            rows = (
                [row for row in rows if self._reach(row) == size]
                or [row for row in rows if row[2] == size]
                or rows
            )
        if self._is_relocatable:
            return [SectionOffset(section, value + offset) for section, value, _ in rows]
        return [LinkAddr(value + offset) for _, value, _ in rows]

    def _reach(self, row: tuple[int, int, int]) -> int:
        """Return the bytes from a symbol to the next one that is elsewhere."""
        key = _key(row)
        index = bisect_right(self._starts, key)
        return self._starts[index] - key if index < len(self._starts) else 0

    def _index(self) -> dict[int, list[tuple[int, int, int]]] | None:
        """
        Return (section, value, size) of each symbol in a section by its name's hash, as names can
        overlap and be long; None: there are too many.
        """
        if self._named is None and not self._is_large:
            named: dict[int, list[tuple[int, int, int]]] = {}
            starts = set()
            for count, symbol in enumerate(self._symbols):
                if count >= MAX_INDEXED:
                    self._is_large = True
                    return None
                if is_placed(symbol.section) and symbol.name:
                    section = symbol.section if self._is_relocatable else 0
                    row = (section, symbol.value, symbol.size)
                    rows = named.setdefault(hash(symbol.name), [])
                    if row not in rows and len(rows) < MAX_SAME:
                        rows.append(row)
                    starts.add(_key(row))
            self._named, self._starts = named, sorted(starts)
        return self._named


def _magic(file: OpenFile) -> bytes:
    try:
        return bytes(file.view.window(0, min(4, file.view.size), "magic", "LOG-17"))
    except OkError:
        file.close()
        raise


def _of_program(options: Options, architecture: str) -> Options:
    """Return *options* that mean one program of a fat file, unless they do already."""
    fields = {name: getattr(options, name) for name in options.__slots__}
    return Options(**(fields | {"architecture": options.architecture or architecture}))


def _key(row: tuple[int, int, int]) -> int:
    return row[0] << 64 | row[1]
