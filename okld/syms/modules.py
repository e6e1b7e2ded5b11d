"""Which file a log's module is: those named by the user first, then the path that the log has.

A path from a log may be anybody's word: only regular files are opened, with the user's own rights,
and nothing but what is looked up in them comes of it. `..` in it is followed. Source: LOG-17.
"""

from __future__ import annotations

import os
import stat

from okld.base.errors import OkError, printable
from okld.syms.options import DEBUG_DIRS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from okld.syms.logs.query import Query

OWN = ("/proc/self/", "/proc/thread-self/")  # which for this program are this program's
MAX_FILES = (
    1 << 16
)  # kernel modules that are listed of a release; a distribution has some thousands
HEX = frozenset("0123456789abcdefABCDEF")
MAX_RELEASES = 16  # kernels whose modules are remembered; a log has one


class Modules:
    """Where the files are that a log speaks of."""

    def __init__(
        self,
        given: Iterable[tuple[str, str]] = (),
        *,
        sysroot: str = "",
        debug_dirs: tuple[str, ...] = DEBUG_DIRS,
    ) -> None:
        """
        State where to look.

        Args:
            given: Names and files. A name is a path, its last part, or a build id; "" is the
                program that an address without a module belongs to.
            sysroot: The directory in which a log's paths are looked for; "" for the system's root.
            debug_dirs: Directories of debug files.
        """
        self._given: dict[str, str] = {}
        for name, path in given:
            self._given.setdefault(name.lower() if HEX.issuperset(name) else name, path)
        self._sysroot = sysroot
        self._debug_dirs = debug_dirs
        self._kernels: dict[str, dict[str, str]] = {}

    def find(self, query: Query) -> tuple[str, bool] | None:
        """Return the path of the query's module, and whether the user named it; None: not here."""
        named = self._named(query)
        if named is not None:
            return named, True
        return next(((path, False) for path in self._places(query) if is_file(path)), None)

    def _named(self, query: Query) -> str | None:
        module = query.module
        names = [module, module.rsplit("/", 1)[-1]]
        names += [name.lower() for name in names if HEX.issuperset(name)]
        if query.kernel:
            names += [module.replace("_", "-"), module.replace("-", "_")]
        if query.build_id:
            names.append(query.build_id.lower())
        return next((self._given[name] for name in names if name in self._given), None)

    def _places(self, query: Query) -> Iterator[str]:
        """Give the paths where the file may be, the best first."""
        if query.kernel:
            yield from self._of_kernel(query)
        elif "/" in query.module and not query.module.startswith(OWN):
            yield self._in_root(query.module)
        wanted = query.build_id.lower()
        if len(wanted) > 2 and HEX.issuperset(wanted):
            for directory in self._debug_dirs:
                yield self._in_root(f"{directory}/.build-id/{wanted[:2]}/{wanted[2:]}.debug")

    def _in_root(self, path: str) -> str:
        return f"{self._sysroot}/{path.lstrip('/')}" if self._sysroot else path

    def _of_kernel(self, query: Query) -> Iterator[str]:
        release = query.release
        if not release or "/" in release:
            return
        if query.module != "vmlinux":
            modules = self._kernels.get(release)
            if modules is None:
                if len(self._kernels) >= MAX_RELEASES:
                    self._kernels.clear()
                modules = self._kernels[release] = self._list_modules(release)
            path = modules.get(query.module.replace("-", "_"))
            if path is not None:
                yield path
            return
        for directory in self._debug_dirs:
            yield self._in_root(f"{directory}/boot/vmlinux-{release}")
            yield self._in_root(f"{directory}/lib/modules/{release}/vmlinux")
            yield self._in_root(f"{directory}/usr/lib/modules/{release}/vmlinux")
        yield self._in_root(f"/boot/vmlinux-{release}")
        yield self._in_root(f"/lib/modules/{release}/build/vmlinux")

    def _list_modules(self, release: str) -> dict[str, str]:
        """Return the kernel modules of a release by name, `-` as `_`; those with debug first."""
        found: dict[str, str] = {}
        roots = [f"{d}{usr}/lib/modules" for d in self._debug_dirs for usr in ("", "/usr")]
        left = MAX_FILES
        for root in (*roots, "/lib/modules"):
            for directory, _, names in os.walk(self._in_root(f"{root}/{release}")):
                left -= len(names)
                if left < 0:
                    return found
                for name in names:
                    stem, dot, rest = name.partition(".ko")
                    if dot and rest in ("", ".debug"):
                        found.setdefault(stem.replace("-", "_"), f"{directory}/{name}")
        return found


def is_file(path: str) -> bool:
    """Say whether *path* is a regular file's."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def parse_module(word: str) -> tuple[str, str]:
    """
    Return the name and the file of ``NAME=FILE``.

    Raises:
        OkError: If there is no ``=``, or no file after it.
    """
    name, equals, path = word.partition("=")
    if not equals or not path:
        raise OkError(f"no NAME=FILE: {printable(word)}")
    return name, path
