"""
An index grows as answers are given: by all names of a file, and unit by unit by its lines.

Who asks waits for none of it: a process of its own does that once the answers are given, of files
that are large enough. Source: IDX-9, IDX-10.
"""

from __future__ import annotations

import os
from contextlib import suppress
from time import monotonic, time_ns

from okld.base.errors import OkError
from okld.syms.elf_sources import ElfSources
from okld.syms.index.collect import collect
from okld.syms.index.contents import Contents, add_names, add_unit, windows
from okld.syms.index.format import Unusable
from okld.syms.index.layer import FAULTS
from okld.syms.index.owners import Owners
from okld.syms.index.pack import END
from okld.syms.index.reader import folder_path
from okld.syms.index.writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from okld.image.open import OpenFile
    from okld.syms.foreign import Foreign

SMALL = 1 << 22  # bytes of a file and its debug file that answer in a few ms without an index
PATIENCE = 5.0  # seconds that units are read for; the names of a kernel take one
LONGEST = 60  # seconds of a processor's time after which something is wrong
NICENESS = 10


def is_worth_it(file: OpenFile, sources: ElfSources) -> bool:
    """Say whether an index of *file* would save time that anybody notices."""
    if not sources.options.cache or folder_path() is None:
        return False
    separate = sources.separate.file.view.size if sources.separate else 0
    return file.view.size + separate >= SMALL


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


def grow_apart(
    file: OpenFile, sources: ElfSources | Foreign, asked: list[int], *, lines: bool
) -> None:
    """
    Do what `grow` does in a process of its own, and wait for nothing.

    This is for programs of one thread that are about to end. The new process has no terminal, no
    output and no part in its parent's files but to read them.
    """
    if not isinstance(sources, ElfSources) or not is_worth_it(file, sources) or os.fork():
        return
    try:
        _be_apart()
        grow(file, sources, asked, lines=lines)
    finally:
        os._exit(0)


def _be_apart() -> None:
    from resource import RLIMIT_CPU, setrlimit

    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.nice(NICENESS)
    setrlimit(RLIMIT_CPU, (LONGEST, LONGEST))


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
