"""The hardened check of an image, and the shape it leaves: all that is needed to plan a start.

`read_shape` is the only way to a `Shape`, so that one is the proof that every rule of SPEC chapter
2 held.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import (
    MAX_BUILD_ID,
    MAX_FILE,
    MAX_NOTE_DESC,
    MAX_NOTE_NAME,
    MAX_NOTES,
)
from okld.base.view import View
from okld.elf.header import (
    EI_CLASS,
    EI_NIDENT,
    EI_OSABI,
    ELFCLASS64,
    ELFDATA2LSB,
    ELFOSABI_LINUX,
    ELFOSABI_NONE,
    EM_AARCH64,
    EM_RISCV,
    EM_X86_64,
    ET_DYN,
    EV_CURRENT,
    HEADER_SIZE,
    PT_NOTE,
    Header,
    read_header,
)
from okld.elf.tables import (
    DT_FINI,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
    DT_INIT,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    NOTE_SIZE,
    NT_GNU_BUILD_ID,
    WORD_SIZE,
    column,
)
from okld.image.dynamic import count_symbols, read_dynamic
from okld.image.relocs import Checked, check_imports
from okld.image.segments import Segment, read_headers, read_memory, read_relro
from okld.image.symbols import Import, read_names, read_symbols

ARCHITECTURES = {EM_X86_64: "x86_64", EM_AARCH64: "aarch64", EM_RISCV: "riscv64"}

_IDENT = b"\x7fELF" + bytes((ELFCLASS64, ELFDATA2LSB, EV_CURRENT))
_OSABI = (ELFOSABI_NONE, ELFOSABI_LINUX)


_INITIALISERS = {
    DT_INIT,
    DT_FINI,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
}


class Shape:
    """
    What an image says of itself, checked; addresses are link addresses, offsets bytes from the
    start of the file.

    Attributes:
        machine: ``e_machine``.
        arch: Its name: "x86_64", "aarch64" or "riscv64".
        entry: Address of the first instruction.
        size: Bytes of the image.
        lo, hi: Page of the first segment, end of the last page; all that is loaded is in [lo, hi).
        align: What the distance from link to run-time addresses is a multiple of, in bytes.
        segments: What is loaded, ascending.
        relro: (address, bytes) that become read-only once relocated, ending at a page's end; or (0,
            0).
        init, fini: Addresses of ``DT_INIT`` and ``DT_FINI``, or 0.
        init_array, fini_array: (address, entries), or (0, 0).
        rela, jmprel, relr: (address, entries) of the relocation tables, RELR's in words; or (0, 0).
        values: ``st_value`` of each dynamic symbol, in order.
        absolute: Indices of the dynamic symbols whose value is no address.
        imports: Undefined dynamic symbols, in order.
        names: (offset, entries) of the symbol table that names addresses.
        names_dynamic: Whether that is ``.dynsym``, for want of a ``.symtab``.
        strings: (offset, bytes) of its string table.
        notes: (owner without its NUL, type, descriptor, offset of the note) of each note, in order.
        build_id: ``NT_GNU_BUILD_ID`` in hexadecimal, or "".

    Source: SPEC chapter 2.
    """

    __slots__ = (
        "absolute",
        "align",
        "arch",
        "build_id",
        "entry",
        "fini",
        "fini_array",
        "hi",
        "imports",
        "init",
        "init_array",
        "jmprel",
        "lo",
        "machine",
        "names",
        "names_dynamic",
        "notes",
        "rela",
        "relr",
        "relro",
        "segments",
        "size",
        "strings",
        "values",
    )

    machine: int
    arch: str
    entry: int
    size: int
    lo: int
    hi: int
    align: int
    segments: tuple[Segment, ...]
    relro: tuple[int, int]
    init: int
    fini: int
    init_array: tuple[int, int]
    fini_array: tuple[int, int]
    rela: tuple[int, int]
    jmprel: tuple[int, int]
    relr: tuple[int, int]
    values: list[int]
    absolute: tuple[int, ...]
    imports: tuple[Import, ...]
    names: tuple[int, int]
    names_dynamic: bool
    strings: tuple[int, int]
    notes: tuple[tuple[bytes, int, bytes, int], ...]
    build_id: str


def read_shape(view: View) -> Shape:
    """
    Check the image in *view* by every rule of SPEC chapter 2 and return its shape.

    Raises:
        FormatError: With the id of the rule that the bytes break.
        Unreadable: If the system refuses to read them.
    """
    header = _read_header(view)
    headers = read_headers(view, header)
    memory = read_memory(headers, header.phoff)
    if not memory.is_code(header.entry):
        raise FormatError("IMG-16", "e_entry is no code", got=header.entry, at=24)
    dynamic = read_dynamic(view, headers, memory, header.machine)
    arrays = [(0, 0), (0, 0)]
    if not _INITIALISERS.isdisjoint(dynamic.tags):
        from okld.image import initialisers  # most images have none

        arrays = initialisers.read_arrays(dynamic, memory)
    watched = [(address, address + WORD_SIZE * count) for address, count in arrays if count]
    count = count_symbols(view, dynamic, memory)
    checked = Checked(view, dynamic, memory, header.machine, watched)
    table = read_symbols(view, dynamic, memory, max(count, checked.highest + 1))
    check_imports(checked, table)
    if watched:
        initialisers.check_arrays(arrays, checked, table, dynamic)

    shape = Shape()
    shape.machine = header.machine
    shape.arch = ARCHITECTURES[header.machine]
    shape.entry = header.entry
    shape.size = view.size
    shape.lo, shape.hi, shape.segments = memory.lo, memory.hi, memory.segments
    shape.align = memory.align
    shape.relro = read_relro(headers, memory, header.phoff)
    shape.init, shape.fini = dynamic.tags.get(DT_INIT, 0), dynamic.tags.get(DT_FINI, 0)
    shape.init_array, shape.fini_array = arrays
    shape.rela, shape.jmprel, shape.relr = checked.rela, checked.jmprel, checked.relr
    shape.values = table.columns.values
    shape.absolute = table.absolute
    shape.imports = table.imports
    shape.names, shape.strings = read_names(view, header, table, dynamic)
    shape.names_dynamic = shape.names[0] == table.at
    shape.notes = tuple(_read_notes(view, headers))
    shape.build_id = _build_id(shape.notes)
    return shape


def _read_header(view: View) -> Header:
    if not HEADER_SIZE <= view.size <= MAX_FILE:
        limit = MAX_FILE if view.size > MAX_FILE else HEADER_SIZE
        raise FormatError("IMG-1", "length of the file", got=view.size, limit=limit)
    header = read_header(view, "IMG-2")
    ident = header.ident
    if ident[:EI_OSABI] != _IDENT:
        what = "e_ident is not that of 64-bit ELF, least significant byte first"
        raise FormatError("IMG-2", what, got=ident.hex(), at=EI_CLASS)
    if ident[EI_OSABI] not in _OSABI or any(ident[EI_OSABI + 1 : EI_NIDENT]):
        what = "e_ident has another ABI, or padding that is not zero"
        raise FormatError("IMG-2", what, got=ident.hex(), at=EI_OSABI)
    if header.type != ET_DYN:
        raise FormatError("IMG-3", "e_type is not ET_DYN", got=header.type, at=16)
    if header.version != EV_CURRENT:
        raise FormatError("IMG-3", "e_version", got=header.version, limit=EV_CURRENT, at=20)
    if header.ehsize != HEADER_SIZE:
        raise FormatError("IMG-3", "e_ehsize", got=header.ehsize, limit=HEADER_SIZE, at=52)
    if header.machine not in ARCHITECTURES:
        from okld.elf.names import MACHINES, named

        name = named(MACHINES, header.machine)
        raise FormatError("IMG-4", f"e_machine {name} is no processor of an image", at=18)
    return header


def _read_notes(view: View, headers: list[tuple[int, ...]]) -> list[tuple[bytes, int, bytes, int]]:
    notes = []
    for kind, _flags, offset, _vaddr, _paddr, size, _memsz, align in headers:
        if kind != PT_NOTE:
            continue
        if align not in (0, 1, 4, 8):
            raise FormatError("IMG-39", "PT_NOTE alignment", got=align, limit=8, at=offset)
        if size > MAX_NOTES:
            raise FormatError("IMG-39", "PT_NOTE size", got=size, limit=MAX_NOTES, at=offset)
        data = bytes(view.window(offset, size, "PT_NOTE", "IMG-39"))
        position = 0
        while position < size:
            note, position = _note(data, position, 8 if align == 8 else 4, offset)
            notes.append(note)
    return notes


def _note(
    data: bytes, position: int, align: int, offset: int
) -> tuple[tuple[bytes, int, bytes, int], int]:
    """
    Return the note at *position* of *data*, which lies at *offset* of the file, and where the next
    one starts.
    """
    at = offset + position
    start = position + NOTE_SIZE
    if start > len(data):
        raise FormatError(
            "IMG-39", "a note runs past its PT_NOTE", got=start, limit=len(data), at=at
        )
    name_size, size, kind = column(data[position:start], "I", 0, 1)
    if name_size > MAX_NOTE_NAME:
        raise FormatError("IMG-39", "note name size", got=name_size, limit=MAX_NOTE_NAME, at=at)
    if size > MAX_NOTE_DESC:
        raise FormatError("IMG-39", "note descriptor size", got=size, limit=MAX_NOTE_DESC, at=at)
    owner = data[start : start + name_size]
    begin = -(-(start + name_size) // align) * align
    end = begin + size
    if end > len(data):
        raise FormatError("IMG-39", "a note runs past its PT_NOTE", got=end, limit=len(data), at=at)
    if owner and owner[-1]:
        raise FormatError("IMG-39", "a note's name does not end with NUL", at=at)
    return (owner[:-1], kind, data[begin:end], at), -(-end // align) * align


def _build_id(notes: tuple[tuple[bytes, int, bytes, int], ...]) -> str:
    for owner, kind, desc, _at in notes:
        if owner == b"GNU" and kind == NT_GNU_BUILD_ID and len(desc) <= MAX_BUILD_ID:
            return desc.hex()
    return ""
