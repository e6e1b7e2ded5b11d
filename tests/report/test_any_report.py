"""Reports with parts that no host writes."""

import copy
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting import HEAP, report_object

from okld.base.errors import FormatError
from okrun.cli.render import as_text
from okrun.cli.report_json import as_json
from okrun.report.codec import decode
from okrun.report.files import Found
from okrun.report.merge import merge
from okrun.report.order import ORDERS


def leaves(value, path=()):
    """Yield the place of everything in a report."""
    yield path
    if not isinstance(value, dict | list):
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(each, (*path, key))


GOOD = report_object(id="1", heap=HEAP)
PLACES = [path for path in leaves(GOOD) if path]
VALUES = st.sampled_from([0, 1, 7, 2**63, 2**64 - 1, 0.0, 1e18, None, "", "\x1b[2J", [], [1], {}])


@pytest.mark.spec("ERR-1", "RPT-10", "RPT-11")
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_whatever_is_read_can_be_told(edits):
    """Any edit of a report is refused, or is told as text and as JSON."""
    report = copy.deepcopy(GOOD)
    with suppress(LookupError, TypeError):
        for (*path, last), value in edits:
            place = report
            for key in path:
                place = place[key]
            place[last] = copy.deepcopy(value)
    with suppress(FormatError):
        summary = merge([decode(json.dumps(report).encode())])
        found = Found(reports=(), unfinished=(), headless=(), empty=())
        for order in ORDERS:
            assert as_text(summary, found, order, width=60).isascii()
            assert json.loads(as_json(summary, found, order))
