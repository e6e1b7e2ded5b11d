"""
Reports to read.

For the conftest.py of a room that imports the fixtures from here.
"""

import copy
import fcntl
import itertools
import json

import pytest

from okrun.report.codec import decode

KEYS = (
    "okprof", "id", "run", "image", "pid", "argv", "what", "started_ns", "elapsed_ns", "ended",
    "clock", "tasks", "calls", "counters", "phases", "phases_left_out", "phase_totals", "lost",
    "heap",
)  # fmt: skip
HEAD = KEYS[:8]


def call(name, interface, *times):
    """Return the calls of a function, each given by its nanoseconds; all of them returned."""
    log2 = [0] * max((max(ns, 1).bit_length() for ns in times), default=0)
    for ns in times:
        log2[max(ns, 1).bit_length() - 1] += 1
    stats = {"count": len(times), "total_ns": sum(times), "max_ns": max(times, default=0)}
    return {"name": name, "interface": interface, **stats, "log2_ns": log2}


def call_in_phase(name, *times):
    """Return the calls of a function in a phase, which say nothing of its interface."""
    value = call(name, None, *times)
    del value["interface"]
    return value


GOOD = {
    "okprof": 2,
    "id": "4f2a",
    "run": None,
    "image": {"path": "hello.ok", "build_id": "00ff", "arch": "x86_64"},
    "pid": 77,
    "argv": ["hello.ok", "a", "\udcff"],
    "what": ["calls"],
    "started_ns": 1_700_000_000_000_000_000,
    "elapsed_ns": 3_000_000,
    "ended": {"by": "exit", "status": 42, "signal": None},
    "clock": {"source": "tsc", "overhead_ns": 21.5},
    "tasks": 1,
    "calls": [
        call("kal_version", None, 100),
        call("kal_stdout", "openkal.stream", 60, 40),
        call("kal_stream_write", "openkal.stream", 400, 1000, 400),
    ],
    "counters": [{"name": "lines", "value": 7}],
    "phases": [
        {"name": "read", "start_ns": 10, "elapsed_ns": 500},
        {"name": "read", "start_ns": 510, "elapsed_ns": 250},
        {"name": "write", "start_ns": 760, "elapsed_ns": 240},
    ],
    "phases_left_out": 0,
    "phase_totals": [
        {"name": "read", "count": 2, "elapsed_ns": 750,
         "calls": [call_in_phase("kal_stdout", 60), call_in_phase("kal_stream_write", 400, 1000)],
         "counters": [{"name": "lines", "value": 5}]},
        {"name": "write", "count": 1, "elapsed_ns": 240,
         "calls": [call_in_phase("kal_stream_write", 400)],
         "counters": [{"name": "lines", "value": 1}]},
    ],
    "lost": [],
    "heap": None,
}  # fmt: skip
"""Outside any phase: kal_version, kal_stdout once (40 ns), and 1 of lines."""

HEAP = {
    "file": "dhat-heap-4f2a.json", "blocks": 10, "bytes": 4096, "peak_blocks": 4,
    "peak_bytes": 1024, "end_blocks": 1, "end_bytes": 16, "overhead_ns": 150.0,
}  # fmt: skip

_numbers = itertools.count(1)


def report_object(**edits):
    """
    Return a report of schema 2, with an id that no other has; keys given here replace its own.

    Without times where `what` is given and lacks "calls".
    """
    report = copy.deepcopy(GOOD) | {"id": f"{next(_numbers):x}"} | edits
    if "calls" not in report["what"]:
        for each in (report, *report["phase_totals"]):
            for stats in each["calls"]:
                stats.update(total_ns=None, max_ns=None, log2_ns=None)
    return report


def encode(report):
    """Return a report as a file's bytes, as the host writes it: the first line is the head."""
    head = {key: report[key] for key in HEAD if key in report}
    tail = {key: value for key, value in report.items() if key not in head}
    return (json.dumps(head)[:-1] + ",\n" + json.dumps(tail)[1:] + "\n").encode()


@pytest.fixture
def good():
    """A report of schema 2 that the test may edit."""
    return copy.deepcopy(GOOD)


@pytest.fixture
def counted():
    """The same report where only counts were taken."""
    return report_object(id=GOOD["id"], what=["count"])


@pytest.fixture
def encoded():
    """How a report becomes a file's bytes."""
    return encode


@pytest.fixture
def make_report():
    """Return a function from edits of a good report, as keywords, to a Report."""
    return lambda **edits: decode(encode(report_object(**edits)))


@pytest.fixture
def write_report():
    """Return a function that writes such a report into a folder and returns the file's path."""

    def write_report(folder, **edits):
        report = report_object(**edits)
        path = folder / f"okprof-{report['id']}.json"
        path.write_bytes(encode(report))
        return path

    return write_report


@pytest.fixture
def begin_report():
    """
    Return a function that begins such a report in a folder and returns the file's path.

    With `running` its lock is held until the test ends.
    """
    held = []

    def begin_report(folder, running=False, **edits):
        report = report_object(**edits)
        path = folder / f".okprof-{report['id']}.part"
        path.write_bytes(encode(report).partition(b"\n")[0] + b"\n")
        if running:
            held.append(path.open("rb"))
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        return path

    yield begin_report
    for file in held:
        file.close()
