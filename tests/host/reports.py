"""Programs that are measured as an image is, and what they report."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

COUNT, CALLS, COUNTERS = 1, 2, 4
KAL = Path(__file__).parents[2] / "okrun/host/kal"
HOST = (
    "bind", "cells", "clock", "code", "count", "counters", "crash", "dhat", "enter", "fault",
    "heap", "heap_book", "json", "kept", "map", "measure", "perfmap", "phases", "plan", "report",
    "report_file", "stats", "symtab", "text",
    *(f"kal/{file.stem}" for file in sorted(KAL.glob("*.c"))),
)  # fmt: skip


@dataclass
class Run:
    """What a program did that was measured."""

    status: int
    out: bytes
    err: bytes
    directory: Path

    @property
    def report(self):
        """The one report; there is nothing else in the directory."""
        (path,) = self.directory.iterdir()
        report = json.loads(path.read_bytes().decode("ascii"))
        assert path.name == f"okprof-{report['id']}.json"
        return report

    @property
    def counts(self):
        return {call["name"]: call["count"] for call in self.report["calls"]}


def runner(build, program, folder):
    """Return a call that runs a scenario of a program, with the report in a new directory."""

    def call(scenario, *args, what=CALLS, to="a/b", path="dir/image.ok", build_id="00ff", **how):
        directory = folder / to
        command = [*build(program, *HOST), str(what), directory, path, build_id, scenario]
        how.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run([*command, *args], stdout=subprocess.PIPE, **how)
        return Run(done.returncode, done.stdout, done.stderr, directory)

    return call
