"""How often `okprof diff` takes chance for a change, and how often it finds a call that is slower.

    python tests/noise [--trials N] [--runs N] [--fills N]

Builds work.c and runs it, measured, with the commands that are installed beside this Python. Each
trial has its own runs: of A, of the same again, and of a work whose kal_random_fill takes a tenth
longer, one of each by turns, in an order drawn anew each time. Rates are printed, and the status is
1 where one is not what is promised: sides that do not differ with any mark in at most 1 of 100
trials, the slower call found in at least 95 of 100. The second is promised of a machine that does
nothing else; where others use it, root goes before them: chrt -f 10 python tests/noise
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from okrun.report.diff import diff
from okrun.report.files import find
from okrun.report.runs import runs
from okrun.report.side import Side, side

COMMANDS = Path(sys.executable).parent
WORK = Path(__file__).with_name("work.c")
CALL = ("call", "kal_random_fill")
BYTES = 16_384
SIDES = {"a": BYTES, "same": BYTES, "slower": round(1.1 * BYTES)}
HELD_UP = 1.05
"""How much longer than the middle one a run is that something else held up."""


def main() -> int:
    args = _arguments()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as place:
        image = Path(place) / "work.ok"
        subprocess.run([COMMANDS / "okld", "build", WORK, "-o", image], check=True)
        trials = [
            _trial(image, Path(place) / str(at), args.runs, args.fills, rng)
            for at in range(args.trials)
        ]
    return _tell(trials)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Rates of false and of missed marks.")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--runs", type=int, default=10, help="of each side, a trial")
    parser.add_argument("--fills", type=int, default=400, help="how long a run is")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the runs")
    return parser.parse_args()


def _trial(
    image: Path, place: Path, number: int, fills: int, rng: random.Random
) -> dict[str, Side]:
    for _ in range(number):
        for name in rng.sample(sorted(SIDES), len(SIDES)):
            what = f"--prof=calls,counters:{place / name}"
            words = [COMMANDS / "okrun", what, image, str(SIDES[name]), str(fills)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return {name: side(name, runs(find([str(place / name)]).reports)) for name in SIDES}


def _tell(trials: list[dict[str, Side]]) -> int:
    marked = sum(_marks(each["a"], each["same"]) != {} for each in trials)
    found = sum(_marks(each["a"], each["slower"]).get(CALL) == "slower" for each in trials)
    others = sum(set(_marks(each["a"], each["slower"])) - _MOVED != set() for each in trials)
    whole = {name: [ns for each in trials for ns in each[name].times[CALL]] for name in SIDES}
    middle = {name: median(values) for name, values in whole.items()}
    spread = median(abs(ns / middle["a"] - 1) for ns in whole["a"])
    late = sum(ns > HELD_UP * middle["a"] for ns in whole["a"]) / len(whole["a"])
    print(f"{len(trials)} trials of {len(trials[0]['a'].runs)} runs a side")
    print(f"load {os.getloadavg()[1]:.1f}; half of the runs of A are within {spread:.1%} of the")
    print(f"middle one, and {late:.1%} are more than {HELD_UP - 1:.0%} above it")
    print(f"slower is slower by {middle['slower'] / middle['a'] - 1:.1%}")
    print(f"A and the same, any mark:      {marked:3} of {len(trials)}")
    print(f"the slower call, found:        {found:3} of {len(trials)}")
    print(f"beside it, what did not move:  {others:3} of {len(trials)}")
    return int(marked > 0.01 * len(trials) or found < 0.95 * len(trials))


_MOVED = {CALL, ("run", "elapsed"), ("phase", "fill")}


def _marks(a: Side, b: Side) -> dict[tuple[str, str], str]:
    return {
        (row.kind, row.name): change.mark
        for row in diff(a, b).times
        for change in (row.total, row.each)
        if change and change.mark
    }


if __name__ == "__main__":
    sys.exit(main())
