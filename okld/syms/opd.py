"""Function descriptors of the 64-bit PowerPC ABI, version 1: a function's symbol leads to one.

The descriptor's first word is where the code begins; the symbol's size is the code's.

Source: SYM-18; 64-bit PowerPC ELF Application Binary Interface Supplement, 3.2.5.
"""

from __future__ import annotations

from okld.base.limits import MAX_NAMES
from okld.elf.header import ET_REL
from okld.elf.tables import column
from okld.syms.elf_file import ADDR, RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.elf_file import ElfFile

WORD = 8


def entry_points(elf: ElfFile, values: list[int], is_code: bytes) -> list[int]:
    """
    Return *values* with those of code that lie in `.opd` replaced by what stands there.

    A descriptor whose bytes *elf* does not hold leaves the value as it is: no code is there.

    Args:
        elf: The file that holds the descriptors.
        values: `st_value` of each symbol.
        is_code: For each symbol 1 if it is a function, else 0.
    """
    linked = elf.header.bits == 64 and elf.header.type != ET_REL  # else they are not filled in
    index = elf.index(".opd") if linked else 0
    if not index:
        return values
    part = elf.raw(index)
    size = min(part.size, MAX_NAMES) // WORD * WORD
    words = column(part.window(0, size, ".opd", RULE), "Q", 0, 1, elf.header.order)
    start = elf.sections[index][ADDR]
    return [
        words[(value - start) // WORD]
        if code and 0 <= value - start < size and (value - start) % WORD == 0
        else value
        for value, code in zip(values, is_code, strict=True)
    ]
