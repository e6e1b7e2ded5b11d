"""The file that a report is written to; report_file.c does what is said."""

import subprocess

import pytest


@pytest.mark.spec("REP-4", "REP-6")
def test_the_file_of_a_report(build, tmp_path):
    """Names are unique and never taken from others; the lock tells that the run goes on."""
    subprocess.run(build("report_file.c", "report_file", "text"), check=True, cwd=tmp_path)
