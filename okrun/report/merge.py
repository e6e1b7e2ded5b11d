"""Several reports, added up: by interface, by function, by counter and by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from okrun.report.model import Call, Report

T = TypeVar("T")


@frozen(kw_only=True)
class Row:
    """
    Calls that belong together: those of one interface, or of one function.

    Attributes:
        name: Of the function, or of the interface; None for the functions that belong to none.
        interface: The function's interface, or None.
        count: How many calls.
        total_ns: Their time in nanoseconds, or None where any of them was counted only.
        max_ns: The time of the longest, likewise.
        share: Of all calls, from 0 to 1: of the time where all were timed, else of the count.
    """

    name: str | None
    interface: str | None
    count: int
    total_ns: int | None
    max_ns: int | None
    share: float

    @property
    def mean_ns(self) -> float | None:
        """The time of one call on average, in nanoseconds, or None."""
        if self.total_ns is None or not self.count:
            return None
        return self.total_ns / self.count


@frozen(kw_only=True)
class PhaseRow:
    """
    The phases of one name.

    Attributes:
        name: The phases' name.
        count: How many there were.
        elapsed_ns: Their lengths in nanoseconds, added up.
    """

    name: str
    count: int
    elapsed_ns: int


@frozen(kw_only=True)
class Summary:
    """
    What several reports say together.

    Attributes:
        reports: How many they are.
        images: (path, arch) of the images that ran, each once, in order of first appearance.
        clocks: (source, nanoseconds that measuring adds to a call), likewise.
        ends: How many runs ended by each of ``return``, ``exit``, ``abort`` and ``signal``, the
            last with its number.
        elapsed_ns: The time of all runs, in nanoseconds.
        timed: Whether every call was timed, and shares are of time.
        interfaces: One row for each interface, greatest share first.
        functions: One row for each function, likewise.
        counters: (name, value) with the values added up, in order of first registration.
        phases: One row for each name, in order of first appearance.
        lost: The names of counters that could not be read whole in some run.
    """

    reports: int
    images: tuple[tuple[str, str], ...]
    clocks: tuple[tuple[str, float], ...]
    ends: tuple[tuple[str, int], ...]
    elapsed_ns: int
    timed: bool
    interfaces: tuple[Row, ...]
    functions: tuple[Row, ...]
    counters: tuple[tuple[str, int], ...]
    phases: tuple[PhaseRow, ...]
    lost: tuple[str, ...]


def merge(reports: Sequence[Report]) -> Summary:
    """
    Add up reports.

    Source: REP-3.
    """
    calls = [call for report in reports for call in report.calls]
    timed = all(call.total_ns is not None for call in calls)
    counters: dict[str, int] = {}
    for counter in (each for report in reports for each in report.counters):
        counters[counter.name] = counters.get(counter.name, 0) + counter.value
    return Summary(
        reports=len(reports),
        images=_each_once((report.image.path, report.image.arch) for report in reports),
        clocks=_each_once((report.clock.source, report.clock.overhead_ns) for report in reports),
        ends=_ends(reports),
        elapsed_ns=sum(report.elapsed_ns for report in reports),
        timed=timed,
        interfaces=_rows(calls, timed, lambda call: (call.interface, call.interface)),
        functions=_rows(calls, timed, lambda call: (call.name, call.interface)),
        counters=tuple(counters.items()),
        phases=_phases(reports),
        lost=_each_once(name for report in reports for name in report.lost),
    )


def _each_once(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _ends(reports: Sequence[Report]) -> tuple[tuple[str, int], ...]:
    ends: dict[str, int] = {}
    for ended in (report.ended for report in reports):
        by = ended.by if ended.signal is None else f"{ended.by} {ended.signal}"
        ends[by] = ends.get(by, 0) + 1
    return tuple(ends.items())


def _rows(
    calls: Sequence[Call], timed: bool, key: Callable[[Call], tuple[str | None, str | None]]
) -> tuple[Row, ...]:
    groups: dict[tuple[str | None, str | None], list[Call]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    whole = sum(_weight(call, timed) for call in calls)
    rows = [
        Row(
            name=name,
            interface=interface,
            count=sum(call.count for call in group),
            total_ns=_if_all(sum, [call.total_ns for call in group]),
            max_ns=_if_all(max, [call.max_ns for call in group]),
            share=sum(_weight(call, timed) for call in group) / whole if whole else 0.0,
        )
        for (name, interface), group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: -row.share))


def _weight(call: Call, timed: bool) -> int:
    return call.total_ns or 0 if timed else call.count


def _if_all(combine: Callable[[list[int]], int], values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return combine(known) if len(known) == len(values) else None


def _phases(reports: Sequence[Report]) -> tuple[PhaseRow, ...]:
    lengths: dict[str, list[int]] = {}
    for phase in (each for report in reports for each in report.phases):
        lengths.setdefault(phase.name, []).append(phase.elapsed_ns)
    return tuple(
        PhaseRow(name=name, count=len(each), elapsed_ns=sum(each)) for name, each in lengths.items()
    )
