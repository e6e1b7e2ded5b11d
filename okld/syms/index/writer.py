"""An index that is open to be written: of whatever is added, each part is seen once it is whole."""

from __future__ import annotations

import os
from contextlib import suppress
from time import sleep, time_ns

from okld.base.private import write_file
from okld.syms.index.layer import FAULTS, Layer
from okld.syms.index.origin import Origin
from okld.syms.index.pack import LINES
from okld.syms.index.reader import read_head
from okld.syms.index.store import (
    add_pack,
    has_part,
    open_packs,
    open_store,
    overgrown,
    put_together,
    sizes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.open import OpenFile
    from okld.syms.elf_sources import ElfSources
    from okld.syms.index.contents import Contents

ATTEMPTS, PAUSE = 50, 0.01  # s; who clears the cache takes less for one index


class Writer:
    """
    The index of one file.

    Attributes:
        origin: What it is of.
        store: The directory of all indexes, open.
        packs: The directory of its packs, open.
    """

    def __init__(self, file: OpenFile, sources: ElfSources) -> None:
        """
        Open the index of *file*, of which *sources* are.

        Raises:
            Unusable: If there can be none: there is no place, or the files do not hold still.
            OkError: If the sources cannot be read.
            OSError: If the system refuses.
        """
        self.origin = Origin(file, sources)
        self.origin.check(time_ns())
        self.store = open_store()
        try:
            self.packs = open_packs(self.store, self.origin.key)
        except BaseException:
            os.close(self.store)
            raise

    def close(self) -> None:
        """Close the directories."""
        os.close(self.packs)
        os.close(self.store)

    def stay(self) -> None:
        """
        Have all packs of this key stay until this is closed, whoever clears the cache meanwhile.

        Who grows the same index keeps it too; after half a second of that nobody is waited for.

        Raises:
            Unusable, OSError: As for the first time.
        """
        for _ in range(ATTEMPTS):
            if has_part(self.packs):
                return
            sleep(PAUSE)
            packs = open_packs(self.store, self.origin.key)
            os.close(self.packs)
            self.packs = packs

    def is_alone(self) -> bool:
        """Say whether nobody else writes packs of this key; from now on nobody else is alone."""
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(self.packs, LOCK_EX | LOCK_NB)
        except OSError:
            return False
        return True

    def has(self, layer: str) -> bool:
        """Say whether there is any pack of a layer."""
        return bool(self._sizes(layer))

    def add(self, layer: str, contents: Contents) -> None:
        """
        Add what is known of a layer, and see to it that the index is found.

        Raises:
            Unusable: If one of the files is another by now.
            OverflowError: If there are numbers that no file has.
            OSError: If the system refuses.
        """
        now = time_ns()
        self.origin.check(now)
        ranges = sorted(contents.ranges)
        add_pack(self.packs, self.origin.stamp, layer, ranges, contents.blocks, now)
        self._write_head(now)

    def gather(self, layer: str, *, all_packs: bool) -> None:
        """
        Make one pack of all packs of a layer, or of those that are many for what they have; the
        index is found then.

        Raises:
            OverflowError, OSError: As for `add`.
        """
        files = self._sizes(layer)
        names = sorted(files) if all_packs else overgrown(files)
        if len(names) > 1:
            put_together(self.packs, self.origin.stamp, layer, names, time_ns())
        self._write_head(time_ns())

    def size(self) -> int:
        """Return the bytes of all packs."""
        return sum(sum(self._sizes(layer).values()) for layer in ("names", "lines"))

    def lines(self) -> Layer:
        """Return what is known of lines."""
        return Layer(self.packs, f"{self.origin.stamp}.lines.", LINES)

    def _sizes(self, layer: str) -> dict[str, int]:
        return sizes(self.packs, f"{self.origin.stamp}.{layer}.")

    def _write_head(self, now: int) -> None:
        """Write the head, where it is not there or is of an earlier state of the files."""
        with suppress(*FAULTS):
            if read_head(self.store, self.origin.name).stamp == self.origin.stamp:
                return
        write_file(self.store, self.origin.name, (self.origin.head(),), now)
