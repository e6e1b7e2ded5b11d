"""
Put mutants of debug information to okld, in a process of its own, whose memory is measured.

Arguments: a directory of bases, the first mutant's number, and the number behind the last one.
A base is a directory: the file "question" has the name of the program and the addresses asked.
What is found is printed as one line of JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from debug_cost import Told, ask, mebibytes
from debug_mutator import DebugMutator

import okld
from okld.base.units import SectionOffset

SECONDS = 1.0  # of the processor, for one answer
MEBIBYTES = 500


class Base:
    """A program with its companions, in a directory in which one of them at a time is a mutant."""

    def __init__(self, good: Path, place: Path) -> None:
        self.name = good.name
        self.here = Path(shutil.copytree(good, place / good.name))
        told = json.loads((good / "question").read_text())
        self.program = self.here / told["program"]
        self.asked = [
            SectionOffset(told["section"], address) if told["section"] else address
            for address in told["addresses"]
        ]
        files = sorted(path for path in self.here.iterdir() if path.name != "question")
        self.mutators = [(path, DebugMutator(path.read_bytes())) for path in files]

    def put(self, number: int) -> tuple[str, float]:
        """Return how a mutant was answered, and the longest that one answer took."""
        path, mutator = self.mutators[number % len(self.mutators)]
        path.write_bytes(mutator.mutant(number))
        try:
            told, seconds = ask(self.program, self.asked)
        finally:
            path.write_bytes(mutator.good)
        return summary(told), seconds


def summary(told: Told) -> str:
    if isinstance(told, okld.OkError):
        return "refused" if str(told).isprintable() else f"refused as {str(told)!r}"
    found = [answer for answer in told if isinstance(answer, okld.Found)]
    for note in (note for answer in found for note in answer.notes):
        if not note.isprintable():
            return f"a note as {note!r}"
    lines = any(frame.line for answer in found for frame in answer.frames)
    return "lines" if lines else "names" if found else "miss"


def main() -> None:
    bases_at, start, stop = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    counts: dict[str, int] = {}
    faults = []
    with tempfile.TemporaryDirectory() as place:
        bases = [Base(good, Path(place)) for good in sorted(bases_at.iterdir())]
        for number in range(start, stop):
            base = bases[number % len(bases)]
            try:
                how, seconds = base.put(number // len(bases))
            except Exception as error:
                faults.append(f"{base.name}/{number}: {type(error).__name__}: {error}")
                continue
            counts[how] = counts.get(how, 0) + 1
            if seconds > SECONDS or " as " in how:
                faults.append(f"{base.name}/{number}: {how}, {seconds:.2f} s")
            if mebibytes() > MEBIBYTES:
                faults.append(f"{base.name}/{number}: {mebibytes()} MiB")
                break
    print(json.dumps({"counts": counts, "faults": faults}))


if __name__ == "__main__":
    main()
