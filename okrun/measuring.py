"""What a user asks to have measured."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okrun.plan.codec import (
    MEASURE_CALLS,
    MEASURE_COUNT,
    MEASURE_COUNTERS,
    MEASURE_HEAP,
    MEASURE_PERFMAP,
)

MEASURES = {
    "calls": MEASURE_CALLS,
    "count": MEASURE_COUNT,
    "counters": MEASURE_COUNTERS,
    "perfmap": MEASURE_PERFMAP,
    "heap": MEASURE_HEAP,
}
"""What can be measured, by the name that a user gives it."""


MOST_RUN = 100
"""Bytes of the name of a run."""


class Usage(OkError):
    """A request that makes no sense, or that this version does not know."""


class Measuring:
    """
    What is to be measured in one run.

    Attributes:
        bits: Bits of ``MEASURE_*``; 0 for nothing.
        directory: Where the report goes, as bytes of a path; empty when nothing is measured.
        names: What was asked for, in words.
        run: Which run of several images the report is to say that it belongs to, or nothing.
    """

    __slots__ = ("bits", "directory", "names", "run")

    def __init__(self, bits: int, directory: bytes, names: str, run: bytes = b"") -> None:
        self.bits = bits
        self.directory = directory
        self.names = names
        self.run = run


def measuring(text: str, source: str) -> Measuring:
    """
    Read ``WHAT[,WHAT...][:DIR]``; *source* is the option or variable that a complaint names.

    Raises:
        Usage: If a WHAT is not known; the message lists those that are.

    Source: PROF-1, REP-5.
    """
    if not text:
        return Measuring(0, b"", "")
    names, _, directory = text.partition(":")
    bits = 0
    for name in names.split(","):
        if name not in MEASURES:
            raise Usage(f"{source} measures {', '.join(MEASURES)} (got '{name}')", rule="PROF-1")
        bits |= MEASURES[name]
    return Measuring(bits, os.fsencode(directory or "."), names, _run())


def _run() -> bytes:
    """Return what OKRUN_PROF_RUN says, or nothing where it is no short line of ASCII."""
    run = os.environ.get("OKRUN_PROF_RUN", "")
    if len(run) > MOST_RUN or not (run.isascii() and run.isprintable()):
        return b""
    return run.encode()
