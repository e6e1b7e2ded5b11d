"""Folded stacks, the text that flamegraph.pl, inferno and others read.

One line a stack: its frames, the outermost first, with ``;`` between them, a space, and its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from okrun.report.export.stacks import stacks, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.model import Report

HARMLESS = str.maketrans({";": ":", " ": "_"})
"""What would end a frame, or, to some readers, the stack."""


def export(reports: Sequence[Report]) -> str:
    """
    Return the stacks of the reports, sorted: nanoseconds where every call was timed, else calls.

    Source: EXP-5.
    """
    times = timed(reports)
    values: dict[str, int] = {}
    for stack in stacks(reports):
        line = ";".join(frame.translate(HARMLESS) for frame in stack.frames)
        value = stack.total_ns if times else stack.count
        values[line] = values.get(line, 0) + value
    return "".join(f"{line} {value}\n" for line, value in sorted(values.items()) if value)
