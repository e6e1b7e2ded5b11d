"""Reports in the formats of other tools, and as a page. Each format is a module of its name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okrun.report.model import Report

FORMATS = ("speedscope", "trace", "folded", "dhat", "html")


def exporter(name: str) -> Callable[[Sequence[Report]], str]:
    """Return the function that writes reports in the format *name*, one of `FORMATS`."""
    export: Callable[[Sequence[Report]], str] = __import__(
        f"{__name__}.{name}", fromlist=["export"]
    ).export
    return export
