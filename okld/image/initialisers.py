"""The functions of an image that run before its entry and after it; most images have none.

Source: SPEC IMG-36, IMG-37.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.base.limits import MAX_ARRAY
from okld.elf.header import PF_W
from okld.elf.tables import (
    DT_FINI,
    DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ,
    DT_INIT,
    DT_INIT_ARRAY,
    DT_INIT_ARRAYSZ,
    SHN_ABS,
    SHN_UNDEF,
    WORD_SIZE,
)
from okld.image.dynamic import Dynamic
from okld.image.relocs import Checked
from okld.image.segments import Memory, file_range
from okld.image.symbols import SymbolTable


def read_arrays(dynamic: Dynamic, memory: Memory) -> list[tuple[int, int]]:
    """
    Return (link address, entries) of ``DT_INIT_ARRAY`` and of ``DT_FINI_ARRAY``; (0, 0) for one
    that is absent.

    Raises:
        FormatError: IMG-36, IMG-37.
    """
    tags = dynamic.tags
    for tag, what in ((DT_INIT, "DT_INIT"), (DT_FINI, "DT_FINI")):
        if tag in tags and not memory.is_code(tags[tag]):
            raise FormatError("IMG-37", f"{what} is no code", got=tags[tag])
    return [
        _array(tags, memory, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "DT_INIT_ARRAY"),
        _array(tags, memory, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "DT_FINI_ARRAY"),
    ]


def _array(
    tags: dict[int, int], memory: Memory, address: int, size: int, what: str
) -> tuple[int, int]:
    if address not in tags and size not in tags:
        return 0, 0
    if address not in tags or size not in tags:
        raise FormatError("IMG-36", f"{what} lacks its address or size")
    if tags[size] == 0:
        return 0, 0
    if tags[size] % WORD_SIZE or tags[size] > MAX_ARRAY:
        raise FormatError("IMG-36", f"{what} size", got=tags[size], limit=MAX_ARRAY)
    file_range(memory, tags[address], tags[size], what, "IMG-36")
    if memory.file_offset(tags[address], tags[size], PF_W) is None:
        raise FormatError("IMG-36", f"{what} is not in a writable segment", got=tags[address])
    return tags[address], tags[size] // WORD_SIZE


def check_arrays(
    arrays: list[tuple[int, int]], checked: Checked, table: SymbolTable, dynamic: Dynamic
) -> None:
    """
    Check that relocation makes every entry of *arrays* the address of code.

    Raises:
        FormatError: IMG-36.
    """
    columns = table.columns
    for address, count in arrays:
        for slot in range(address, address + WORD_SIZE * count, WORD_SIZE):
            if slot not in checked.slots:
                raise FormatError("IMG-36", "an initialiser is not relocated", got=slot)
            symbol, value = checked.slots[slot]
            value = (value + columns.values[symbol]) & 0xFFFFFFFFFFFFFFFF
            absolute = symbol and columns.shndx[symbol] in (SHN_UNDEF, SHN_ABS)
            if absolute or not checked.memory.is_code(value):
                name = f"initialiser {dynamic.name(columns.names[symbol])}".rstrip()
                raise FormatError("IMG-36", f"{name} is no code", got=value)
