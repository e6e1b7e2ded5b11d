"""A start of a bundle, remembered and not, against a bare Python and against OpenSSL's digest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from images import rodata
from rows import Row, in_turn, spawner

from okld.bundle.writer import write_bundle

SIZES = (1, 10, 100, 1000)  # MiB
WARM_TIMES = 150
COLD_TIMES = 7
SETTLED = 2.1  # seconds after which a file can be remembered
NO_BUDGET = float("inf")  # most of it is Python's own start and imports


def run(work: Path) -> Iterator[Row]:
    okrun = str(Path(sys.executable).with_name("okrun"))
    os.environ["OKRUN_CACHE_DIR"] = str(work / "cache")
    bundles = [_bundle(work, size) for size in SIZES]
    time.sleep(SETTLED)
    for bundle in bundles:
        for expected in ("miss", "hit"):
            words = [okrun, "-v", bundle]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert done.stdout == "hello\n", done
            assert f"cache: {expected}" in done.stderr, done.stderr
    bare = spawner([sys.executable, "-c", "pass"])
    warm = [spawner([okrun, str(bundle)]) for bundle in bundles]
    python, *hits = in_turn([bare, *warm], WARM_TIMES)
    for size, ours in zip(SIZES, hits, strict=True):
        yield Row(
            what=f"bundle of {size} MiB, remembered",
            ours=ours,
            peer=python,
            against="python -c pass",
            budget=1.15,
        )
    yield Row(
        what=f"{SIZES[-1]} MiB, remembered",
        ours=hits[-1],
        peer=hits[0],
        against=f"{SIZES[0]} MiB",
        budget=1.05,
    )
    yield from _cold(okrun, bundles)


def _cold(okrun: str, bundles: list[Path]) -> Iterator[Row]:
    openssl = shutil.which("openssl")
    assert openssl is not None, "openssl is not installed"
    cold = [spawner([okrun, "--no-cache", str(bundle)]) for bundle in bundles]
    peer = [spawner([openssl, "dgst", "-sha256", str(bundle)]) for bundle in bundles]
    times = in_turn([*cold, *peer], COLD_TIMES)
    ours, theirs = times[: len(cold)], times[len(cold) :]
    for size, mine, other in zip(SIZES, ours, theirs, strict=True):
        yield Row(
            what=f"bundle of {size} MiB, not remembered",
            ours=mine,
            peer=other,
            against="openssl dgst -sha256",
            budget=NO_BUDGET,
        )
    yield Row(
        what=f"hashing {SIZES[-1] - SIZES[0]} MiB more",
        ours=[each - min(ours[0]) for each in ours[-1]],
        peer=[each - min(theirs[0]) for each in theirs[-1]],
        against="openssl dgst -sha256",
        budget=1 / 0.9,
    )


def _bundle(work: Path, size: int) -> Path:
    image = rodata(work, size)
    bundle = work / f"{size}.okb"
    write_bundle([str(image)], str(bundle), name="bench")
    image.unlink()
    assert bundle.stat().st_size > size << 20
    return bundle
