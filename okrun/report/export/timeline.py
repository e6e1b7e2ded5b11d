"""The phases of each report as a lane of the page, all lanes on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from okrun.report.export.elements import put
from okrun.report.figures import count, duration, many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from okrun.report.model import Phase, Report

FINEST = 600
"""Into how many parts a lane is divided at most: what is shorter is drawn together."""

LANES = 24
COLOURS = 7
"""How many names have a colour of their own, of the stylesheet's k0 to k6; k7 is for the others."""


@frozen(kw_only=True)
class Segment:
    """
    Phases that are drawn as one.

    Attributes:
        name: Theirs, or that of the most time where they have several.
        count: How many they are.
        mixed: Whether they have several names.
        start_ns: From the run's start.
        end_ns: Likewise.
    """

    name: str
    count: int
    mixed: bool
    start_ns: int
    end_ns: int


def segments(phases: Sequence[Phase], finest_ns: float) -> Iterator[Segment]:
    """Yield *phases*, neighbours together until they span *finest_ns* nanoseconds."""
    group: list[Phase] = []
    for phase in phases:
        if group and phase.start_ns + phase.elapsed_ns - group[0].start_ns > finest_ns:
            yield _segment(group)
            group = []
        group.append(phase)
    if group:
        yield _segment(group)


def _segment(group: Sequence[Phase]) -> Segment:
    times: dict[str, int] = {}
    for phase in group:
        times[phase.name] = times.get(phase.name, 0) + phase.elapsed_ns
    return Segment(
        name=max(times, key=lambda name: times[name]),
        count=len(group),
        mixed=len(times) > 1,
        start_ns=group[0].start_ns,
        end_ns=group[-1].start_ns + group[-1].elapsed_ns,
    )


def draw(parent: Element, reports: Sequence[Report], colours: dict[str, str]) -> None:
    """
    Append a lane for each of *reports* that has phases, as far as `LANES`, and the scale.

    Source: EXP-9.
    """
    numbered = [(at, report) for at, report in enumerate(reports, 1) if report.phases]
    shown = numbered[:LANES]
    longest = max([1, *(_end(report) for _, report in shown)])
    for at, report in shown:
        if len(reports) > 1:
            put(parent, "p", f"report {at}: {report.image.path}", class_="lane")
        _lane(parent, at, report, longest, colours)
    _scale(parent, longest)
    if len(numbered) > LANES:
        put(
            parent, "p", f"{many(len(numbered) - LANES, 'more report')} with phases.", class_="note"
        )
    left_out = sum(report.phases_left_out for report in reports)
    if left_out:
        put(parent, "p", f"{many(left_out, 'later phase')} not drawn.", class_="note")


def _end(report: Report) -> int:
    last = report.phases[-1]
    return max(report.elapsed_ns, last.start_ns + last.elapsed_ns)


def _lane(parent: Element, at: int, report: Report, longest: int, colours: dict[str, str]) -> None:
    lane = put(parent, "svg", class_="lane", role="group", aria_label=f"phases of report {at}")
    put(lane, "rect", class_="run", width=_percent(_end(report), longest), height="100%")
    for segment in segments(report.phases, longest / FINEST):
        drawn = put(
            lane,
            "rect",
            class_=colours.get(segment.name, f"k{COLOURS}"),
            role="img",
            x=_percent(segment.start_ns, longest),
            width=_percent(max(segment.end_ns - segment.start_ns, longest // FINEST), longest),
            height="100%",
        )
        put(drawn, "title", _said(segment, report))


def _said(segment: Segment, report: Report) -> str:
    long = segment.end_ns - segment.start_ns
    share = f", {100 * long / report.elapsed_ns:.1f} % of the run" if report.elapsed_ns else ""
    when = f"{duration(long)} from {duration(segment.start_ns)}{share}"
    if segment.count == 1:
        return f"{segment.name}: {when}"
    mostly = f", most of the time {segment.name}" if segment.mixed else f" {segment.name}"
    return f"{count(segment.count)} phases{mostly}: {when}"


def _scale(parent: Element, longest: int) -> None:
    scale = put(parent, "svg", class_="scale", aria_hidden="true")
    for at in range(0, longest, _step(longest)):
        put(scale, "line", x1=_percent(at, longest), x2=_percent(at, longest), y2="4")
        if at < 0.9 * longest:  # the last may have no room for its name
            put(scale, "text", duration(at) if at else "0", x=_percent(at, longest), y="17")


def _step(longest: int) -> int:
    """Return the distance of marks, 1, 2 or 5 times a power of ten, so that there are few."""
    step = 1
    while longest > 5 * step:
        step *= 10
    return next(part for part in (step // 5, step // 2, step) if part and longest <= 5 * part)


def _percent(ns: int, longest: int) -> str:
    return f"{100 * ns / longest:.3f}%"
