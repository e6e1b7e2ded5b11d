"""Flame graphs for speedscope.

A file has frames, named once, and profiles whose samples are lists of indices of frames, the
outermost first, each with a weight. Format: https://www.speedscope.app/file-format-schema.json,
``FileFormat.SampledProfile``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from okrun.report.export.stacks import Stack, stacks, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okrun.report.model import Report


def export(reports: Sequence[Report]) -> str:
    """
    Return the reports as one speedscope file: a profile of the time, where all calls were timed,
    and one of the calls.

    Source: EXP-3.
    """
    found = stacks(reports)
    frames = {name: at for at, name in enumerate(dict.fromkeys(_names(found)))}
    profiles = [_profile("calls", "none", [(each, each.count) for each in found], frames)]
    if timed(reports):
        times = [(each, each.total_ns) for each in found]
        profiles.insert(0, _profile("time in calls", "nanoseconds", times, frames))
    value = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "okprof",
        "name": ", ".join(dict.fromkeys(stack.frames[0] for stack in found)),
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }
    return json.dumps(value, ensure_ascii=False) + "\n"


def _names(found: Sequence[Stack]) -> list[str]:
    return [name for stack in found for name in stack.frames]


def _profile(
    name: str, unit: str, weighted: Sequence[tuple[Stack, int]], frames: dict[str, int]
) -> dict[str, object]:
    kept = [(stack, weight) for stack, weight in weighted if weight]
    return {
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weight for _, weight in kept),
        "samples": [[frames[frame] for frame in stack.frames] for stack, _ in kept],
        "weights": [weight for _, weight in kept],
    }
