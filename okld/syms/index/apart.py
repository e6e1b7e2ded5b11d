"""The process in which an index grows once the answers are given: whoever asks waits for nothing.

Source: IDX-9.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.elf_sources import ElfSources

LONGEST = 60  # seconds of a processor's time after which something is wrong
NICENESS = 10


def grow_apart(file: OpenFile, sources: ElfSources, asked: list[int], *, lines: bool) -> None:
    """
    Do what `okld.syms.index.grow.grow` does in a process of its own, and wait for nothing.

    This is for programs of one thread that are about to end. The new process has no terminal, no
    output and no part in its parent's files but to read them. Where the system has none left, the
    index does not grow.
    """
    try:
        if os.fork():
            return
    except OSError:
        return
    try:
        _be_apart()
        from okld.syms.index.grow import grow

        grow(file, sources, asked, lines=lines)
    finally:
        os._exit(0)


def _be_apart() -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.nice(NICENESS)
    from resource import RLIMIT_CPU, setrlimit

    setrlimit(RLIMIT_CPU, (LONGEST, LONGEST))
