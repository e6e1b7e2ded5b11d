"""A page, and a browser to look at it."""

import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from browser import browsing
from hostile_text import HOSTILE
from reporting import (  # noqa: F401 - a fixture
    GOOD,
    HEAP,
    call,
    call_in_phase,
    make_report,
    report_object,
)

from okrun.report.export import exporter


@pytest.fixture
def hostile(make_report):  # noqa: F811
    """A report all of whose text is hostile, but for what SPEC 12.4 lists."""
    good = report_object()
    for stats in good["calls"]:
        stats.update(name=HOSTILE + stats["name"], interface=HOSTILE)
    for total in good["phase_totals"]:
        total.update(name=HOSTILE + total["name"], counters=[{"name": HOSTILE, "value": 1}])
        for stats in total["calls"]:
            stats["name"] = HOSTILE + stats["name"]
    for phase in good["phases"]:
        phase["name"] = HOSTILE + phase["name"]
    return make_report(
        **{key: good[key] for key in ("calls", "phases", "phase_totals")},
        image={"path": HOSTILE, "build_id": HOSTILE, "arch": HOSTILE},
        argv=[HOSTILE, HOSTILE],
        what=["calls", HOSTILE],
        clock={"source": HOSTILE, "overhead_ns": 1.0},
        counters=[{"name": HOSTILE, "value": 1}],
        lost=[HOSTILE],
        heap={**HEAP, "file": HOSTILE},
    )


@pytest.fixture
def big(make_report):  # noqa: F811
    """A report of the whole surface, 10,000 counters and 100,000 phases of 30 names."""
    calls = [call(f"kal_function_{at}", "openkal.fs", *range(at, at + 9)) for at in range(155)]
    phases = [
        {"name": f"phase {at % 30}", "start_ns": 100 * at, "elapsed_ns": 100}
        for at in range(100_000)
    ]
    totals = [
        {"name": f"phase {at}", "count": 3333, "elapsed_ns": 333_300, "counters": [],
         "calls": [call_in_phase("kal_function_9", 9)]}
        for at in range(30)
    ]  # fmt: skip
    return make_report(
        elapsed_ns=10_000_000,
        calls=calls,
        counters=[{"name": f"counter {at:04}", "value": at * 7 % 10_000} for at in range(10_000)],
        phases=phases,
        phases_left_out=17,
        phase_totals=totals,
    )


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def page(tmp_path):
    """Return a function that writes reports as a page and returns the file's path."""

    def page(*reports):
        path = tmp_path / "page.html"
        path.write_text(exporter("html")(reports), encoding="utf-8")
        return path

    return page
