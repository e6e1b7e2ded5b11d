"""
An index grows as answers are given: by all names of a file, and unit by unit by its lines.

Who asks waits for none of it: `okld.syms.index.apart`. Source: IDX-9, IDX-10.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic, time_ns

from okld.base.errors import OkError
from okld.syms.index.collect import collect
from okld.syms.index.contents import Contents, add_names, add_unit, windows
from okld.syms.index.format import Unusable
from okld.syms.index.layer import FAULTS
from okld.syms.index.owners import Owners
from okld.syms.index.pack import END
from okld.syms.index.writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from okld.image.open import OpenFile
    from okld.syms.elf_sources import ElfSources

PATIENCE = 5.0  # seconds that units are read for; the names of a kernel take one


def grow(file: OpenFile, sources: ElfSources, asked: Iterable[int], *, lines: bool) -> str:
    """
    Add to the index of *file* what answering *asked* has shown to be wanted.

    Args:
        file: The file that was asked about, open.
        sources: Where its answers come from.
        asked: The link addresses that were asked for and not in the index.
        lines: Whether lines were asked for.

    Returns:
        Why nothing was added, or "".
    """
    try:
        writer = Writer(file, sources)
    except (OkError, Unusable, OSError) as error:
        return str(error)
    try:
        if not writer.is_alone():
            return "another process adds to the index"
        _add_names(writer, sources)
        if lines:
            _add_units(writer, sources, asked)
        collect(writer.store, time_ns(), spared=writer.origin.name)
    except (OkError, Unusable, OSError, OverflowError) as error:
        return str(error) or "there are numbers that no file has"
    finally:
        writer.close()
    return ""


def _add_names(writer: Writer, sources: ElfSources) -> None:
    if writer.has("names"):
        return
    contents = Contents()
    for window in windows(sources):
        add_names(contents, sources, window)
    writer.add("names", contents)


def _add_units(writer: Writer, sources: ElfSources, asked: Iterable[int]) -> None:
    """Add the units of addresses that the index does not know, those most asked for first."""
    contents = Contents()
    dwarf = sources.debug()
    if dwarf is None:
        contents.add_nothing([(0, END)])
        if not writer.has("lines"):
            writer.add("lines", contents)
        return
    owners = Owners(dwarf)
    wanted: dict[int, int] = {}
    for address in _unknown(writer, asked):
        number = owners.at(address)
        wanted[number] = wanted.get(number, 0) + 1
    begin = monotonic()
    for number in sorted(wanted, key=lambda each: -wanted[each]):
        if number >= 0:
            add_unit(contents, sources, owners, number)
        if monotonic() - begin > PATIENCE:
            break
    if -1 in wanted:
        contents.add_nothing(owners.nobodys())
    if contents.ranges:
        writer.add("lines", contents)
        writer.gather("lines", all_packs=False)


def _unknown(writer: Writer, asked: Iterable[int]) -> list[int]:
    """Return those of *asked* that no pack of lines knows."""
    layer = writer.lines()
    try:
        unknown = []
        for address in asked:
            with suppress(*FAULTS):
                if layer.find(address)[0] is not None:
                    continue
            unknown.append(address)
    finally:
        layer.close()
    return unknown
