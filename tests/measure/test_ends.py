"""Ends of measured images that have next to nothing left of their stack."""

import signal

import pytest


@pytest.mark.spec("PROF-4", "REP-2")
@pytest.mark.parametrize(
    ("way", "left", "status", "reports"),
    [("exit", 1024, 9, 1), ("abort", 1536, -signal.SIGABRT, 1), ("copy", 2560, 9, 2)],
)
def test_little_stack_is_enough(run, reports_in, map_of, tmp_path, way, left, status, reports):
    """What suffices for a call that measures nothing suffices for one that writes a report."""
    plain = run("brink", way, str(left))
    options = ["--prof=calls,counters,heap,perfmap:out"]
    measured = run("brink", way, str(left), options=options, cwd=tmp_path)
    found = reports_in(tmp_path / "out")
    for report in found:
        map_of(report["pid"])
    assert plain.returncode == measured.returncode == status
    assert len(found) == reports
    assert all((tmp_path / "out" / report["heap"]["file"]).exists() for report in found)
