"""
What counting and timing add to a call, beside what other tools add: the same million calls.

The peers are uftrace (calls of libraries), ltrace, a uprobe of perf, and ld.so's own LD_AUDIT. The
program times its calls itself, with each tool and without, in turn. What takes seconds, or as
ltrace a minute or two, is asked once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rows import Row

from okld.sdk.build import build

HERE = Path(__file__).parent
CALLS, ROUNDS = 1_000_000, 5
FUNCTION = "short_function"
BUDGETS = {"count": 3.0, "calls": 30.0}
EVENT = "probe_libtraced:" + FUNCTION
SLOW = ("ltrace", "a perf uprobe")


def run(work: Path) -> Iterator[Row]:
    image, program = _image(work), _program(work)
    okrun = str(Path(sys.executable).with_name("okrun"))
    ours: dict[str, list[float]] = {what: [] for what in ("off", *BUDGETS)}
    native: list[float] = []
    peers: dict[str, list[float]] = {name: [] for name in PEERS}
    for turn in range(ROUNDS):
        ours["off"].append(_printed([okrun, image]))
        for what in BUDGETS:
            ours[what].append(_measured(okrun, image, what, work / f"{what}{turn}"))
        native.append(_printed([program]))
        for name, peer in PEERS.items():
            if turn == 0 or name not in SLOW:
                peers[name].append(peer(program, work / f"{name}{turn}"))
    for what, budget in BUDGETS.items():
        added = min(ours[what]) - min(ours["off"])
        yield Row(
            what=f"a call under {what}, of a million",
            ours=ours[what],
            peer=ours["off"],
            unit="ns",
            against="unmeasured",
            budget=budget,
            added=True,
        )
        for name, times in peers.items():
            yield Row(
                what=f"what {what} adds to a call",
                ours=[added],
                peer=[time - min(native) for time in times],
                unit="ns",
                against=f"{name} adds",
                budget=1.0,
            )


def _image(work: Path) -> str:
    build([HERE / "tracers.c"], work / "traced.ok", options=["-DAS_IMAGE"])
    return str(work / "traced.ok")


def _program(work: Path) -> str:
    """Build the program, its library and the audit library beside each other."""
    (work / "library.c").write_text(f"unsigned long {FUNCTION}(void) {{ return 0; }}\n")
    shared = ["cc", "-O2", "-fPIC", "-shared"]
    subprocess.run([*shared, work / "library.c", "-o", work / "libtraced.so"], check=True)
    subprocess.run([*shared, HERE / "tracers_audit.c", "-o", work / "audit.so"], check=True)
    link = [f"-L{work}", "-ltraced", f"-Wl,-rpath,{work},-z,lazy"]
    program = work / "traced"
    subprocess.run(["cc", "-O2", HERE / "tracers.c", *link, "-o", program], check=True)
    return str(program)


def _printed(command: Sequence[str | Path]) -> float:
    """Run the program by *command*; return the nanoseconds a call that it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[0])


def _measured(okrun: str, image: str, what: str, place: Path) -> float:
    taken = _printed([okrun, f"--prof={what}:{place}", image])
    (file,) = place.glob("okprof-*.json")
    counts = {call["name"]: call["count"] for call in json.loads(file.read_text())["calls"]}
    assert counts["kal_prof_props"] == CALLS, counts
    return taken


def _uftrace(program: str, place: Path) -> float:
    taken = _printed(["uftrace", "record", "--force", "--nest-libcall", "-d", place, program])
    report = subprocess.run(
        ["uftrace", "report", "-d", place], capture_output=True, text=True, check=True
    )
    (row,) = [line for line in report.stdout.splitlines() if line.endswith(FUNCTION)]
    assert int(row.split()[4]) == CALLS, row
    shutil.rmtree(place)
    return taken


def _ltrace(program: str, place: Path) -> float:
    taken = _printed(["ltrace", "-c", "-e", FUNCTION, "-o", place, program])
    (row,) = [line for line in place.read_text().splitlines() if line.endswith(FUNCTION)]
    assert int(row.split()[3]) == CALLS, row
    return taken


def _uprobe(program: str, place: Path) -> float:
    library = Path(program).with_name("libtraced.so")
    add = ["perf", "probe", "--quiet", "-x", library, FUNCTION]
    subprocess.run(add, check=True, capture_output=True)
    try:
        taken = _printed(["perf", "stat", "-x,", "-e", EVENT, "-o", place, program])
    finally:
        subprocess.run(["perf", "probe", "--quiet", "-d", EVENT], check=True, capture_output=True)
    (row,) = [line for line in place.read_text().splitlines() if FUNCTION in line]
    assert int(row.split(",")[0]) == CALLS, row
    return taken


def _audit(program: str, place: Path) -> float:
    audit = Path(program).with_name("audit.so")
    done = subprocess.run(
        ["env", f"LD_AUDIT={audit}", program], capture_output=True, text=True, check=True
    )
    said = re.fullmatch(r"(\d+) calls, (\d+) ns\n", done.stderr)
    assert said, done.stderr
    assert int(said[1]) == CALLS
    assert int(said[2]) > 0
    return float(done.stdout)


PEERS: dict[str, Callable[[str, Path], float]] = {
    "uftrace": _uftrace,
    "ltrace": _ltrace,
    "a perf uprobe": _uprobe,
    "LD_AUDIT": _audit,
}
