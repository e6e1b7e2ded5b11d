"""The file with a Mach-O program's debug information: which program of a file, and which dSYM.

A program is told by its UUID, which the linker makes and dsymutil copies.

Source: OBJ-2, OBJ-5.
"""

from __future__ import annotations

import os

from okld.base.errors import FormatError, OkError, Refusal, Unreadable, printable
from okld.image.full_macho_symbols import read_macho_symbols
from okld.image.macho_slices import ALIASES, UUID, slices
from okld.image.open import MACHO_MAGICS, open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.base.view import View
    from okld.image.macho_slices import Slice
    from okld.image.open import OpenFile
    from okld.image.program import Program
    from okld.syms.options import Options

INSIDE = "Contents/Resources/DWARF"
ANCESTORS = 4  # directories between a program and the one that is its bundle
MAX_FILES = 64  # of one bundle's DWARF directory; there is one for each program of the bundle


def chosen(view: View, wanted: str) -> Program:
    """
    Return the program of a Mach-O file that *wanted* names, by architecture or UUID; "": the only.

    Raises:
        Refusal: If there is no such program, or several and none is named (OBJ-2).
        FormatError: If it cannot be read.
    """
    every = slices(view)
    name = ALIASES.get(wanted.lower(), wanted.lower())
    found = [each for each in every if not name or each.arch == name]
    if len(found) == 1:
        return read_macho_symbols(view, found[0])
    uuid = name.replace("-", "")
    if len(uuid) == UUID:
        for program in _programs(view, every):
            if program.identity == uuid:
                return program
    there = ", ".join(each.arch for each in every)
    if found:
        raise Refusal("OBJ-2", f"several programs ({there}): one is to be named, by --arch or UUID")
    raise Refusal("OBJ-2", f"no program is {wanted}, of {there}")


def find_dsym(
    path: str, identity: str, options: Options, notes: list[str]
) -> tuple[OpenFile, Program] | None:
    """
    Return the open file of the program's debug information, and what it says, or None.

    Args:
        path: Of the program.
        identity: Its UUID, in hex.
        options: Where to look.
        notes: What is found and is not the program's is added.

    Raises:
        Refusal: If the file that *options* name is of another build (OBJ-5).
        FormatError, Unreadable: If that one cannot be read.
    """
    if options.debug_file:
        for place in _files(options.debug_file):
            found = _open_if(place, identity)
            if found:
                return found
        raise Refusal("OBJ-5", f"{options.debug_file} is of another build")
    if not options.external or not identity:
        return None
    for place in _places(path, options):
        for each in _files(place):
            try:
                found = _open_if(each, identity)
            except OkError as error:
                if not isinstance(error, Unreadable) or os.path.lexists(each):
                    notes.append(f"{printable(each)}: {error}")
                continue
            if found:
                return found
            notes.append(f"{printable(each)}: of another build")
    return None


def _open_if(path: str, identity: str) -> tuple[OpenFile, Program] | None:
    """Return the file at *path* and its program of this *identity*, or None if it has none."""
    file = open_file(path)
    try:
        magic = bytes(file.view.window(0, min(4, file.view.size), "magic", "OBJ-5"))
        if magic not in MACHO_MAGICS:
            raise FormatError("OBJ-5", "no Mach-O file", got=magic.hex() or None, at=0)
        for program in _programs(file.view, slices(file.view)):
            if program.identity == identity:
                return file, program
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def _programs(view: View, every: list[Slice]) -> Iterator[Program]:
    for each in every:
        yield read_macho_symbols(view, each)


def _places(path: str, options: Options) -> list[str]:
    """Return where a dSYM of the program at *path* may be: beside it or its bundle, or given."""
    name = os.path.basename(path)
    places = [f"{path}.dSYM"]
    for real in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        places.append(f"{real}.dSYM")
        above = os.path.dirname(real)
        for _ in range(ANCESTORS):
            if "." in os.path.basename(above):
                places.append(f"{above}.dSYM")
            above = os.path.dirname(above)
    for folder in options.debug_dirs:
        places += [folder] if folder.rstrip("/").endswith(".dSYM") else []
        places += [os.path.join(folder, f"{name}.dSYM"), os.path.join(folder, name)]
    return [place for place in dict.fromkeys(places) if os.path.exists(place)]


def _files(place: str) -> list[str]:
    """Return the files of debug information in a bundle; of anything else, itself."""
    inside = os.path.join(place, INSIDE)
    if not os.path.isdir(inside):
        return [place] if not os.path.isdir(place) else []
    return [os.path.join(inside, name) for name in sorted(os.listdir(inside))[:MAX_FILES]]
