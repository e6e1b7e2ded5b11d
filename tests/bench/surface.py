"""Calls of the surface against the same system calls through libc, in turn and on one processor.

The loops of surface_kal.c, an image, are those of surface_libc.c; surface.h times both.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Row

from okld.sdk.build import build

HERE = Path(__file__).parent
PAGE = 4096
ROUNDS, BATCHES = 8, 40
LOOPS = {
    "read-1": ("read, 1 byte of /dev/zero", 4_000),
    "read-4096": ("read, 4 KiB of /dev/zero", 4_000),
    "write-1": ("write, 1 byte to /dev/null", 4_000),
    "write-4096": ("write, 4 KiB to /dev/null", 4_000),
    "stat": ("stat of a name", 1_000),
    "open": ("open and close", 500),
    "map": ("mmap and munmap of a page", 300),
    "spawn": ("spawn of /bin/true and wait", 2),
    "handoff": ("a futex handoff between tasks", 500),
    "echo": ("loopback echo of a byte", 100),
}
"""What each loop does, and the calls of a batch: about 1 ms, so that some go undisturbed."""


def run(work: Path) -> Iterator[Row]:
    (work / "file").write_bytes(bytes(PAGE))
    libc, image = work / "surface", work / "surface.ok"
    source = HERE / "surface_libc.c"
    subprocess.run(["cc", "-O2", "-pthread", str(source), "-o", str(libc)], check=True)
    build([HERE / "surface_kal.c"], image, options=["-O2"])
    okrun = Path(sys.executable).with_name("okrun")
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})
    try:
        for name, (what, calls) in LOOPS.items():
            ours, peer = [], []
            for _ in range(ROUNDS):
                peer += _times([libc], name, calls, work)
                ours += _times([okrun, image], name, calls, work)
            yield Row(what=what, ours=ours, peer=peer, unit="ns", against="libc", budget=1.15)
    finally:
        os.sched_setaffinity(0, processors)


def _times(command: list[Path], name: str, calls: int, work: Path) -> list[float]:
    """Return the nanoseconds that a call took, of each batch."""
    words = [*map(str, command), name, str(calls), str(BATCHES)]
    done = subprocess.run(words, cwd=work, stdout=subprocess.PIPE, check=True)
    times = [int(line) / 1000 for line in done.stdout.split()]
    assert len(times) == BATCHES
    return times
