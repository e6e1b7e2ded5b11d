"""Calls as stacks: image, phase, interface, function. What flame graphs and trees are drawn of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from okld.base.errors import printable
from okrun.report.merge import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from okrun.report.model import Report
    from okrun.report.summary import Row

OUTSIDE = "(outside any phase)"


@frozen(kw_only=True)
class Stack:
    """
    All calls with these frames.

    Attributes:
        frames: The image, the phase where its runs had any, the interface where the function has
            one, and the function; without characters that a terminal or a file would act on.
        count: How many calls began there.
        total_ns: The time in nanoseconds of those that returned there.
    """

    frames: tuple[str, ...]
    count: int
    total_ns: int


def stacks(reports: Sequence[Report]) -> tuple[Stack, ...]:
    """
    Return the calls of *reports* by where they were made; no two stacks have the same frames.

    Source: EXP-2.
    """
    images: dict[str, list[Report]] = {}
    for report in reports:
        images.setdefault(report.image.path, []).append(report)
    sums: dict[tuple[str, ...], tuple[int, int]] = {}
    for image, of_image in images.items():
        for phase, row in _rows(of_image):
            names = (image, phase, row.interface, row.name)
            frames = tuple(printable(name) for name in names if name is not None)
            count, total_ns = sums.get(frames, (0, 0))
            # A report that contradicts itself leaves less than nothing outside its phases.
            sums[frames] = (count + max(0, row.count), total_ns + max(0, row.total_ns or 0))
    return tuple(
        Stack(frames=frames, count=count, total_ns=total_ns)
        for frames, (count, total_ns) in sums.items()
        if count or total_ns
    )


def timed(reports: Iterable[Report]) -> bool:
    """Return whether every call was timed, so that the times of stacks are those of all."""
    return all(call.total_ns is not None for report in reports for call in report.calls)


def _rows(reports: Sequence[Report]) -> Iterator[tuple[str | None, Row]]:
    """Yield each function with the phase that it was called in, or None where there are none."""
    summary = merge(reports)
    for phase in summary.phases:
        yield from ((phase.name, row) for row in phase.functions)
    if summary.outside is None:
        yield from ((None, row) for row in summary.functions)
    else:
        yield from ((OUTSIDE, row) for row in summary.outside.functions)
