"""
Finding the files that hold a file's debug information: nothing is believed of a file but what it
was checked for.

Source: DBG-6 to DBG-11.
"""

from __future__ import annotations

import errno
import os

from okld.base.errors import FormatError, Refusal, Unreadable, printable
from okld.image.open import Naming, open_file
from okld.syms.build_id import build_id
from okld.syms.debuglink import alternate_link, crc32, debug_link
from okld.syms.elf_file import ElfFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from okld.image.open import OpenFile
    from okld.syms.options import Options

ABSENT = errno.ENOENT, errno.ENOTDIR


class DebugFile:
    """
    An open file that holds debug information of another.

    Attributes:
        elf: The file.
        how: How it was found: "given", "build id", "debug link", "path", "debuginfod",
            "alternate link", "split" or "package".
        file: It again, open; `close` closes it.
    """

    __slots__ = ("elf", "file", "how")

    def __init__(self, elf: ElfFile, how: str, file: OpenFile) -> None:
        """Take over an open *file*, whose headers *elf* has."""
        self.elf = elf
        self.how = how
        self.file = file

    def close(self) -> None:
        """Close the file; its sections cannot be read any more."""
        self.file.close()


class Trail:
    """
    What a search met.

    Attributes:
        notes: Files that are there and are not what is looked for, and servers that do not answer,
            a line each.
        absent: Paths of files that were looked for and are not there.
    """

    __slots__ = ("absent", "notes")

    def __init__(self) -> None:
        """Begin with nothing met."""
        self.notes: list[str] = []
        self.absent: list[str] = []


def find(elf: ElfFile, options: Options, trail: Trail | None = None) -> Iterator[DebugFile]:
    """
    Give the separate debug files of *elf*, each open and checked, in the order of preference.

    Who takes one closes it. Where another than the first is asked for, the search goes on: by build
    id, by debug link, by path, at last on the network.

    Raises:
        Refusal: If the debug file that *options* name is of another build (DBG-11).
        FormatError, Unreadable: If that one is no ELF file, or cannot be read.

    Source: DBG-6 to DBG-11.
    """
    trail = trail or Trail()
    wanted = build_id(elf)
    if options.debug_file:
        yield _given(options.debug_file, elf, wanted)
        return
    if not options.external:
        return
    yield from _by_build_id(wanted, options, trail, "build id")
    yield from _by_link(elf, options, trail)
    yield from _by_path(elf.path, wanted, options, trail)
    yield from _downloaded(wanted, options, trail)


def find_alt(elf: ElfFile, options: Options, trail: Trail | None = None) -> DebugFile | None:
    """
    Return the file that dwz moved common parts of *elf*'s debug information to, or None.

    It is looked for where the link says, in the debug directories' `.dwz`, by build id, and on the
    network; and it is the one only if it has the build id of the link, or where the link is DWARF
    5's, its checksum. Source: DBG-10.
    """
    from okld.syms.dwarf.alternate import supplementary_id, supplementary_link

    trail = trail or Trail()
    link = alternate_link(elf) or supplementary_link(elf)
    if link is None or not options.external:
        return None
    path, wanted = link
    name = os.path.basename(path)
    if path.startswith("/"):
        places = [_rooted(path, options)]
    else:
        places = [os.path.join(place, path) for place in _dirs_of(elf.path)]
    places += [os.path.join(place, ".dwz", name) for place in _debug_dirs(options)]
    for found in _open_all(_distinct(places), "alternate link", trail):
        if supplementary_id(found.elf) == wanted or _is_build(found, wanted, trail):
            return found
    for found in _by_build_id(wanted, options, trail, "alternate link"):
        return found
    for found in _downloaded(wanted, options, trail):
        return found
    return None


def find_dwo(
    elf: ElfFile, name: str, comp_dir: str, options: Options, trail: Trail | None = None
) -> Iterator[DebugFile]:
    """
    Give the files that may be the split unit *name* of a unit compiled in *comp_dir*.

    They are looked for where they were compiled, then beside *elf*. Whether one is the unit's, its
    id says, which is for the caller to check. Source: DBG-10.
    """
    if not options.external or not name:
        return
    beside = _dirs_of(elf.path)
    if name.startswith("/"):
        places = [_rooted(name, options)]
    else:
        places = [_rooted(os.path.join(comp_dir, name), options)] if comp_dir else []
        places += [os.path.join(place, name) for place in beside]
    places += [os.path.join(place, os.path.basename(name)) for place in beside]
    yield from _open_all(_distinct(places), "split", trail or Trail())


def find_dwp(elf: ElfFile, options: Options, trail: Trail | None = None) -> Iterator[DebugFile]:
    """Give the files that may be the package of all split units of *elf*. Source: DBG-10."""
    if options.external and elf.path:
        places = [f"{elf.path}.dwp", f"{os.path.realpath(elf.path)}.dwp"]
        yield from _open_all(_distinct(places), "package", trail or Trail())


def _given(path: str, program: ElfFile, wanted: str) -> DebugFile:
    file = open_file(path)
    try:
        with Naming(path):
            elf = ElfFile(file.view, file.path)
            found = build_id(elf)
        if wanted and found and wanted != found:
            raise Refusal("DBG-11", f"{path} is of another build ({found}, not {wanted})")
        if _kind(elf) != _kind(program):
            raise Refusal("DBG-11", f"{path} is for another processor")
    except BaseException:
        file.close()
        raise
    return DebugFile(elf, "given", file)


def _kind(elf: ElfFile) -> tuple[int, int, str]:
    header = elf.header
    return header.machine, header.bits, header.order


def _by_build_id(wanted: str, options: Options, trail: Trail, how: str) -> Iterator[DebugFile]:
    if len(wanted) < 4:
        return
    name = f".build-id/{wanted[:2]}/{wanted[2:]}.debug"
    places = (os.path.join(place, name) for place in _debug_dirs(options))
    for found in _open_all(places, how, trail):
        if _is_build(found, wanted, trail):
            yield found


def _by_link(elf: ElfFile, options: Options, trail: Trail) -> Iterator[DebugFile]:
    link = debug_link(elf)
    if link is None:
        return
    name, crc = link
    beside = _dirs_of(elf.path)
    places = [*beside, *(os.path.join(place, ".debug") for place in beside)]
    places += _in_debug_dirs(elf.path, options)
    files = (os.path.join(place, name) for place in _distinct(places))
    for found in _open_all(files, "debug link", trail, not_file=elf.path):
        if crc32(found.file.view) == crc:
            yield found
        else:
            _drop(found, trail, "CRC-32 is not that of the debug link [DBG-8]")


def _by_path(path: str, wanted: str, options: Options, trail: Trail) -> Iterator[DebugFile]:
    if not wanted:
        return
    name = os.path.basename(path)
    files = (
        os.path.join(place, name + end)
        for place in _in_debug_dirs(path, options)
        for end in ("", ".debug")
    )
    for found in _open_all(files, "path", trail, not_file=path):
        if _is_build(found, wanted, trail):
            yield found


def _downloaded(wanted: str, options: Options, trail: Trail) -> Iterator[DebugFile]:
    if not options.debuginfod or len(wanted) < 4:
        return
    from okld.syms.debuginfod import downloaded

    file = downloaded(wanted, options, trail.notes)
    if file is not None:
        yield DebugFile(ElfFile(file.view, file.path), "debuginfod", file)


def _is_build(found: DebugFile, wanted: str, trail: Trail) -> bool:
    if build_id(found.elf) == wanted:
        return True
    _drop(found, trail, f"build id is not {wanted} [DBG-6]")
    return False


def _drop(found: DebugFile, trail: Trail, why: str) -> None:
    trail.notes.append(f"{printable(found.elf.path)}: {why}")
    found.close()


def _open_all(
    places: Iterable[str], how: str, trail: Trail, *, not_file: str = ""
) -> Iterator[DebugFile]:
    """Give those of *places* that are ELF files, without the file *not_file* itself."""
    for place in places:
        try:
            file = open_file(place)
        except Unreadable as error:
            if error.errno in ABSENT:
                trail.absent.append(place)
            else:
                trail.notes.append(str(error))
            continue
        if not_file and _is_same(file.fd, not_file):
            file.close()
            continue
        try:
            elf = ElfFile(file.view, place)
        except (FormatError, Unreadable) as error:
            trail.notes.append(f"{printable(place)}: {error}")
            file.close()
            continue
        yield DebugFile(elf, how, file)


def _is_same(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


def _debug_dirs(options: Options) -> list[str]:
    return [_rooted(place, options) for place in options.debug_dirs]


def _rooted(path: str, options: Options) -> str:
    """Return where an absolute *path* of the system looked at is on this one."""
    if options.sysroot and path.startswith("/"):
        return options.sysroot.rstrip("/") + path
    return path


def _in_debug_dirs(path: str, options: Options) -> list[str]:
    """
    Return the directories, in those of debug files, for files of the directory of *path*.

    One in `/usr` is taken also without, where packages put the debug files of what was in the root
    once.
    """
    root = os.path.abspath(options.sysroot) if options.sysroot else "/"
    dirs = [place.removeprefix(root) if root != "/" else place for place in _dirs_of(path)]
    dirs += [place[4:] for place in dirs if place.startswith("/usr/")]
    return _distinct([debug + place for debug in _debug_dirs(options) for place in dirs])


def _dirs_of(path: str) -> list[str]:
    """Return the directory of *path*, as it is given and as it is without symbolic links."""
    if not path:
        return []
    return _distinct(
        [os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))]
    )


def _distinct(places: list[str]) -> list[str]:
    return list(dict.fromkeys(places))
