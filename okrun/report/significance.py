"""How far the times of two sides lie apart, and whether chance alone would part them so.

The test is the rank test of Mann and Whitney in Gastwirth's percentile form: of all runs of both
sides, the faster half alone is ranked, and a run of the slower half counts for nothing. What holds
a run up only makes it slow; that it was slow at all is then no worse than that it was not fast.
Estimate and interval are that test's own, turned round: the shifts that it does not refuse.

Sources: Mann and Whitney 1947; Hodges and Lehmann 1963; Gastwirth 1965 (percentile modifications);
Holm 1979 (several tests, with weights). Why this one: docs/decisions, "What is a change".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from itertools import accumulate
from math import comb, erfc, exp, inf, log, sqrt
from statistics import median
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEVEL = 0.005
"""How often sides of like origin may show any mark at all: half of the 1 % that DIFF-7 promises,
so that a count of a hundred comparisons keeps the promise too."""

OUTSIDE = 0.05
"""How often an interval may miss the true change."""

LEAST = -1e3
"""The logarithm of 0, as far as order goes."""

STEPS = 1 << 40
MARGIN = 1e-9
"""Of a logarithm: more than what rounding makes of it."""

EXACT = 400
"""Runs of both sides up to which chances are counted out. Beyond, the normal distribution stands
for them, to within a few hundredths of a chance, and mostly above it."""


@frozen(kw_only=True)
class Shift:
    """
    How the values of B lie to those of A.

    Attributes:
        ratio: B over A, the best estimate; where some values are 0, that of the middle values,
            which may be 0 or infinite.
        low, high: Between which the true ratio lies, at 95 %; None where the runs are too few, and
            where some values are 0.
        p: How often chance alone parts two samples of like origin at least so far.
    """

    ratio: float
    low: float | None
    high: float | None
    p: float


def shift(a: Sequence[float], b: Sequence[float]) -> Shift:
    """
    Compare two samples of values that are not negative, one value a run, at least one a side.

    Source: DIFF-5.
    """
    apart = _Apart(a, b)
    chances = _chances(len(a), len(b), max(len(a), len(b)))
    p = min(1.0, 2 * min(chances.at_least(apart.slower(0)), chances.at_most(apart.faster(0))))
    if not (min(a) and min(b)):
        return Shift(ratio=_ratio(median(a), median(b)), low=None, high=None, p=p)
    low, high = apart.between(chances.low, chances.high)
    return Shift(
        ratio=exp(apart.middle()),
        low=None if low is None else exp(low),
        high=None if high is None else exp(high),
        p=p,
    )


def _ratio(a: float, b: float) -> float:
    if a:
        return b / a
    return inf if b else 1.0


class _Steps:
    """Values from *least* to *most*, ascending, so near one another that one is as good as any."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._size = least, (most - least) / STEPS

    def __len__(self) -> int:
        return STEPS + 1

    def __getitem__(self, at: int) -> float:
        return self._least + at * self._size


class _Apart:
    """
    The logarithms of B over A for all pairs of runs, and what A scores when it is shifted.

    Of more runs than are counted out (of 10,000 a side there are 10^8 pairs) the pairs are not
    kept: any shift may then be the one that is looked for, to `STEPS` parts of the whole range.

    The score is the sum of what A's runs among the *ranked* fastest count: the fastest of all
    *ranked*, the next one less, and so on. Where values of both sides are equal, the score is the
    one that speaks the least for a difference.
    """

    def __init__(self, a: Sequence[float], b: Sequence[float]) -> None:
        logs_a, logs_b = (sorted(log(each) if each else LEAST for each in side) for side in (a, b))
        self._all: _Steps | list[float]
        # Each row is one of A's runs: the values that B's have from there.
        if len(a) + len(b) <= EXACT:
            self._rows = [(0.0, [other - one for other in logs_b]) for one in logs_a]
            # Rows from the last on are ascending stretches, which sorting takes as they are.
            self._all = sorted(value for _, row in reversed(self._rows) for value in row)
        else:
            self._rows = [(one, logs_b) for one in logs_a]
            self._all = _Steps(logs_b[0] - logs_a[-1] - MARGIN, logs_b[-1] - logs_a[0] + MARGIN)
        self._ranked = max(len(a), len(b))
        self._mean = len(a) * self._ranked * (self._ranked + 1) / 2 / (len(a) + len(b))

    def slower(self, by: float) -> int:
        """Return A's score, shifted, where it is held against B's being slower."""
        return self._score(by, bisect_right)

    def faster(self, by: float) -> int:
        """Return A's score, shifted, where it is held against B's being faster."""
        return self._score(by, bisect_left)

    def _score(self, by: float, before: Callable[[list[float], float], int]) -> int:
        score, counts = 0, self._ranked
        for origin, row in self._rows:
            value = counts - before(row, origin + by)
            if value <= 0:
                break
            score += value
            counts -= 1
        return score

    def middle(self) -> float:
        """Return the shift that brings A's score to what it is on average."""
        at = bisect_left(self._all, -self._mean, key=lambda by: -self.slower(by))
        last = at
        if self.slower(self._all[at]) == self._mean:
            last = bisect_right(self._all, -self._mean, at, key=lambda by: -self.slower(by))
        return (self._all[at] + self._all[last]) / 2

    def between(self, low: int | None, high: int | None) -> tuple[float | None, float | None]:
        """Return the least shift that scores below *high*, and the greatest above *low*."""
        if low is None or high is None:
            return None, None
        first = bisect_right(self._all, -high, key=lambda by: -self.slower(by))
        last = bisect_left(self._all, -low, key=lambda by: -self.faster(by)) - 1
        return self._all[first], self._all[last]


class _Chances:
    """How A scores where both sides have the same origin: exactly, or by a normal distribution."""

    def __init__(self, a: int, b: int, ranked: int) -> None:
        self._counted = score_chances(a, b, ranked) if a + b <= EXACT else None
        self._mean, self._deviation = _moments(a, b, ranked)
        top = ranked * (ranked + 1) // 2
        limit = OUTSIDE / 2
        self.high = _first(top, lambda score: self.at_least(score) <= limit)
        down = _first(top, lambda score: self.at_most(top - score) <= limit)
        self.low = None if down is None else top - down

    def at_most(self, score: int) -> float:
        """Return how often the score is no more."""
        if self._counted:
            return self._counted[0][score]
        return erfc((self._mean - score - 0.5) / self._deviation / sqrt(2)) / 2

    def at_least(self, score: int) -> float:
        """Return how often the score is no less."""
        if self._counted:
            return self._counted[1][score]
        return erfc((score - 0.5 - self._mean) / self._deviation / sqrt(2)) / 2


_chances = cache(_Chances)


def _first(top: int, holds: Callable[[int], bool]) -> int | None:
    """Return the first of 0 to *top* for which *holds*, which then holds for all that follow."""
    at = bisect_left(range(top + 1), True, key=holds)
    return at if at <= top else None


def score_chances(a: int, b: int, ranked: int) -> tuple[list[float], list[float]]:
    """
    Return how often A's score is at most, and at least, each from 0 on.

    All ways to place A's runs are alike. Those that put k of them among the ranked, for a score s,
    are the coefficient of x^(s - k (k + 1) / 2) in the Gaussian binomial of *ranked* over k.
    """
    ways = [0] * (ranked * (ranked + 1) // 2 + 1)
    term = [1]
    for k in range(min(a, ranked) + 1):
        others = comb(a + b - ranked, a - k)
        if others:
            for score, number in enumerate(term, k * (k + 1) // 2):
                ways[score] += number * others
        term = _next(term, ranked - k, k + 1)
    every = comb(a + b, a)
    at_most = [number / every for number in accumulate(ways)]
    at_least = [number / every for number in accumulate(reversed(ways))]
    return at_most, at_least[::-1]


def _next(term: list[int], up: int, down: int) -> list[int]:
    """Return term (1 - x^up) / (1 - x^down), which is a polynomial again."""
    term = term + [0] * up
    for at in range(len(term) - 1, up - 1, -1):
        term[at] -= term[at - up]
    for at in range(down, len(term)):
        term[at] += term[at - down]
    return term[: len(term) - down]


def _moments(a: int, b: int, ranked: int) -> tuple[float, float]:
    """Return mean and standard deviation of A's score."""
    every = a + b
    mean = ranked * (ranked + 1) / 2 / every
    squares = ranked * (ranked + 1) * (2 * ranked + 1) / 6 - every * mean**2
    return a * mean, sqrt(a * b / (every * (every - 1)) * squares)


def together(chances: Sequence[float], weights: Sequence[float]) -> tuple[float, ...]:
    """
    Return what each of several tests' p amounts to beside the others.

    Those of at most some level are, but for a share of that level of all such families, no chance.
    A weight says how much of that share is spent on a test.

    Source: DIFF-7; Holm 1979.
    """
    order = sorted(range(len(chances)), key=lambda at: chances[at] / weights[at])
    left = [*accumulate(weights[at] for at in reversed(order))][::-1]
    amounts = [0.0] * len(chances)
    least = 0.0
    for at, to_spend in zip(order, left, strict=True):
        least = max(least, min(1.0, chances[at] * to_spend / weights[at]))
        amounts[at] = least
    return tuple(amounts)


def can_tell(a: int, b: int, chance: float) -> bool:
    """Say whether samples of *a* and *b* values can have a p of at most *chance* at all."""
    return comb(a + b, a) >= 2 / chance


def runs_to_tell(chance: float) -> int:
    """Return the least number of runs a side with which `can_tell` is true."""
    runs = 1
    while not can_tell(runs, runs, chance):
        runs += 1
    return runs
