"""A good report, and edits of it."""

import copy
import json

import pytest

GOOD = {
    "okprof": 1,
    "id": "4f2a",
    "image": {"path": "hello.ok", "build_id": "00ff", "arch": "x86_64"},
    "pid": 77,
    "argv": ["hello.ok", "a", "\udcff"],
    "what": ["calls"],
    "started_ns": 1_700_000_000_000_000_000,
    "elapsed_ns": 3_000_000,
    "ended": {"by": "exit", "status": 42, "signal": None},
    "clock": {"source": "tsc", "overhead_ns": 21.5},
    "calls": [
        {"name": "kal_version", "interface": None, "count": 1, "total_ns": 100, "max_ns": 100,
         "log2_ns": [0, 0, 0, 0, 0, 0, 1]},
        {"name": "kal_stdout", "interface": "openkal.stream", "count": 2, "total_ns": 100,
         "max_ns": 60, "log2_ns": [0, 0, 0, 0, 0, 2]},
        {"name": "kal_stream_write", "interface": "openkal.stream", "count": 3, "total_ns": 1800,
         "max_ns": 1000, "log2_ns": [0, 0, 0, 0, 0, 0, 0, 0, 2, 1]},
    ],
    "counters": [{"name": "lines", "value": 7}],
    "phases": [{"name": "read", "start_ns": 10, "elapsed_ns": 500},
               {"name": "read", "start_ns": 510, "elapsed_ns": 250}],
    "lost": [],
}  # fmt: skip


@pytest.fixture
def good():
    """A report of schema 1 that the test may edit."""
    return copy.deepcopy(GOOD)


@pytest.fixture
def encoded():
    """How a report becomes a file's bytes."""
    return lambda report: json.dumps(report).encode()


@pytest.fixture
def counted(good):
    """The same report where only counts were taken."""
    good["what"] = ["count"]
    for call in good["calls"]:
        call.update(total_ns=None, max_ns=None, log2_ns=None)
    return good
