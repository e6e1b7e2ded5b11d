"""What a caller may say of how names are found: where debug files are, and who may be asked."""

from __future__ import annotations

import os

DEBUG_DIRS = ("/usr/lib/debug",)
"""Where distributions put debug files."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Options:
    """
    The choices of one question; nothing changes them once they are made.

    Attributes:
        debug_dirs: Directories of debug files, in the order of search.
        sysroot: A directory in which `debug_dirs` and absolute paths of debug files are looked for
            instead; "" for the system's own root.
        debug_file: The path of the debug file itself, which is taken without a search; "" for none.
        debuginfod: URLs of debuginfod servers, in the order of asking; none: no network is used.
        external: Whether other files than the one named may be read at all. Source: DBG-9.
        cache: Whether the user's cache may be read and written.
        architecture: The program of a fat file that is meant, by its architecture or UUID; "" where
            the file has one.
    """

    __slots__ = (
        "architecture",
        "cache",
        "debug_dirs",
        "debug_file",
        "debuginfod",
        "external",
        "sysroot",
    )

    def __init__(
        self,
        *,
        debug_dirs: tuple[str, ...] = DEBUG_DIRS,
        sysroot: str = "",
        debug_file: str = "",
        debuginfod: tuple[str, ...] = (),
        external: bool = True,
        cache: bool = True,
        architecture: str = "",
    ) -> None:
        """State the choices; without any, what is installed on this system is used."""
        self.debug_dirs = debug_dirs
        self.sysroot = sysroot
        self.debug_file = debug_file
        self.debuginfod = debuginfod
        self.external = external
        self.cache = cache
        self.architecture = architecture
