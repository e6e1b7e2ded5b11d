"""The text of reports, and its parts."""

import re

from okrun.cli.render import as_text
from okrun.report.files import Found
from okrun.report.merge import merge


def told(reports, order="time", **more):
    found = Found(reports=tuple(reports), unfinished=(), headless=(), empty=())
    return as_text(merge(found.reports), found, order, **more)


def rows(text, *heading):
    """The cells of the table that has this heading, its own cells first."""
    for table in text.split("\n\n"):
        lines = [re.split(r" {2,}", line.strip()) for line in table.splitlines()]
        if lines[0] == list(heading):
            return lines[1:]
    raise AssertionError(f"no table of {heading} in:\n{text}")


def notes(text):
    return [line.removeprefix("note: ") for line in text.splitlines() if line.startswith("note: ")]


ESTIMATES = "p50, p90 and p99 are estimates, from steps of a factor of two"
