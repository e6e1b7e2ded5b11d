"""What may stand in the way of comparing two sides."""

from __future__ import annotations

import os
from collections import Counter as Tally
from typing import TYPE_CHECKING, TypeVar

from okrun.report.significance import shift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from okrun.report.model import Report
    from okrun.report.side import Side

T = TypeVar("T")

ANOTHER_STATE = 1.5
"""The ratio of what measuring costs from which on the machine is not the same, or not as it was."""

LONGEST = 120
"""In characters, of what is named; a program may have thousands of arguments."""

ORDERED = 0.01
"""How often runs that are started in no order may look as if those of one side came first."""


def notes(a: Side, b: Side) -> tuple[str, ...]:
    """
    Return what may stand in the way of comparing two sides, a sentence each.

    Source: DIFF-9.
    """
    return (
        *_incomplete("A", a),
        *_incomplete("B", b),
        *_same(a, b),
        *_other(a, b, "image", lambda report: os.path.basename(report.image.path)),
        *_other(a, b, "processor", lambda report: report.image.arch),
        *_other(a, b, "measured", lambda report: ",".join(report.what)),
        *_other(a, b, "clock", lambda report: report.clock.source),
        *_other(a, b, "arguments", lambda report: " ".join(report.argv[1:]) or "(none)"),
        *_other(a, b, "ended", _end),
        *_other_state(a, b),
        *_in_order(a, b),
    )


def _incomplete(name: str, side: Side) -> Iterator[str]:
    if side.left_out:
        yield f"left out of {name}: {side.left_out} begun and not ended, or not with all reports"
    builds: dict[str, set[str | None]] = {}
    for image in side.images:
        builds.setdefault(os.path.basename(image.path), set()).add(image.build_id)
    for image_name, ids in builds.items():
        if len(ids) > 1:
            yield f"{name} has runs of {len(ids)} builds of {image_name}"
    for counter in side.lost:
        yield f"counter not read whole in {name}, and not compared: {counter}"


def _same(a: Side, b: Side) -> Iterator[str]:
    shared = {report.id for report in a.reports} & {report.id for report in b.reports}
    if shared:
        yield f"the same reports are on both sides: {len(shared)}"
    elif _builds(a) == _builds(b) and None not in _builds(a):
        yield "both sides ran the same build"


def _builds(side: Side) -> set[str | None]:
    return {image.build_id for image in side.images}


def _other(a: Side, b: Side, what: str, of: Callable[[Report], str]) -> Iterator[str]:
    """Say so where the sides' reports do not have the same."""
    on_a, on_b = (Tally(map(of, side.reports)) for side in (a, b))
    if set(on_a) != set(on_b):
        yield f"not the same {what}: A {_listed(on_a)}; B {_listed(on_b)}"


def _listed(tally: Iterable[str]) -> str:
    names = [_shortened(each) for each in tally]
    more = f" and {len(names) - 3} more" if names[3:] else ""
    return ", ".join(names[:3]) + more


def _shortened(text: str) -> str:
    """Return *text* as far as a line has room for it; the reports have all of it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 40]}...{text[-37:]}"


def _end(report: Report) -> str:
    ended = report.ended
    return f"{ended.by} {ended.status if ended.signal is None else ended.signal}"


def _other_state(a: Side, b: Side) -> Iterator[str]:
    if _measured(a) != _measured(b):  # which is said, and costs what it costs
        return
    cost_a, cost_b = a.overhead_ns, b.overhead_ns
    if max(cost_a, cost_b) > ANOTHER_STATE * min(cost_a, cost_b):
        yield (
            f"measuring a call costs {cost_a:.1f} ns in A and {cost_b:.1f} ns in B: "
            "another machine, or not in the same state"
        )


def _measured(side: Side) -> set[tuple[bool, bool, str]]:
    """Return how calls were measured, on which the cost of a call depends on any machine."""
    return {
        ("calls" in report.what, "count" in report.what, report.clock.source)
        for report in side.reports
    }


def _in_order(a: Side, b: Side) -> Iterator[str]:
    first = min(a.runs[0].started_ns, b.runs[0].started_ns)
    starts_a, starts_b = ([run.started_ns - first for run in side.runs] for side in (a, b))
    order = shift(starts_a, starts_b)
    if order.p <= ORDERED:
        before, after = ("A", "B") if order.ratio > 1 else ("B", "A")
        yield (
            f"the runs of {before} came before those of {after}: whatever changed on the machine "
            "meanwhile looks like a change of the program; alternate them"
        )
