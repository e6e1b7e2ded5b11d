"""From two sides to what has changed: times by their ranks, counts exactly."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from attrs import evolve

from okrun.report.comparable import notes
from okrun.report.difference import BOTH, GONE, NEW, CountRow, Diff, TimeRow
from okrun.report.family import EACH, TOTAL, Family

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from okrun.report.difference import Change
    from okrun.report.side import Key, Side

Values = tuple["Sequence[int]", "Sequence[int]"]
"""Of the runs of A, and of those of B."""


def diff(a: Side, b: Side) -> Diff:
    """
    Compare two sides.

    Source: DIFF-3, DIFF-4, DIFF-10.
    """
    family = Family(abs(b.overhead_ns - a.overhead_ns))
    rows = [_time_row(a, b, key, family) for key in _keys(a, b, "times")]
    changes = family.changes()
    times = [_changed(row, changes) for row in rows]
    needs = [change.needs for change in changes.values()]
    return Diff(
        a=a,
        b=b,
        notes=notes(a, b),
        times=tuple(sorted(times, key=lambda row: -abs(row.moved_ns))),
        counts=tuple(_count_row(a, b, key) for key in _keys(a, b, "counts")),
        tested=len(changes),
        needs=min((each for each in needs if each), default=None) if all(needs) else None,
    )


def _keys(a: Side, b: Side, of: str) -> Iterator[Key]:
    """Yield the keys of what was measured on both sides and is not nothing on both, A's first."""
    unknown, lost = a.unknown | b.unknown, {*a.lost, *b.lost}
    for kind, name in dict.fromkeys([*getattr(a, of), *getattr(b, of)]):
        known = (of, kind) not in unknown and not (kind == "counter" and name in lost)
        if known and (of == "counts" or any(map(any, _values(a, b, of, (kind, name))))):
            yield kind, name


def _values(a: Side, b: Side, of: str, key: Key) -> Values:
    """Return a value for each run: 0 where it has none."""
    return (
        getattr(a, of).get(key, [0] * len(a.runs)),
        getattr(b, of).get(key, [0] * len(b.runs)),
    )


def _presence(a: Side, b: Side, key: Key) -> str:
    has_a, has_b = key in a.counts, key in b.counts
    if has_a == has_b:
        return BOTH
    return GONE if has_a else NEW


def _time_row(a: Side, b: Side, key: Key, family: Family) -> TimeRow:
    """Return a row, and give what stands to be tested of it to *family*."""
    times, calls = _values(a, b, "times", key), _values(a, b, "returned", key)
    presence = _presence(a, b, key)
    is_call = key[0] == "call"
    each_a, each_b = (_each(*pair) if is_call else [] for pair in zip(times, calls, strict=True))
    if presence == BOTH:
        weight = median([*times[0], *times[1]])
        most = max(median(calls[0]), median(calls[1]))
        family.add(key, TOTAL, *times, weight=weight, calls=most)
        if each_a and each_b and len({*calls[0], *calls[1]}) > 1:
            family.add(key, EACH, each_a, each_b, weight=weight, calls=1)
    return TimeRow(
        kind=key[0],
        name=key[1],
        interface=_interface(a, b, key),
        presence=presence,
        a_ns=median(times[0]),
        b_ns=median(times[1]),
        total=None,
        a_each_ns=median(each_a) if each_a else None,
        b_each_ns=median(each_b) if each_b else None,
        each=None,
    )


def _each(times: Sequence[int], calls: Sequence[int]) -> list[float]:
    """Return the time of a call, on average, for each run in which any returned."""
    return [ns / count for ns, count in zip(times, calls, strict=True) if count]


def _interface(a: Side, b: Side, key: Key) -> str | None:
    kind, name = key
    return b.interfaces.get(name, a.interfaces.get(name)) if kind == "call" else None


def _changed(row: TimeRow, changes: Mapping[tuple[Key, str], Change]) -> TimeRow:
    """Return a row with its changes; every run has as many calls where those of EACH lack."""
    key = row.kind, row.name
    total = changes.get((key, TOTAL))
    comparable = row.a_each_ns is not None and row.b_each_ns is not None
    each = changes.get((key, EACH), total) if comparable else None
    return evolve(row, total=total, each=each)


def _count_row(a: Side, b: Side, key: Key) -> CountRow:
    counts_a, counts_b = _values(a, b, "counts", key)
    return CountRow(
        kind=key[0],
        name=key[1],
        interface=_interface(a, b, key),
        presence=_presence(a, b, key),
        a=(min(counts_a), max(counts_a)),
        b=(min(counts_b), max(counts_b)),
    )
