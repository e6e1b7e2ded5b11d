"""What goes into an index: the answers of a symbol table, and the tables of units, as blocks."""

from __future__ import annotations

from okld.base.errors import OkError
from okld.syms.index.encode_blocks import lines_block, names_block
from okld.syms.index.pack import END, FIRST, NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from okld.syms.elf_sources import ElfSources
    from okld.syms.index.encode_pack import Range
    from okld.syms.index.owners import Owners

WINDOW = 512  # places at which the answer changes, in one block of names: 20 KB
EM_ARM = 40


class Contents:
    """
    Parts of one layer that are known.

    Attributes:
        ranges: Where each part is, and what it is; not in order.
        blocks: Its blocks.
        size: Bytes of them.
    """

    __slots__ = ("blocks", "ranges", "size")

    def __init__(self) -> None:
        """Begin with none."""
        self.ranges: list[Range] = []
        self.blocks: list[bytes] = []
        self.size = 0

    def add(self, ranges: Iterable[tuple[int, int]], block: bytes) -> None:
        """Add a block for all of *ranges*."""
        part = FIRST + len(self.blocks)
        self.ranges += [(low, high, part) for low, high in ranges]
        self.blocks.append(block)
        self.size += len(block)

    def add_nothing(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Add that there is nothing to know in *ranges*."""
        self.ranges += [(low, high, NOTHING) for low, high in ranges]


def windows(sources: ElfSources) -> list[list[int]]:
    """
    Return the places at which the symbol table's answer can change, in groups of a block's size.

    Each group begins where the one before it ends; the first at 0.

    Raises:
        OkError: If the table cannot be read.
    """
    places = sorted({0, *sources.table().boundaries()})
    places = [place for place in places if 0 <= place < END]
    return [places[at : at + WINDOW + 1] for at in range(0, len(places), WINDOW)]


def add_names(contents: Contents, sources: ElfSources, window: list[int]) -> None:
    """
    Add the answers of the symbol table for one of `windows`.

    Raises:
        OkError: If the table cannot be read.
        OverflowError: If it has numbers that no file has.
    """
    places = window[:WINDOW]
    end = window[WINDOW] if len(window) > WINDOW else END
    answers = sources.table().lookup_many(places)
    block = names_block(
        zip(places, answers, strict=True), thumb=sources.elf.header.machine == EM_ARM
    )
    contents.add([(places[0], end)], block)


def add_unit(contents: Contents, sources: ElfSources, owners: Owners, number: int) -> None:
    """
    Add what a unit says of the addresses it has.

    Nothing is added of one that is in a file of its own, for of those there can be thousands, and
    all would have to be looked at for every answer; and of one that is damaged: which addresses the
    damage matters for, the unit itself says. Source: IDX-13.

    Raises:
        OverflowError: If it has numbers that no file has.
    """
    from okld.syms.dwarf.tabulate import tabulate

    dwarf = sources.debug()
    if dwarf is None or not owners.ranges[number]:
        return
    try:
        unit = dwarf.unit(owners.heads[number].offset)
        if unit.dwo_name is not None:
            return
        table = tabulate(dwarf, unit)
    except OkError:
        return  # whoever asks is told why
    if not table.notes:
        contents.add(owners.ranges[number], lines_block(table))
