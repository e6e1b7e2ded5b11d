"""The changes of times that one comparison tests, together."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from attrs import frozen

from okrun.report.difference import FASTER, SLOWER, Change
from okrun.report.significance import LEVEL, Shift, can_tell, runs_to_tell, shift, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.side import Key

SMALLEST = 1.01
"""The least ratio that gets a mark: where the linker puts the same code makes as much."""

TOTAL, EACH = "total", "each"


@frozen(kw_only=True)
class _Tested:
    shift: Shift
    runs: tuple[int, int]
    weight: float
    beyond_uncertainty: bool


class Family:
    """
    Changes that are tested together.

    Half of what may go wrong is spent on all of them alike, half by how much of the time each
    takes, so that few runs find what matters most. How much that is, is taken from the runs of
    both sides thrown together: it does not depend on which run is of which side, as the weights of
    a fair test must not.
    """

    def __init__(self, overhead_ns: float) -> None:
        """Begin; *overhead_ns* is by how much the sides differ in what measuring adds to a call."""
        self._tests: dict[tuple[Key, str], _Tested] = {}
        self._overhead_ns = overhead_ns

    def add(
        self,
        key: Key,
        which: str,
        a: Sequence[float],
        b: Sequence[float],
        *,
        weight: float,
        calls: float,
    ) -> None:
        """Add a change: its values by run, its weight, and how many calls were measured in each."""
        self._tests[key, which] = _Tested(
            shift=shift(a, b),
            runs=(len(a), len(b)),
            weight=weight,
            beyond_uncertainty=abs(median(b) - median(a)) > self._overhead_ns * calls,
        )

    def changes(self) -> dict[tuple[Key, str], Change]:
        """
        Return each with what may be said of it beside the others.

        Source: DIFF-6, DIFF-7, DIFF-8.
        """
        tests = self._tests.values()
        whole = sum(test.weight for test in tests) or 1.0
        weights = [1 / len(tests) + test.weight / whole for test in tests]
        adjusted = together([test.shift.p for test in tests], weights)
        spent = sum(weights)
        return {
            key: _change(test, p, LEVEL * weight / spent)
            for (key, test), p, weight in zip(self._tests.items(), adjusted, weights, strict=True)
        }


def _change(test: _Tested, p_adjusted: float, level: float) -> Change:
    ratio = test.shift.ratio
    mark = None
    if p_adjusted <= LEVEL and test.beyond_uncertainty and not 1 / SMALLEST < ratio < SMALLEST:
        mark = SLOWER if ratio > 1 else FASTER
    needs = None if can_tell(*test.runs, level) else runs_to_tell(level)
    return Change(shift=test.shift, p_adjusted=p_adjusted, mark=mark, needs=needs)
