"""Calls as program points for the viewer of valgrind's DHAT, and what else reads its files.

A file of version 2 is a JSON object whose ``pps`` are places, each with a number of bytes ``tb``
and of blocks ``tbk``; here those are nanoseconds and calls. ``fs`` are indices into ``ftbl``, the
innermost frame first. Format: the comment on top of valgrind's dhat/dh_main.c.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from okld.base.errors import printable
from okrun.report.export.stacks import Stack, stacks, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.model import Report


def export(reports: Sequence[Report]) -> str:
    """
    Return the calls of the reports as one DHAT file; its bytes are calls where times are not known.

    Source: EXP-6.
    """
    times = timed(reports)
    found = stacks(reports)
    names = ["[root]", *dict.fromkeys(name for stack in found for name in stack.frames)]
    frames = {name: at for at, name in enumerate(names)}
    value = {
        "dhatFileVersion": 2,
        "mode": "kal-calls",
        "verb": "Called",
        "bklt": False,
        "bkacc": False,
        "bu": "ns" if times else "call",
        "bsu": "ns" if times else "calls",
        "bksu": "calls",
        "tu": "ns",
        "Mtu": "ms",
        "cmd": ", ".join(dict.fromkeys(_command(report) for report in reports)),
        "pid": reports[0].pid,
        "te": sum(report.elapsed_ns for report in reports),
        "pps": [_place(stack, times, frames) for stack in found],
        "ftbl": names,
    }
    return json.dumps(value, ensure_ascii=False) + "\n"


def _command(report: Report) -> str:
    return " ".join(printable(word) for word in report.argv)


def _place(stack: Stack, times: bool, frames: dict[str, int]) -> dict[str, object]:
    return {
        "tb": stack.total_ns if times else stack.count,
        "tbk": stack.count,
        "fs": [frames[name] for name in reversed(stack.frames)],
    }
