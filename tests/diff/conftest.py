"""Sides whose times are known."""

import random
import sys
from pathlib import Path

import pytest
from attrs import evolve

sys.path.append(str(Path(__file__).parents[1]))

from reporting import (  # noqa: F401 - fixtures
    begin_report,
    make_report,
    write_report,
)

from okrun.report.model import Call
from okrun.report.runs import runs
from okrun.report.side import side

START = 1_700_000_000_000_000_000
CALLS = 1000
"""How often a function is called in a run, where nothing else is said."""


def calls_of(times, counts):
    """Return the calls of functions, by the time of each in a run and by how many those were."""
    return tuple(
        Call(
            name=name,
            interface="openkal.stream",
            count=counts.get(name, CALLS),
            total_ns=round(ns),
            max_ns=round(ns),
            log2_ns=(counts.get(name, CALLS),),
        )
        for name, ns in times.items()
    )


@pytest.fixture
def make_side(make_report):  # noqa: F811
    """
    Return a function that makes a side of runs: of each, edits of a good report.

    Runs start every 2 seconds, the first *first* seconds from the beginning of all.
    """

    def make_side(edits, path="a", first=0, left_out=0):
        reports = [
            make_report(**{"started_ns": START + (first + 2 * at) * 10**9, **each})
            for at, each in enumerate(edits)
        ]
        return side(path, runs(reports), left_out)

    return make_side


@pytest.fixture
def timed(make_report):  # noqa: F811
    """
    Return a function that makes a side of runs: of each, a dict from functions to nanoseconds.

    *counts* is, for each or for all, a dict from functions to how often they were called.
    """
    report = make_report(counters=[], phases=[], phase_totals=[])

    def timed(times, counts=None, first=0):
        each_counts = counts if isinstance(counts, list) else [counts or {}] * len(times)
        reports = [
            evolve(
                report,
                id=f"{first}-{at}",
                started_ns=START + (first + 2 * at) * 10**9,
                elapsed_ns=round(sum(each.values())),
                calls=calls_of(each, of_it),
            )
            for at, (each, of_it) in enumerate(zip(times, each_counts, strict=True))
        ]
        return side("side", runs(reports))

    return timed


@pytest.fixture
def rng():
    """Chance that is the same each time."""
    return random.Random(20240229)
