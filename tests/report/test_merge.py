"""Several reports, added up. The sums are those of the reports in conftest.py, done by hand."""

import pytest

from okrun.report.codec import decode
from okrun.report.merge import PhaseRow, Row, merge


@pytest.mark.spec("REP-3")
def test_by_function_and_by_interface(good, encoded):
    """Calls add up by function and by interface, greatest share of the time first."""
    summary = merge([decode(encoded(good))])
    assert summary.timed
    assert summary.interfaces == (
        Row(name="openkal.stream", interface="openkal.stream", count=5, total_ns=1900,
            max_ns=1000, share=0.95),
        Row(name=None, interface=None, count=1, total_ns=100, max_ns=100, share=0.05),
    )  # fmt: skip
    assert [(row.name, row.count, row.share) for row in summary.functions] == [
        ("kal_stream_write", 3, 0.9),
        ("kal_version", 1, 0.05),
        ("kal_stdout", 2, 0.05),
    ]
    assert summary.functions[0].mean_ns == 600


@pytest.mark.spec("REP-3")
def test_two_reports_are_added(good, encoded):
    """
    Counts, times, counters and phases of two reports are added, and the longest call is the longer
    one.
    """
    first = decode(encoded(good))
    good["id"] = "5a"
    good["image"]["path"] = "other.ok"
    good["ended"] = {"by": "signal", "status": 139, "signal": 11}
    good["calls"][2].update(count=4, total_ns=200, max_ns=90)
    good["counters"] = [{"name": "words", "value": 1}, {"name": "lines", "value": 2**64 - 1}]
    good["lost"] = ["gone"]
    summary = merge([first, decode(encoded(good))])
    assert summary.reports == 2
    assert summary.images == (("hello.ok", "x86_64"), ("other.ok", "x86_64"))
    assert summary.clocks == (("tsc", 21.5),)
    assert summary.ends == (("exit", 1), ("signal 11", 1))
    assert summary.elapsed_ns == 6_000_000
    write = summary.functions[0]
    assert (write.name, write.count, write.total_ns, write.max_ns) == (
        "kal_stream_write",
        7,
        2000,
        1000,
    )
    assert summary.counters == (("lines", 7 + 2**64 - 1), ("words", 1))
    assert summary.phases == (PhaseRow(name="read", count=4, elapsed_ns=1500),)
    assert summary.lost == ("gone",)


@pytest.mark.spec("REP-3")
def test_counts_only(counted, encoded):
    """Where no times were taken there are none, and shares are of the calls."""
    summary = merge([decode(encoded(counted))])
    assert not summary.timed
    stream = summary.interfaces[0]
    assert (stream.count, stream.total_ns, stream.mean_ns, stream.max_ns) == (5, None, None, None)
    assert [row.share for row in summary.functions] == [3 / 6, 2 / 6, 1 / 6]


@pytest.mark.spec("REP-3")
def test_a_time_that_is_not_known_for_all_is_not_known(good, encoded):
    """A function that one report timed and another only counted has a count and no time."""
    timed = decode(encoded(good))
    for call in good["calls"]:
        call.update(total_ns=None, max_ns=None, log2_ns=None)
    summary = merge([timed, decode(encoded(good))])
    assert [(row.count, row.total_ns) for row in summary.interfaces] == [(10, None), (2, None)]


@pytest.mark.spec("REP-3")
def test_no_calls(good, encoded):
    """A run that called nothing has no rows, and divides nothing by zero."""
    good["calls"] = []
    summary = merge([decode(encoded(good))])
    assert summary.functions == summary.interfaces == ()
