"""The program headers of an image: what is loaded where, and the rules about it.

Everything that follows asks `Memory` where an address lies; no table is read whose bytes `Memory`
does not place in the file. Source: SPEC IMG-5 to IMG-20, IMG-38.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import (
    MAX_ADDRESS,
    MAX_ALIGN,
    MAX_SEGMENTS,
    MAX_SPAN,
    MIN_ALIGN,
    PAGE,
)
from okld.base.view import View
from okld.elf.header import (
    EM_RISCV,
    HEADER_SIZE,
    PF_R,
    PF_W,
    PF_X,
    PT_DYNAMIC,
    PT_GNU_EH_FRAME,
    PT_GNU_PROPERTY,
    PT_GNU_RELRO,
    PT_GNU_STACK,
    PT_INTERP,
    PT_LOAD,
    PT_NOTE,
    PT_NULL,
    PT_PHDR,
    PT_RISCV_ATTRIBUTES,
    PT_TLS,
    SEGMENT_SIZE,
    Header,
    read_segments,
)
from okld.elf.tables import below

_KNOWN = {
    PT_NULL,
    PT_LOAD,
    PT_DYNAMIC,
    PT_NOTE,
    PT_PHDR,
    PT_GNU_EH_FRAME,
    PT_GNU_STACK,
    PT_GNU_RELRO,
    PT_GNU_PROPERTY,
}
_REPEATABLE = {PT_NULL, PT_LOAD, PT_NOTE}
_MAPPED = {PT_PHDR, PT_NOTE, PT_GNU_EH_FRAME}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Segment:
    """
    One loadable range of an image, exactly as its program header states it.

    Attributes:
        offset: Where the bytes start, in bytes from the start of the file.
        vaddr: Where they are linked to go; a link address.
        filesz: How many bytes the file supplies.
        memsz: How many bytes the range takes; those past *filesz* are zero.
        flags: ``PF_R``, ``PF_W``, ``PF_X`` bits, once relocated.

    Source: System V gABI, chapter 5, "Program Header".
    """

    __slots__ = ("filesz", "flags", "memsz", "offset", "vaddr")

    def __init__(self, offset: int, vaddr: int, filesz: int, memsz: int, flags: int) -> None:
        self.offset = offset
        self.vaddr = vaddr
        self.filesz = filesz
        self.memsz = memsz
        self.flags = flags


class Memory:
    """
    The link address space of an image.

    Attributes:
        segments: In ascending order of address.
        lo, hi: Link addresses; the page of the first segment, and the end of the last segment's
            last page.
        align: The largest ``p_align``, in bytes: what the distance from link to run-time addresses
            is a multiple of.
    """

    __slots__ = ("_code_ends", "_code_starts", "align", "hi", "lo", "segments")

    def __init__(self, segments: tuple[Segment, ...], align: int) -> None:
        last = segments[-1]
        code = [segment for segment in segments if segment.flags & PF_X]
        self.segments = segments
        self.align = align
        self._code_starts = [segment.vaddr for segment in code]
        self._code_ends = [segment.vaddr + segment.filesz for segment in code]
        self.lo = segments[0].vaddr & -PAGE
        self.hi = -(-(last.vaddr + last.memsz) // PAGE) * PAGE

    def file_offset(self, address: int, size: int, flags: int = 0) -> int | None:
        """
        Return where the file holds [*address*, *address* + *size*) of one segment with *flags*, or
        None.
        """
        for segment in self.segments:
            start = address - segment.vaddr
            if 0 <= start <= segment.filesz - size and segment.flags & flags == flags:
                return segment.offset + start
        return None

    def file_room(self, address: int) -> int:
        """Return how many bytes the file holds from *address* to the end of its segment's, or 0."""
        for segment in self.segments:
            start = address - segment.vaddr
            if 0 <= start < segment.filesz:
                return segment.filesz - start
        return 0

    def is_code(self, address: int) -> bool:
        """Say whether the file holds the byte at *address* in an executable segment."""
        index = below(self._code_starts, address + 1) - 1
        return index >= 0 and address < self._code_ends[index]

    def writable(self) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of each writable segment, ascending."""
        return ((s.vaddr, s.vaddr + s.memsz) for s in self.segments if s.flags & PF_W)


def file_range(
    memory: Memory, address: int, size: int, what: str, rule: str, align: int = 8
) -> int:
    """
    Return the file offset of a table of *size* bytes at link *address*.

    Raises:
        FormatError: With *rule*, if it is not aligned, or not whole in the file's bytes of a
            segment.
    """
    if address % align:
        raise FormatError(rule, f"{what} is not aligned to {align} bytes", got=address)
    offset = memory.file_offset(address, size)
    if offset is None:
        what = f"{what} of {size:#x} bytes is not in the file's bytes of a segment"
        raise FormatError(rule, what, got=address)
    return offset


def read_headers(view: View, header: Header) -> list[tuple[int, ...]]:
    """
    Return the program headers of an image: their table, their types, their file ranges.

    Raises:
        FormatError: IMG-5, IMG-9, IMG-17 to IMG-20.
    """
    if header.phentsize != SEGMENT_SIZE:
        raise FormatError(
            "IMG-5", "program header size", got=header.phentsize, limit=SEGMENT_SIZE, at=54
        )
    if not 1 <= header.phnum <= MAX_SEGMENTS:
        raise FormatError(
            "IMG-5", "program header count", got=header.phnum, limit=MAX_SEGMENTS, at=56
        )
    if header.phoff < HEADER_SIZE or header.phoff % 8:
        raise FormatError("IMG-5", "program header table offset", got=header.phoff, at=32)
    headers = read_segments(view, header, "IMG-5")
    seen = set()
    for index, (kind, flags, offset, _vaddr, _paddr, filesz, _memsz, _align) in enumerate(headers):
        at = header.phoff + SEGMENT_SIZE * index
        _check_kind(kind, flags, header.machine, at)
        if offset > view.size or filesz > view.size - offset:
            raise FormatError(
                "IMG-9",
                f"{_name(kind)} is past the end of the file",
                got=offset + filesz,
                limit=view.size,
                at=at,
            )
        if kind in seen and kind not in _REPEATABLE:
            rule = "IMG-21" if kind == PT_DYNAMIC else "IMG-20"
            raise FormatError(rule, f"a second {_name(kind)}", at=at)
        seen.add(kind)
    return headers


def _check_kind(kind: int, flags: int, machine: int, at: int) -> None:
    if kind == PT_INTERP:
        raise FormatError("IMG-17", "PT_INTERP: an image has no interpreter", at=at)
    if kind == PT_TLS:
        raise FormatError("IMG-18", "PT_TLS: an image has no thread-local storage", at=at)
    if kind == PT_GNU_STACK and flags & PF_X:
        raise FormatError("IMG-19", "PT_GNU_STACK asks for an executable stack", got=flags, at=at)
    if kind not in _KNOWN and not (kind == PT_RISCV_ATTRIBUTES and machine == EM_RISCV):
        raise FormatError("IMG-20", f"program header type {_name(kind)}", at=at)


def _name(kind: int) -> str:
    from okld.elf.names import SEGMENT_TYPES, named

    return named(SEGMENT_TYPES, kind)


def read_memory(headers: list[tuple[int, ...]], phoff: int) -> Memory:
    """
    Return what the ``PT_LOAD`` headers map, and check that the others lie in it.

    Raises:
        FormatError: IMG-7, IMG-8, IMG-10 to IMG-15, IMG-20.
    """
    segments: list[Segment] = []
    page_end = file_end = most = 0
    for index, header in enumerate(headers):
        kind, flags, offset, vaddr, _paddr, filesz, memsz, align = header
        if kind != PT_LOAD:
            continue
        at = phoff + SEGMENT_SIZE * index
        _check_load(flags, vaddr, filesz, memsz, at)
        if memsz == 0:  # GNU ld writes one around an empty .eh_frame
            continue
        _check_alignment(offset, vaddr, align, at)
        if segments and vaddr & -PAGE < page_end:
            raise FormatError(
                "IMG-11", "PT_LOAD shares a page or descends", got=vaddr, limit=page_end, at=at
            )
        if filesz and offset < file_end:
            raise FormatError(
                "IMG-12", "PT_LOAD file ranges overlap", got=offset, limit=file_end, at=at
            )
        page_end = -(-(vaddr + memsz) // PAGE) * PAGE
        file_end = max(file_end, offset + filesz)
        most = max(most, align)
        segments.append(Segment(offset, vaddr, filesz, memsz, flags))
    if not segments:
        raise FormatError("IMG-7", "no PT_LOAD: there is nothing to load")
    memory = Memory(tuple(segments), most)
    if memory.hi - memory.lo > MAX_SPAN:
        raise FormatError("IMG-10", "address range", got=memory.hi - memory.lo, limit=MAX_SPAN)
    _check_mapped(headers, memory, phoff)
    return memory


def _check_load(flags: int, vaddr: int, filesz: int, memsz: int, at: int) -> None:
    if filesz > memsz:
        raise FormatError("IMG-8", "PT_LOAD p_filesz", got=filesz, limit=memsz, at=at)
    if vaddr + memsz > MAX_ADDRESS:
        raise FormatError("IMG-10", "PT_LOAD end", got=vaddr + memsz, limit=MAX_ADDRESS, at=at)
    if flags & ~(PF_R | PF_W | PF_X):
        raise FormatError("IMG-14", "PT_LOAD has unknown flags", got=flags, limit=7, at=at)
    if not flags & PF_R:
        raise FormatError("IMG-14", "PT_LOAD is not readable", got=flags, at=at)
    if flags & PF_W and flags & PF_X:
        raise FormatError("IMG-14", "PT_LOAD is writable and executable", got=flags, at=at)
    if flags & PF_X and filesz != memsz:
        raise FormatError("IMG-15", "code is not all in the file", got=memsz, limit=filesz, at=at)


def _check_alignment(offset: int, vaddr: int, align: int, at: int) -> None:
    if align & (align - 1) or not MIN_ALIGN <= align <= MAX_ALIGN:
        raise FormatError(
            "IMG-13",
            "PT_LOAD alignment is no power of two from 0x10000 to 0x200000"
            "; link with -Wl,-z,max-page-size=65536",
            got=align,
            at=at,
        )
    if (vaddr - offset) % align:
        raise FormatError(
            "IMG-13",
            "PT_LOAD address and offset differ modulo p_align",
            got=vaddr,
            limit=align,
            at=at,
        )


def _check_mapped(headers: list[tuple[int, ...]], memory: Memory, phoff: int) -> None:
    for index, header in enumerate(headers):
        kind, _flags, offset, vaddr, _paddr, filesz, _memsz, _align = header
        if kind in _MAPPED and memory.file_offset(vaddr, filesz) != offset:
            raise FormatError(
                "IMG-20",
                f"{_name(kind)} is not where a PT_LOAD maps it",
                got=vaddr,
                at=phoff + SEGMENT_SIZE * index,
            )


def read_relro(headers: list[tuple[int, ...]], memory: Memory, phoff: int) -> tuple[int, int]:
    """
    Return the (link address, bytes) that become read-only once relocated, ending at a page's end;
    or (0, 0).

    Raises:
        FormatError: IMG-38.
    """
    for index, header in enumerate(headers):
        kind, _flags, _offset, vaddr, _paddr, _filesz, memsz, _align = header
        if kind == PT_GNU_RELRO:
            return _relro(vaddr, memsz, memory, phoff + SEGMENT_SIZE * index)
    return 0, 0


def _relro(vaddr: int, memsz: int, memory: Memory, at: int) -> tuple[int, int]:
    end = vaddr + memsz
    for start, stop in memory.writable():
        page_end = -(-stop // PAGE) * PAGE
        if not start <= vaddr <= end <= page_end:
            continue
        if end % PAGE == 0:
            return vaddr, memsz
        if end >= stop:  # nothing but zero padding shares its last page
            return vaddr, page_end - vaddr
        raise FormatError("IMG-38", "PT_GNU_RELRO does not end at a page's end", got=end, at=at)
    raise FormatError("IMG-38", "PT_GNU_RELRO is not in one writable PT_LOAD", got=vaddr, at=at)
