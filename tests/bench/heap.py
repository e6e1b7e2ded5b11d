"""What `heap` adds to a block, from when it is taken to when it is freed; heap.c takes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Row

from okld.sdk.build import build

HERE = Path(__file__).parent
ROUNDS, BUDGET = 5, 300.0
WAYS = {
    "alone": "one at a time",
    "many": "200,000 at once",
    "shuffled": "up to 200,000, in no order",
    "deep": "40 calls deep",
    "two": "in each of two tasks",
}


def run(work: Path) -> Iterator[Row]:
    image = work / "heap.ok"
    build([HERE / "heap.c"], image)
    plain: dict[str, list[float]] = {way: [] for way in WAYS}
    measured: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS):
        for options, times in (([], plain), ([f"--prof=heap:{work / str(turn)}"], measured)):
            for way, time in _times(options, image).items():
                times[way].append(time)
    for way, words in WAYS.items():
        yield Row(
            what=f"a block under heap, {words}",
            ours=measured[way],
            peer=plain[way],
            unit="ns",
            against="unmeasured",
            budget=BUDGET,
            added=True,
        )


def _times(options: list[str], image: Path) -> dict[str, float]:
    okrun = Path(sys.executable).with_name("okrun")
    words = [okrun, *options, image]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return {way: float(time) for way, time in map(str.split, lines)}
