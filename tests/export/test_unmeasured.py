"""The page of reports that say nothing of calls."""

import pytest
from reporting import HEAP


@pytest.mark.spec("EXP-9")
def test_calls_that_were_not_measured_are_not_none(browser, page, make_report):
    """Where calls were not measured there is no number of them, nor of their time or cost."""
    phase = {"name": "read", "count": 2, "elapsed_ns": 750, "calls": [], "counters": []}
    silent = {"what": ["heap"], "calls": [], "phase_totals": [phase], "heap": HEAP}
    unmeasured = make_report(**silent, clock={"source": "tsc", "overhead_ns": 0.0})
    browser.open(page(unmeasured))
    facts = dict(text.split("\n", 1) for text in browser.texts("dl > div"))
    assert facts["Calls"].split("\n") == ["-", "not measured"]
    assert "In calls" not in facts
    assert facts["Measuring cost"].strip() == "1.50 us"
    assert browser.texts("summary span:nth-child(n + 6)")[:2] == ["-", "-"]
    assert browser.texts("#reports tbody td:nth-child(n + 4):nth-child(-n + 5)") == ["-", "-"]
    browser.open(page(unmeasured, make_report()))
    facts = dict(text.split("\n", 1) for text in browser.texts("dl > div"))
    assert facts["Calls"].split("\n") == ["6", "of 3 functions, measured in 1 of 2 reports"]
