"""The dynamic segment of an image: which tags it may hold, its string table, and how many symbols
there are.

Source: SPEC IMG-21 to IMG-27, IMG-29, IMG-30.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import (
    CHUNK,
    MAX_BLOOM,
    MAX_BUCKETS,
    MAX_DYNAMIC,
    MAX_NAME,
    MAX_STRINGS,
    MAX_SYMBOLS,
)
from okld.base.view import View
from okld.elf.header import EM_AARCH64, EM_RISCV, PT_DYNAMIC
from okld.elf.tables import (
    DF_1_GLOBAL,
    DF_1_NODELETE,
    DF_1_NOW,
    DF_1_PIE,
    DF_BIND_NOW,
    DF_SYMBOLIC,
    DF_TEXTREL,
    DT_AARCH64_BTI_PLT,
    DT_AARCH64_PAC_PLT,
    DT_AARCH64_VARIANT_PCS,
    DT_BIND_NOW,
    DT_DEBUG,
    DT_FINI,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
    DT_FLAGS,
    DT_FLAGS_1,
    DT_GNU_HASH,
    DT_HASH,
    DT_INIT,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    DT_JMPREL,
    DT_NEEDED,
    DT_NULL,
    DT_PLTGOT,
    DT_PLTREL,
    DT_PLTRELSZ,
    DT_RELA,
    DT_RELACOUNT,
    DT_RELAENT,
    DT_RELASZ,
    DT_RELR,
    DT_RELRENT,
    DT_RELRSZ,
    DT_RISCV_VARIANT_CC,
    DT_SONAME,
    DT_STRSZ,
    DT_STRTAB,
    DT_SYMBOLIC,
    DT_SYMENT,
    DT_SYMTAB,
    DT_TEXTREL,
    DYN_SIZE,
    column,
    dynamic_entries,
)
from okld.image.segments import Memory, file_range

_KNOWN = {
    DT_PLTRELSZ,
    DT_PLTGOT,
    DT_HASH,
    DT_STRTAB,
    DT_SYMTAB,
    DT_RELA,
    DT_RELASZ,
    DT_RELAENT,
    DT_STRSZ,
    DT_SYMENT,
    DT_INIT,
    DT_FINI,
    DT_SONAME,
    DT_SYMBOLIC,
    DT_PLTREL,
    DT_DEBUG,
    DT_JMPREL,
    DT_BIND_NOW,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
    DT_FLAGS,
    DT_RELR,
    DT_RELRSZ,
    DT_RELRENT,
    DT_GNU_HASH,
    DT_RELACOUNT,
    DT_FLAGS_1,
}
_KNOWN_TO = {
    EM_AARCH64: {DT_AARCH64_BTI_PLT, DT_AARCH64_PAC_PLT, DT_AARCH64_VARIANT_PCS},
    EM_RISCV: {DT_RISCV_VARIANT_CC},
}
_FLAGS = DF_SYMBOLIC | DF_BIND_NOW
_FLAGS_1 = DF_1_NOW | DF_1_GLOBAL | DF_1_NODELETE | DF_1_PIE


class Dynamic:
    """
    The dynamic array and the string table.

    Attributes:
        tags: ``d_val`` by ``d_tag``, each given once.
        start, end: The link addresses of the dynamic segment.
        strings: The bytes of ``DT_STRTAB``.
        strings_at: Where they start, in bytes from the start of the file.
    """

    __slots__ = ("end", "start", "strings", "strings_at", "tags")

    tags: dict[int, int]
    start: int
    end: int
    strings: bytes
    strings_at: int

    def name(self, offset: int) -> str:
        """
        Return the name at *offset* of the string table, which is in it, cut after MAX_NAME bytes.

        Bytes that are not UTF-8 are surrogates, as in `os.fsdecode`.
        """
        text = self.strings[offset : offset + MAX_NAME].partition(b"\0")[0]
        return text.decode("utf-8", "surrogateescape")


def read_dynamic(
    view: View, headers: list[tuple[int, ...]], memory: Memory, machine: int
) -> Dynamic:
    """
    Return the dynamic segment of an image.

    Raises:
        FormatError: IMG-21 to IMG-26.
    """
    dynamic = Dynamic()
    at = _locate(dynamic, headers, memory)
    size = dynamic.end - dynamic.start
    needed = _read_tags(dynamic, view.window(at, size, "PT_DYNAMIC", "IMG-21"), machine, at)
    _read_strings(dynamic, view, memory)
    if needed:
        library = _string(dynamic, needed[0], "DT_NEEDED")
        raise FormatError("IMG-24", f"DT_NEEDED {library}: an image needs no library")
    if DT_SONAME in dynamic.tags:
        _string(dynamic, dynamic.tags[DT_SONAME], "DT_SONAME")
    return dynamic


def _locate(dynamic: Dynamic, headers: list[tuple[int, ...]], memory: Memory) -> int:
    for kind, _flags, offset, vaddr, _paddr, filesz, memsz, _align in headers:
        if kind != PT_DYNAMIC:
            continue
        if filesz == 0 or filesz % DYN_SIZE or filesz != memsz:
            what = f"PT_DYNAMIC of {filesz:#x} bytes in the file, {memsz:#x} in memory"
            raise FormatError("IMG-21", what, at=offset)
        if filesz > MAX_DYNAMIC * DYN_SIZE:
            raise FormatError("IMG-21", "PT_DYNAMIC size", got=filesz, limit=MAX_DYNAMIC * DYN_SIZE)
        if file_range(memory, vaddr, filesz, "PT_DYNAMIC", "IMG-21") != offset:
            raise FormatError(
                "IMG-21", "PT_DYNAMIC is not where a PT_LOAD maps it", got=vaddr, at=offset
            )
        dynamic.start = vaddr
        dynamic.end = vaddr + filesz
        return offset
    raise FormatError("IMG-21", "no PT_DYNAMIC")


def _read_tags(dynamic: Dynamic, data: bytes | memoryview, machine: int, at: int) -> list[int]:
    known = _KNOWN | _KNOWN_TO.get(machine, set())
    tags: dict[int, int] = {}
    needed = []
    for index, (tag, value) in enumerate(dynamic_entries(data)):
        if tag == DT_NULL:
            break
        if tag == DT_NEEDED:
            needed.append(value)
        elif tag == DT_TEXTREL:
            raise FormatError("IMG-25", "DT_TEXTREL: code would be rewritten")
        elif tag not in known:
            raise FormatError(
                "IMG-23", f"dynamic tag {_tag(tag)} is not allowed", at=at + DYN_SIZE * index
            )
        elif tag in tags:
            raise FormatError(
                "IMG-23", f"dynamic tag {_tag(tag)} is given twice", at=at + DYN_SIZE * index
            )
        else:
            tags[tag] = value
    else:
        raise FormatError("IMG-22", "the dynamic array does not end", at=at + len(data))
    if tags.get(DT_FLAGS, 0) & DF_TEXTREL:
        raise FormatError("IMG-25", "DF_TEXTREL: code would be rewritten")
    for tag, allowed in ((DT_FLAGS, _FLAGS), (DT_FLAGS_1, _FLAGS_1)):
        if tags.get(tag, 0) & ~allowed:
            raise FormatError("IMG-23", f"{_tag(tag)} flags", got=tags[tag], limit=allowed)
    dynamic.tags = tags
    return needed


def _tag(tag: int) -> str:
    from okld.elf.names import DYNAMIC_TAGS, named

    return named(DYNAMIC_TAGS, tag)


def _read_strings(dynamic: Dynamic, view: View, memory: Memory) -> None:
    tags = dynamic.tags
    if DT_STRTAB not in tags or DT_STRSZ not in tags:
        raise FormatError("IMG-26", "no string table: DT_STRTAB or DT_STRSZ is absent")
    size = tags[DT_STRSZ]
    if not 1 <= size <= MAX_STRINGS:
        raise FormatError("IMG-26", "DT_STRSZ", got=size, limit=MAX_STRINGS)
    offset = file_range(memory, tags[DT_STRTAB], size, "DT_STRTAB", "IMG-26", align=1)
    strings = bytes(view.window(offset, size, "DT_STRTAB", "IMG-26"))
    if strings[0] or strings[-1]:
        raise FormatError("IMG-26", "DT_STRTAB does not begin and end with NUL", at=offset)
    dynamic.strings = strings
    dynamic.strings_at = offset


def _string(dynamic: Dynamic, offset: int, what: str) -> str:
    if offset >= len(dynamic.strings):
        raise FormatError(
            "IMG-26", f"{what} is past DT_STRTAB", got=offset, limit=len(dynamic.strings)
        )
    return dynamic.name(offset)


def count_symbols(view: View, dynamic: Dynamic, memory: Memory) -> int:
    """
    Return how many symbols the hash tables say there are; relocations may name more.

    Raises:
        FormatError: IMG-29, IMG-30.
    """
    tags = dynamic.tags
    count = 0
    if DT_GNU_HASH in tags:
        count = _gnu_hash(view, memory, tags[DT_GNU_HASH])
    if DT_HASH in tags:
        count = max(count, _sysv_hash(view, memory, tags[DT_HASH]))
    elif DT_GNU_HASH not in tags:
        raise FormatError("IMG-30", "no hash table: DT_GNU_HASH and DT_HASH are absent")
    return count


def _sysv_hash(view: View, memory: Memory, address: int) -> int:
    offset = file_range(memory, address, 8, "DT_HASH", "IMG-30", align=4)
    buckets, chains = column(view.window(offset, 8, "DT_HASH", "IMG-30"), "I", 0, 1)
    if not 1 <= buckets <= MAX_BUCKETS:
        raise FormatError("IMG-30", "DT_HASH buckets", got=buckets, limit=MAX_BUCKETS, at=offset)
    if chains > MAX_SYMBOLS:
        raise FormatError("IMG-30", "DT_HASH chains", got=chains, limit=MAX_SYMBOLS, at=offset)
    file_range(memory, address, 8 + 4 * (buckets + chains), "DT_HASH", "IMG-30", align=4)
    return chains


def _gnu_hash(view: View, memory: Memory, address: int) -> int:
    offset = file_range(memory, address, 16, "DT_GNU_HASH", "IMG-29")
    buckets, first, bloom, shift = column(
        view.window(offset, 16, "DT_GNU_HASH", "IMG-29"), "I", 0, 1
    )
    if not 1 <= buckets <= MAX_BUCKETS:
        raise FormatError(
            "IMG-29", "DT_GNU_HASH buckets", got=buckets, limit=MAX_BUCKETS, at=offset
        )
    if not 1 <= bloom <= MAX_BLOOM or bloom & (bloom - 1):
        raise FormatError(
            "IMG-29", "DT_GNU_HASH bloom size", got=bloom, limit=MAX_BLOOM, at=offset + 8
        )
    if shift >= 64:
        raise FormatError("IMG-29", "DT_GNU_HASH shift", got=shift, limit=63, at=offset + 12)
    size = 16 + 8 * bloom + 4 * buckets
    file_range(memory, address, size, "DT_GNU_HASH", "IMG-29")
    table = view.window(offset + 16 + 8 * bloom, 4 * buckets, "DT_GNU_HASH", "IMG-29")
    starts = [start for start in column(table, "I", 0, 1) if start]
    if not starts:
        return first
    if min(starts) < first:
        raise FormatError(
            "IMG-29", "DT_GNU_HASH bucket below its first symbol", got=min(starts), limit=first
        )
    last = max(starts)
    return last + _chain_length(view, memory, address + size + 4 * (last - first))


def _chain_length(view: View, memory: Memory, address: int) -> int:
    """Return the number of symbols in the chain at *address*: up to the first odd word."""
    length = 0
    step = 64  # words; most chains end within the first few
    while room := min(memory.file_room(address + 4 * length) // 4, step):
        offset = file_range(
            memory, address + 4 * length, 4 * room, "DT_GNU_HASH", "IMG-29", align=4
        )
        words = column(view.window(offset, 4 * room, "DT_GNU_HASH chain", "IMG-29"), "I", 0, 1)
        for index, word in enumerate(words):
            if word & 1:
                return length + index + 1
        length += room
        step = CHUNK
        if length > MAX_SYMBOLS:
            break
    raise FormatError("IMG-29", "a DT_GNU_HASH chain does not end", got=address, limit=length)
