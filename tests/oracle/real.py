"""
Ask random addresses of real files, and compare okld's answers with llvm-symbolizer's.

`python tests/oracle/real.py [--addresses N] [FILE...]` asks what Debian's packages have installed,
or the files that are named, and prints how many answers are equal in name, file, line, column and
inlined calls, how many differ for which trap, and how many are not explained, which is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from real_files import LARGE, SMALL, Subject, installed, subjects
from real_programs import Program, places, program
from real_tools import gdb, llvm, ours
from real_traps import Case, differ, explain

ADDRESSES = 100_000
SINGLES = 100  # addresses that are looked up one by one, without an index
SHOWN = 5  # cases without an explanation that are printed of each file


@dataclass
class Result:
    """How the answers of a file compare."""

    name: str
    addresses: int
    equal: int = 0
    traps: Counter[str] = field(default_factory=Counter)
    unexplained: list[Case] = field(default_factory=list)

    def row(self) -> str:
        traps = "  ".join(f"{trap}: {count:,}" for trap, count in sorted(self.traps.items()))
        numbers = f"{self.addresses:>9,} {self.equal:>9,} {len(self.unexplained):>11,}"
        return f"{self.name:<46} {numbers}  {traps}"


HEAD = f"{'file':<46} {'addresses':>9} {'equal':>9} {'unexplained':>11}  by trap"


def compare(subject: Subject, count: int, folder: Path) -> Result:
    """Ask *count* addresses of a file."""
    asked = program(subject.path, folder)
    where = places(asked, count)
    result = Result(subject.name, len(where))
    for case in cases(asked, where):
        traps = explain(case)
        if traps is None:
            result.unexplained.append(case)
        elif traps:
            result.traps.update(traps)
        else:
            result.equal += 1
    return result


def cases(asked: Program, where: Sequence[tuple[int, int]]) -> Iterator[Case]:
    """Ask every tool for all the places, and give one after the other."""
    found = ours(asked, where, SINGLES)
    addresses = [address for _, address in where]
    named, bare = llvm(asked.named, addresses), llvm(asked.bare, addresses)
    others: dict[int, list[str]] = {}
    if asked.has_alternate:
        triples = zip(addresses, found, bare, strict=True)
        lost = [address for address, mine, theirs in triples if differ(mine, theirs)]
        others = dict(zip(lost, gdb(asked.path, lost), strict=True))
    for address, *said in zip(addresses, found, named, bare, strict=True):
        yield Case(asked, address, *said, others.get(address, []))


def main() -> int:
    """Return 1 if anything is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("--addresses", type=int, default=ADDRESSES, metavar="N")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    args = parser.parse_args()
    print(HEAD)
    unexplained = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["XDG_CACHE_HOME"] = temporary
        asked = [Subject(path, path.name) for path in args.files]
        for package in () if asked else (*SMALL, *LARGE):
            if installed(package):
                asked += subjects(package, folder)
            else:
                print(f"{package.name}: not installed; apt-get install {package.name}")
        for subject in asked:
            start = monotonic()
            result = compare(subject, args.addresses, folder)
            print(f"{result.row()}  ({monotonic() - start:.0f} s)", flush=True)
            print("".join(map(described, result.unexplained[:SHOWN])), end="")
            unexplained += len(result.unexplained)
    return int(unexplained > 0)


def described(case: Case) -> str:
    """Return what is not explained, for people."""
    ours = case.ours
    said = (ours.name, ours.symbol, ours.frames) if ours.name is not None else ours.reason
    return (
        f"    {case.address:#x}: okld: {said}\n        llvm-symbolizer: {case.named}\n"
        f"        without symbols: {case.bare}\n        gdb: {case.others}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
