"""Reports of one ``okprof record``, together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from okrun.report.model import Report


@frozen(kw_only=True)
class Run:
    """
    One run of a command: every report of it.

    Attributes:
        id: Which ``okprof record`` it was, or None for an image that was run without one.
        reports: In order of their start; at least one.
    """

    id: str | None
    reports: tuple[Report, ...]

    @property
    def started_ns(self) -> int:
        """When the first of its images began: the wall clock, in nanoseconds since 1970."""
        return self.reports[0].started_ns


def runs(reports: Iterable[Report]) -> tuple[Run, ...]:
    """
    Return *reports* by the run that they belong to, in order of start; one of none is a run itself.

    Source: RPT-4.
    """
    together: dict[tuple[str | None, str], list[Report]] = {}
    for report in sorted(reports, key=lambda report: (report.started_ns, report.id)):
        alone = report.id if report.run is None else ""
        together.setdefault((report.run, alone), []).append(report)
    return tuple(Run(id=run, reports=tuple(each)) for (run, _), each in together.items())
