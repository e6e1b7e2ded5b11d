"""What counting and timing add to a call, on one thread and on two; count_bench.c measures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rows import Row

ROOT = Path(__file__).parents[2]
HOST = ROOT / "okrun/host"
ROUNDS, CALLS = "7", "2000000"
BUDGETS = {"count": 3.0, "calls": 30.0}


def run(work: Path) -> Iterator[Row]:
    done = subprocess.run([_bench(work), ROUNDS, CALLS], capture_output=True, text=True, check=True)
    times: dict[tuple[str, int], list[float]] = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        times.setdefault((row["measure"], row["threads"]), []).append(row["ns_per_call"])
    for measure, budget in BUDGETS.items():
        for threads in (1, 2):
            yield Row(
                what=f"a call under {measure}, {threads} thread{'s' * (threads - 1)}",
                ours=times[measure, threads],
                peer=times["off", threads],
                unit="ns",
                against="unmeasured, a call through a GOT",
                budget=budget,
                added=True,
            )


def _bench(work: Path) -> Path:
    generate = [sys.executable, ROOT / "okld/iface/generate.py", "--list", work / "surface.gen.h"]
    subprocess.run(generate, check=True)
    sources = [Path(__file__).with_name("count_bench.c")]
    sources += [HOST / name for name in ("count.c", "stats.c", "json.c", "clock.c", "text.c")]
    flags = ["-std=gnu11", "-O2", "-fPIE", "-static-pie", "-fno-omit-frame-pointer", "-pthread"]
    include = [f"-I{place}" for place in (HOST, ROOT / "okld/sdk/include", work)]
    subprocess.run(["cc", *flags, *include, *sources, "-o", work / "bench"], check=True)
    return work / "bench"
