"""What answers cost a process: a program and its addresses are arguments, one line is printed."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import okld
from okld.syms.options import Options

NOWHERE = "/nonexistent"  # a sysroot: companions are those beside the mutant, not the good ones

Told = list[okld.Found | okld.Miss] | okld.OkError


def ask(program: Path, asked: list[int]) -> tuple[Told, float]:
    """Return what a program answers, and the seconds of the processor that the dearest took."""
    options = Options(debug_dirs=(), sysroot=NOWHERE, cache=False)
    answers: list[okld.Found | okld.Miss] = []
    longest, start = 0.0, time.process_time()
    try:
        with okld.symbols(program, options=options) as symbols:
            for address in asked:
                answers.append(symbols.lookup(address))
                longest = max(longest, time.process_time() - start)
                start = time.process_time()
            answers += symbols.lookup_many(asked[:1])
    except okld.OkError as refusal:
        return refusal, max(longest, time.process_time() - start)
    return answers, max(longest, time.process_time() - start)


def mebibytes() -> int:
    """Return the most memory that this process has had since it began."""
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) >> 10


def main() -> None:
    _, seconds = ask(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]])
    cost = {"seconds": seconds, "mebibytes": mebibytes()}
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
