"""A summary as JSON."""

import json

import pytest
from reporting import HEAP

from okrun.cli.report_json import as_json
from okrun.report.files import Found, find
from okrun.report.merge import merge


@pytest.fixture
def told(tmp_path):
    """Return what is told of the reports in tmp_path, in an order."""

    def told(order="time"):
        found = find([str(tmp_path)])
        text = as_json(merge(found.reports), found, order)
        assert text.isascii()
        assert text.index("\n") == len(text) - 1
        return json.loads(text)

    return told


@pytest.mark.spec("CLI-2", "RPT-11")
def test_all_of_it(told, tmp_path, write_report, begin_report):
    """Every key of the schema is there with its value: those of the report in reporting.py."""
    write_report(tmp_path, id="a", heap=HEAP, lost=["gone"], phases_left_out=2)
    part = begin_report(tmp_path, id="b")
    (tmp_path / ".okprof-c.part").touch()
    got = told()
    write = {
        "name": "kal_stream_write", "interface": "openkal.stream", "count": 3, "returned": 3,
        "total_ns": 1800, "mean_ns": 600.0, "p50_ns": 512, "p90_ns": 1000, "p99_ns": 1000,
        "max_ns": 1000, "log2_ns": [0] * 8 + [2, 1], "share": 0.9,
    }  # fmt: skip
    assert got["calls"][0] == write
    assert got["interfaces"][0] == {
        "name": "openkal.stream", "count": 5, "returned": 5, "total_ns": 1900, "mean_ns": 380.0,
        "p50_ns": 256 + 256 // 2, "p90_ns": 1000, "p99_ns": 1000, "max_ns": 1000,
        "log2_ns": [0, 0, 0, 0, 0, 2, 0, 0, 2, 1], "share": 0.95,
    }  # fmt: skip
    assert got["phases"][1] == {
        "name": "write",
        "count": 1,
        "elapsed_ns": 240,
        "calls": [
            write
            | {"count": 1, "returned": 1, "total_ns": 400, "mean_ns": 400.0, "p50_ns": 400,
               "p90_ns": 400, "p99_ns": 400, "max_ns": 400, "log2_ns": [0] * 8 + [1], "share": 1.0}
        ],
        "counters": [{"name": "lines", "value": 1}],
    }  # fmt: skip
    outside = got["outside_phases"]
    assert outside["elapsed_ns"] == 3_000_000 - 990
    assert [(each["name"], each["total_ns"], each["p50_ns"]) for each in outside["calls"]] == [
        ("kal_version", 100, None),
        ("kal_stdout", 40, None),
    ]
    assert outside["counters"] == [{"name": "lines", "value": 1}]
    del got["calls"], got["interfaces"], got["phases"], got["outside_phases"]
    assert got == {
        "schema": 2,
        "reports": 1,
        "runs": 1,
        "calls_measured": 1,
        "images": [{"path": "hello.ok", "build_id": "00ff", "arch": "x86_64", "reports": 1,
                    "calls_measured": 1,
                    "elapsed_ns": 3_000_000, "count": 6, "total_ns": 2000}],
        "ended": [{"by": "exit", "status": 42, "signal": None, "reports": 1}],
        "clocks": [{"source": "tsc", "overhead_ns": 21.5, "reports": 1}],
        "elapsed_ns": 3_000_000,
        "measuring_ns": 6 * 21.5 + 10 * 150,
        "tasks": 1,
        "timed": True,
        "counters": [{"name": "lines", "value": 7}],
        "phases_left_out": 2,
        "lost": ["gone"],
        "heap": {"files": ["dhat-heap-4f2a.json"], "blocks": 10, "bytes": 4096, "peak_blocks": 4,
                 "peak_bytes": 1024, "end_blocks": 1, "end_bytes": 16, "overhead_ns": 150.0},
        "unfinished": [{"id": "b", "run": None,
                        "image": {"path": "hello.ok", "build_id": "00ff", "arch": "x86_64"},
                        "pid": 77, "argv": ["hello.ok", "a", "\udcff"], "what": ["calls"],
                        "started_ns": 1_700_000_000_000_000_000, "path": str(part),
                        "running": False}],
        "headless": [str(tmp_path / ".okprof-c.part")],
    }  # fmt: skip


@pytest.mark.spec("RPT-11")
def test_counts_only(told, tmp_path, write_report):
    """What is not known is null: times that were not taken, and phases that there are none of."""
    write_report(tmp_path, what=["count"], phases=[], phase_totals=[])
    got = told()
    assert not got["timed"]
    assert got["calls"][0] == {
        "name": "kal_stream_write", "interface": "openkal.stream", "count": 3, "returned": None,
        "total_ns": None, "mean_ns": None, "p50_ns": None, "p90_ns": None, "p99_ns": None,
        "max_ns": None, "log2_ns": None, "share": 0.5,
    }  # fmt: skip
    assert (got["phases"], got["outside_phases"], got["heap"]) == ([], None, None)


@pytest.mark.spec("RPT-7", "RPT-11")
def test_order(told, tmp_path, write_report):
    """The rows by interface, by function and of each phase are in the order that is asked for."""
    write_report(tmp_path)
    got = told("name")
    assert [each["name"] for each in got["calls"]] == [
        "kal_stdout",
        "kal_stream_write",
        "kal_version",
    ]
    assert [each["name"] for each in got["phases"][0]["calls"]] == [
        "kal_stdout",
        "kal_stream_write",
    ]


@pytest.mark.spec("RPT-11")
def test_numbers_are_whole(make_report):
    """Sums past 2^53 come back as they are: they are written as whole numbers."""
    counters = [{"name": "n", "value": 2**64 - 1}]
    reports = [make_report(counters=counters, phase_totals=[]) for _ in range(3)]
    found = Found(reports=tuple(reports), unfinished=(), headless=(), empty=())
    got = json.loads(as_json(merge(reports), found, "time"))
    assert got["counters"] == [{"name": "n", "value": 3 * (2**64 - 1)}]
