"""100,000 relocations by okhost against glibc's dlopen of the same object."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from images import pointers
from rows import Row, in_turn, spawner

from okrun.launch import Measuring, prepare

TIMES = 200
MANY = 100_000
PEER = """
#include <dlfcn.h>
int main(int argc, char** argv) { return argc != 2 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL); }
"""


def run(work: Path) -> Iterator[Row]:
    source, peer = work / "peer.c", work / "peer"
    source.write_text(PEER)
    subprocess.run(["cc", "-O2", str(source), "-o", str(peer)], check=True)
    few, many = pointers(work, 1), pointers(work, MANY)
    ours_few, ours_many, peer_few, peer_many = in_turn(
        [
            _okhost(few),
            _okhost(many),
            spawner([str(peer), str(few)]),
            spawner([str(peer), str(many)]),
        ],
        TIMES,
    )
    yield Row(
        what=f"okhost, {MANY:,} relocations",
        ours=[each - min(ours_few) for each in ours_many],
        peer=[each - min(peer_few) for each in peer_many],
        against="dlopen",
        budget=1.5,
    )
    yield Row(
        what=f"the whole process, {MANY:,} relocations",
        ours=ours_many,
        peer=peer_many,
        against="dlopen",
        budget=1.5,
    )


def _okhost(image: Path) -> Callable[[], None]:
    """Return a call of the host alone; the image itself checks every pointer and ends with 0."""
    start = prepare(str(image), Measuring(0, b"", ""))
    program, command = start.command([])
    return spawner([program, *command[1:]], fds=start.fds)
