"""Histograms by powers of two: sums, and what can be said of single calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okrun.report.histogram import added, less, percentile

HISTOGRAMS = st.lists(st.integers(0, 2**64), max_size=64).map(tuple)
TIMES = st.lists(st.integers(0, 2**40), min_size=1, max_size=200)


def entry(ns):
    """The entry that counts a call: SPEC 12.4."""
    return max(ns, 1).bit_length() - 1


def histogram(times):
    counts = [0] * (entry(max(times)) + 1)
    for ns in times:
        counts[entry(ns)] += 1
    return tuple(counts)


def padded(counts):
    return counts + (0,) * (64 - len(counts))


@pytest.mark.spec("RPT-5")
@given(HISTOGRAMS, HISTOGRAMS, HISTOGRAMS)
def test_sums_do_not_depend_on_the_order(a, b, c):
    """Histograms add up entry by entry, in any order and grouping, and none changes nothing."""
    assert padded(added([a, b, c])) == tuple(
        map(sum, zip(padded(a), padded(b), padded(c), strict=True))
    )
    assert added([a, b]) == added([b, a])
    assert added([added([a, b]), c]) == added([a, added([b, c])])
    assert added([a, ()]) == a
    assert padded(less(added([a, b]), b)) == padded(a)


@pytest.mark.spec("RPT-6")
@given(TIMES, st.sampled_from([1, 50, 90, 99, 100]))
def test_percentile_is_in_the_step_of_the_true_one(times, percent):
    """
    The estimate lies between the edges of the step in which the call of that rank is, and is never
    longer than the longest.
    """
    times.sort()
    true = times[-(-len(times) * percent // 100) - 1]
    got = percentile(histogram(times), times[-1], percent)
    low = 1 << entry(true) if entry(true) else 0
    assert low <= got <= 2 << entry(true)
    assert got <= times[-1]


@pytest.mark.spec("RPT-6")
@given(TIMES)
def test_percentiles_ascend(times):
    """A higher percentile is not shorter, and the hundredth is the longest call."""
    values = [percentile(histogram(times), max(times), percent) for percent in range(1, 101)]
    assert values == sorted(values)
    assert values[-1] == max(times)


@pytest.mark.spec("RPT-6")
def test_percentile_is_interpolated():
    """
    Of 100 calls, ten in the step from 64 to 128 ns and 90 in that from 1,024 to 2,048 ns of which
    the longest took 1,924 ns, the fiftieth is 40 of 90 parts into the second step.
    """
    counts = (0,) * 6 + (10, 0, 0, 0, 90)
    assert percentile(counts, 1924, 10) == 128
    assert percentile(counts, 1924, 50) == 1024 + 900 * 40 // 90
    assert percentile(counts, 1924, 99) == 1024 + 900 * 89 // 90


@pytest.mark.spec("RPT-6")
def test_no_call_has_no_percentile():
    """Where nothing returned there is no time."""
    assert percentile((), 0, 50) is None
    assert percentile((0, 0), 7, 50) is None


@pytest.mark.spec("RPT-6")
def test_steps_above_the_longest_count_no_further():
    """A longest call that lies below its step, by the clock's last settling, is still the limit."""
    assert percentile((0, 0, 0, 0, 1), 15, 50) == 15
