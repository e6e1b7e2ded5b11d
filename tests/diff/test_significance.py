"""Chances, estimates and intervals are those of the published tables, or of counting every case."""

import itertools
import math
import statistics
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okrun.report.significance import (
    _chances,
    can_tell,
    runs_to_tell,
    score_chances,
    shift,
    together,
)

CRITICAL = {
    4: [0],
    5: [1, 2],
    6: [2, 3, 5],
    7: [3, 5, 6, 8],
    8: [4, 6, 8, 10, 13],
    9: [4, 7, 10, 12, 15, 17],
    10: [5, 8, 11, 14, 17, 20, 23],
    15: [10, 14, 19, 24, 29, 34, 39, 44, 49, 54, 59, 64],
    20: [None, 20, 27, 34, 41, 48, 55, 62, 69, 76, 83, 90, 98, 105, 112, 119, 127],
}
"""
The greatest U of Mann and Whitney that is significant at 0.05, two-tailed, of n and 4, 5 and so on.

As statistical tables print it, http://numeracy-bank.net/?q=t/stt/mwu/3 for one; of 20 and 4 they
do not print the same.
"""

CASES = [(a, b, u) for a, row in CRITICAL.items() for b, u in enumerate(row, 4) if u is not None]


@pytest.mark.spec("DIFF-5")
@pytest.mark.parametrize(("a", "b", "u"), CASES)
def test_chances_are_those_of_the_published_table(a, b, u):
    """
    With all but the last run ranked the test is Mann and Whitney's: the critical U is significant,
    and one more is not.
    """
    at_most, at_least = score_chances(a, b, a + b - 1)
    slowest, fastest = a * (a - 1) // 2, a * (a - 1) // 2 + a * b
    assert 2 * at_most[slowest + u] <= 0.05 < 2 * at_most[slowest + u + 1]
    assert 2 * at_least[fastest - u] <= 0.05 < 2 * at_least[fastest - u - 1]


def p_of_every_case(a, b):
    """Return the p of two samples without equal values, from all ways to share them out."""
    ranked, values = max(len(a), len(b)), sorted([*a, *b])
    counts = {value: max(0, ranked - at) for at, value in enumerate(values)}
    score = sum(counts[value] for value in a)
    scores = [sum(map(counts.get, some)) for some in itertools.combinations(values, len(a))]
    at_least = sum(each >= score for each in scores) / len(scores)
    at_most = sum(each <= score for each in scores) / len(scores)
    return min(1.0, 2 * min(at_least, at_most))


PLACES = st.integers(1, 6).flatmap(
    lambda a: st.integers(1, 6).flatmap(
        lambda b: st.permutations(range(1, a + b + 1)).map(lambda all_: (all_[:a], all_[a:]))
    )
)


@pytest.mark.spec("DIFF-5")
@given(PLACES)
def test_p_is_that_of_counting_every_case(sides):
    """The faster half is ranked, the slower half counts nothing: no formula, every case in turn."""
    assert shift(*sides).p == pytest.approx(p_of_every_case(*sides), abs=1e-12)


@pytest.mark.spec("DIFF-5")
@settings(max_examples=50)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
)
def test_equal_values_speak_for_no_difference(a, b):
    """However equal values of both sides are told apart, that p is no greater."""
    ways = []
    for order in itertools.permutations(range(len(a) + len(b))):
        apart = [value + at / 1000 for value, at in zip([*a, *b], order, strict=True)]
        ways.append(p_of_every_case(apart[: len(a)], apart[len(a) :]))
    assert shift(a, b).p >= max(ways) - 1e-12


@pytest.mark.spec("DIFF-5")
def test_runs_of_one_side_that_are_all_alike():
    """Four of 78.8 against four around 115 differ as far as four and four can: 2 in 70."""
    changed = shift([115, 114, 115, 115], [78.8] * 4)
    assert changed.p == pytest.approx(2 / 70)
    assert changed.ratio == pytest.approx(78.8 / 115)
    assert changed.high < 1


@pytest.mark.spec("DIFF-5")
def test_runs_that_were_held_up_do_not_hide_a_change():
    """Ten and ten, one of A ten times slower: the nine fastest of all are A's, 22 in C(20, 10)."""
    a = [100 + at for at in range(9)] + [1000]
    changed = shift(a, [110 + at for at in range(10)])
    assert changed.p <= 22 / math.comb(20, 10)
    assert 1.05 < changed.low <= changed.ratio <= changed.high < 1.15


VALUES = st.lists(st.floats(1, 2).map(lambda value: round(value, 2)), min_size=4, max_size=9)


@pytest.mark.spec("DIFF-5")
@given(VALUES, VALUES, st.sampled_from([0.5, 1.0, 1.1, 3.0]))
def test_estimate_interval_and_p_are_of_one_test(a, b, factor):
    """The estimate lies in the interval, which has 1 in it where p is above 0.05 and only there."""
    changed = shift(a, [factor * value for value in b])
    assert changed.low <= changed.ratio <= changed.high
    assert (changed.low <= 1 <= changed.high) == (changed.p > 0.05)


@pytest.mark.spec("DIFF-5")
@given(VALUES, VALUES)
def test_sides_exchanged(a, b):
    """From B to A everything is turned round."""
    there, back = shift(a, b), shift(b, a)
    assert there.p == back.p
    assert there.low == pytest.approx(1 / back.high)
    assert there.high == pytest.approx(1 / back.low)
    if len(a) == len(b):
        assert there.ratio == pytest.approx(1 / back.ratio)


@pytest.mark.spec("DIFF-5")
@given(VALUES, st.floats(0.1, 10))
def test_a_factor_is_found(a, factor):
    """All values times a factor: that factor, inside the interval."""
    changed = shift(a, [factor * value for value in a])
    assert changed.low <= factor * (1 + 1e-9)
    assert changed.high >= factor * (1 - 1e-9)
    assert changed.ratio == pytest.approx(factor, rel=statistics.stdev(a) + 1e-9)


@pytest.mark.spec("DIFF-5")
def test_interval_holds_what_it_promises(rng):
    """Of 2,000 intervals at most 1 in 20 misses the true ratio, but for chance (3 deviations)."""
    missed = 0
    for _ in range(2000):
        a, b = ([rng.lognormvariate(0, 0.1) for _ in range(8)] for _ in range(2))
        changed = shift(a, [1.1 * value for value in b])
        missed += not changed.low <= 1.1 <= changed.high
    assert missed / 2000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.spec("DIFF-5")
def test_from_and_to_nothing():
    """The ratio is then that of the middle values; nothing and nothing are alike."""
    assert shift([0] * 5, [3] * 5).ratio == math.inf
    assert shift([3] * 5, [0] * 5).ratio == 0
    assert (shift([0] * 5, [0] * 5).ratio, shift([0] * 5, [0] * 5).p) == (1, 1)
    some = shift([0, 2, 2, 2, 2], [3] * 5)
    assert (some.ratio, some.low, some.high) == (1.5, None, None)
    assert some.p == shift([1, 2, 2, 2, 2], [3] * 5).p == pytest.approx(2 / 252)


@pytest.mark.spec("DIFF-5")
def test_many_runs(rng):
    """With more runs than are counted out, chances are nearly those that counting gives."""
    a, b = ([rng.lognormvariate(0, 0.1) for _ in range(201)] for _ in range(2))
    at_most, at_least = score_chances(201, 201, 201)
    for slower in (1.0, 1.01, 1.02, 1.03):
        moved = [slower * value for value in b]
        ranked = sorted([*a, *moved])[:201]
        score = sum(201 - at for at, value in enumerate(ranked) if value in a)
        exact = 2 * min(at_most[score], at_least[score], 0.5)
        assert shift(a, moved).p == pytest.approx(exact, rel=0.2)


@pytest.mark.spec("DIFF-5")
@pytest.mark.parametrize("spread", [0, 0.1])
def test_estimate_and_interval_of_many_runs_are_those_of_all_pairs(rng, monkeypatch, spread):
    """Of more runs than are counted out no pair is kept, and the answer is the same."""
    a, b = ([rng.lognormvariate(0, spread) for _ in range(150)] for _ in range(2))
    moved = [1.03 * value for value in b]
    of_pairs = shift(a, moved)
    counted = _chances(150, 150, 150)
    monkeypatch.setattr("okrun.report.significance.EXACT", 299)
    monkeypatch.setattr("okrun.report.significance._chances", lambda *_: counted)
    searched = shift(a, moved)
    assert searched.p == of_pairs.p
    for name in ("ratio", "low", "high"):
        assert getattr(searched, name) == pytest.approx(getattr(of_pairs, name), rel=1e-9)


@pytest.mark.spec("DIFF-5")
def test_memory_of_many_runs(rng):
    """Of 3,000 runs a side there are 9 million pairs; what is kept is of the runs."""
    a = [rng.lognormvariate(0, 0.1) for _ in range(3000)]
    tracemalloc.start()
    shift(a, [1.01 * value for value in a])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1000 * len(a)


@pytest.mark.spec("DIFF-6")
def test_how_many_runs_it_takes():
    """Three and three have no critical U at 0.05, four and four have: 2 in 20, and 2 in 70."""
    assert not can_tell(3, 3, 0.05)
    assert can_tell(4, 4, 0.05)
    assert can_tell(3, 5, 0.05)
    assert runs_to_tell(0.05) == 4
    assert can_tell(10_000, 10_000, 1e-300)  # of more ways than a float can count
    assert shift([1, 2, 3], [4, 5, 6]).low is None
    assert shift([1, 2, 3, 4], [5, 6, 7, 8]).low is not None


@pytest.mark.spec("DIFF-7")
def test_holm():
    """The example of Holm's method in Wikipedia's article of that name, all weights alike."""
    adjusted = together([0.01, 0.04, 0.03, 0.005], [1, 1, 1, 1])
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.spec("DIFF-7")
def test_holm_with_weights():
    """
    By hand: 0.02 with 3 of 4 shares stands for 0.02 * 4 / 3, is the first, and leaves 1 share to
    the other.
    """
    assert together([0.0101, 0.02], [1, 3]) == pytest.approx([0.02 * 4 / 3, 0.02 * 4 / 3])
    assert together([0.03, 0.02], [1, 3]) == pytest.approx([0.03, 0.02 * 4 / 3])
    assert together([], []) == ()
