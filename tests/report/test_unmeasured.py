"""What is told of reports that say nothing of calls, and of very many of them."""

import pytest
from reporting import HEAP
from text_of_reports import notes, rows, told

NO_CALLS = {"what": ["heap"], "calls": [], "phase_totals": [], "heap": HEAP}


@pytest.mark.spec("RPT-9", "RPT-10")
def test_calls_that_were_not_measured_are_not_none(make_report):
    """Where calls were not measured that is said, and no number of them, or of their time."""
    phase = {"name": "read", "count": 2, "elapsed_ns": 750, "calls": [], "counters": []}
    clock = {"source": "tsc", "overhead_ns": 0.0}
    text = told([make_report(**NO_CALLS | {"phase_totals": [phase]}, clock=clock)])
    assert "in calls   not measured\n" in text
    assert "measuring  cost about 1.50 us (0.1 %): up to 150.0 ns a block\n" in text
    assert rows(text, "of run", "elapsed", "begun", "phase")[0] == ["<0.1 %", "750 ns", "2", "read"]
    assert notes(text) == []


@pytest.mark.spec("RPT-10")
def test_calls_that_some_reports_did_not_measure(make_report):
    """How many did not is a note, and the row of their image has no number of calls."""
    image = {"path": "other.ok", "build_id": None, "arch": "x86_64"}
    text = told([make_report(), make_report(**NO_CALLS, image=image), make_report(what=["calls"])])
    assert (
        "1 of 3 reports did not measure calls: the time of these runs is in elapsed, and their "
        "calls are not known"
    ) in notes(text)
    assert rows(text, "reports", "elapsed", "calls", "total", "image")[1] == [
        *("1", "3.00 ms", "-", "-"),
        "other.ok (x86_64)",
    ]


@pytest.mark.spec("RPT-10")
def test_many_images(make_report):
    """The fifty images that ran longest are shown, in order; how many more is said."""
    image = {"build_id": None, "arch": "x86_64"}
    reports = [
        make_report(image=image | {"path": f"{at}.ok"}, elapsed_ns=1000 - at % 60)
        for at in range(60)
    ]
    table = rows(told(reports), "reports", "elapsed", "calls", "total", "image")
    assert [row[-1] for row in table[:-1]] == [f"{at}.ok (x86_64)" for at in range(50)]
    assert table[-1] == ["10", "9.46 us", "and 10 more images"]
