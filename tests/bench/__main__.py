"""Measure what is claimed: ``python tests/bench [NAME...]`` prints ratios against named peers.

Each bench asserts the right answer first, then times ours and the peer in turn, in one run, and
prints the minimum and the median of each with their ratio. It exits 1 when a ratio of the minima
is over its budget. Nothing here is part of the tests: machines are noisy.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import bundles
import calls
import gate
import heap
import logs
import relocate
import start
import surface
import symbols
import tracers
from rows import Row

BENCHES = {
    "start": start.run,
    "bundles": bundles.run,
    "calls": calls.run,
    "heap": heap.run,
    "relocate": relocate.run,
    "gate": gate.run,
    "symbols": symbols.run,
    "logs": logs.run,
    "surface": surface.run,
    "tracers": tracers.run,
}


def main(names: list[str]) -> int:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        for name in names or BENCHES:
            work = Path(place, name)
            work.mkdir()
            for row in BENCHES[name](work):
                print(row.text(), flush=True)
                rows.append(row)
    over = [row for row in rows if row.over]
    print(f"{len(rows)} measured, {len(over)} over budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
