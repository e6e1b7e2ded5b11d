"""Chance is not called a change, and a change is not called chance."""

import random

import pytest
from simulating import noisy

from okrun.report.diff import diff

MEANS = {f"kal_{at}": 1e7 / (at + 1) ** 1.3 for at in range(20)}
"""Of twenty functions, in nanoseconds a run: the first takes a third of the time, the last 1 %."""

MACHINES = {"quiet": (0.01, 0.005), "usual": (0.015, 0.01), "busy": (0.04, 0.05)}
"""How much runs spread, and how often one is held up by a third of its time."""

RUNS = 10
TRIALS = 500


@pytest.fixture
def compare(timed):
    """Return a function that compares ten runs of A and ten of B, which alternate."""

    def compare(rng, machine, means_b):
        a, b = (
            timed([noisy(rng, means, *MACHINES[machine]) for _ in range(RUNS)], first=first)
            for first, means in enumerate((MEANS, means_b))
        )
        return diff(a, b)

    return compare


@pytest.mark.spec("DIFF-7")
@pytest.mark.parametrize("machine", MACHINES)
def test_identical_sides_show_marks_in_at_most_one_of_a_hundred(compare, machine):
    """A against A: of 100 comparisons at most 1 has a mark at all, on any of its 21 rows."""
    rng = random.Random(1)
    compared = [compare(rng, machine, MEANS) for _ in range(TRIALS)]
    assert {each.tested for each in compared} == {21}
    assert {each.needs for each in compared} == {None}
    assert sum(any(row.total.mark for row in each.times) for each in compared) <= TRIALS / 100


@pytest.mark.spec("DIFF-13")
@pytest.mark.parametrize("machine", ["quiet", "usual"])
@pytest.mark.parametrize("name", ["kal_0", "kal_3", "kal_19"])
def test_a_tenth_slower_is_found(compare, machine, name):
    """A call that takes a tenth longer is marked slower in at least 95 of 100 comparisons."""
    rng = random.Random(2)
    slower = MEANS | {name: 1.1 * MEANS[name]}
    marks = [
        row.total.mark
        for _ in range(TRIALS)
        for row in compare(rng, machine, slower).times
        if row.name == name
    ]
    assert len(marks) == TRIALS
    assert marks.count("slower") >= 0.95 * TRIALS
