"""The interfaces of the native host, as images call them."""

import json
import sys
from pathlib import Path

import pytest

sys.path += [str(place) for place in Path(__file__).parents[:2]]

from running import (  # noqa: F401 - fixtures
    aarch64_host,
    build,
    command,
    one_line,
    run,
    run_on_each,
    small_host,
)

from okld.iface.table import FUNCTIONS, interface_of


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return Path(__file__).parent / "src"


@pytest.fixture(params=["plain", "measured"])
def holds(request, run_on_each, tmp_path):  # noqa: F811 - it is a fixture
    """
    Return a check that an image of an interface's name, which looks at that interface by itself,
    finds nothing wrong; and has called each of its functions, where that is measured.
    """
    options = ["--prof=calls:out"] if request.param == "measured" else []

    def holds(name):
        done = run_on_each(name, options=options, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        called = set()
        for report in tmp_path.glob("out/okprof-*.json"):
            called |= {call["name"] for call in json.loads(report.read_text())["calls"]}
        if options:
            assert {n for n in FUNCTIONS if interface_of(n) == f"openkal.{name}"} <= called

    return holds


@pytest.fixture(params=[[], ["--prof=calls:reports"]], ids=["plain", "measured"])
def prof(request):
    """Return the options of a run that is not measured, and of one that is."""
    return request.param
