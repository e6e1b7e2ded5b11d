"""Reports of one run, together."""

import pytest

from okrun.report.runs import runs


@pytest.mark.spec("RPT-4")
def test_reports_of_one_record_are_one_run(make_report):
    """
    Reports with one `run` belong together, one without is a run by itself; runs, and the reports of
    one, are in order of their start.
    """
    reports = [
        make_report(run="r", started_ns=30),
        make_report(started_ns=20),
        make_report(run="r", started_ns=10),
        make_report(started_ns=25),
        make_report(run="s", started_ns=5),
    ]
    got = [
        (run.id, run.started_ns, [each.started_ns for each in run.reports]) for run in runs(reports)
    ]
    assert got == [("s", 5, [5]), ("r", 10, [10, 30]), (None, 20, [20]), (None, 25, [25])]
    assert runs(reversed(reports)) == runs(reports)


@pytest.mark.spec("RPT-4")
def test_no_reports():
    """Of no report there is no run."""
    assert runs([]) == ()
