"""Times as measured runs have them, of programs whose true times are known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random


def noisy(rng: Random, means: Mapping[str, float], spread: float, often: float) -> dict[str, float]:
    """
    Return what functions take in one run on a machine that does other things as well.

    Lognormal, half of the variance common to all functions of a run; and as often as *often* says
    the whole run, and by itself each function, is held up, by a third of its time on average.
    """
    share = spread / math.sqrt(2)
    common = rng.gauss(0, share) + _held_up(rng, often)
    return {
        name: ns * math.exp(common + rng.gauss(0, share) + _held_up(rng, often))
        for name, ns in means.items()
    }


def _held_up(rng: Random, often: float) -> float:
    return rng.expovariate(3) if rng.random() < often else 0.0
