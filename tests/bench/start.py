"""A start of an image against a start of Python, and of a large image against a small one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from images import RODATA_MIB, hello, rodata
from rows import Row, in_turn, spawner

TIMES = 150


def run(work: Path) -> Iterator[Row]:
    okrun = str(Path(sys.executable).with_name("okrun"))
    small, large = hello(work), rodata(work)
    for image in (small, large):
        done = subprocess.run([okrun, str(image)], capture_output=True, check=True)
        assert done.stdout == b"hello\n", done
    bare, ours, big = in_turn(
        [
            spawner([sys.executable, "-c", "pass"]),
            spawner([okrun, str(small)]),
            spawner([okrun, str(large)]),
        ],
        TIMES,
    )
    yield Row(what="okrun hello", ours=ours, peer=bare, against="python -c pass", budget=1.15)
    yield Row(
        what=f"okrun, {RODATA_MIB} MiB of read-only data",
        ours=big,
        peer=ours,
        against="okrun hello",
        budget=1.05,
    )
