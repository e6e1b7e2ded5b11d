"""100,000 relocations by okhost against glibc's dlopen of the same object."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from images import pointers
from rows import Row, in_turn, spawner

import okld
from okrun.launch import prepare
from okrun.measuring import Measuring

TIMES = 200
MANY = 100_000
PEER = """
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
int main(int argc, char** argv)
{
    struct link_map* image = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;

    return !image || ((int (*)(void))(image->l_addr + strtoul(argv[2], 0, 0)))();
}
"""
"""Opens the image, and calls its entry: it checks every pointer, here as in okhost."""


def run(work: Path) -> Iterator[Row]:
    source, peer = work / "peer.c", work / "peer"
    source.write_text(PEER)
    subprocess.run(["cc", "-O2", str(source), "-o", str(peer)], check=True)
    few, many = pointers(work, 1), pointers(work, MANY)
    ours_few, ours_many, peer_few, peer_many = in_turn(
        [
            _okhost(few),
            _okhost(many),
            spawner([str(peer), str(few), hex(okld.open(few).shape.entry)]),
            spawner([str(peer), str(many), hex(okld.open(many).shape.entry)]),
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
    """Return a call of the host alone."""
    start = prepare(str(image), Measuring(0, b"", ""))
    program, command = start.command([])
    return spawner([program, *command[1:]], fds=start.fds)
