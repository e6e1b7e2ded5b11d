"""
Files for speedscope.

Checked by what https://www.speedscope.app/file-format-schema.json asks for, and what it cannot ask
for: that indices are of frames and sums are sums.
"""

import json

import pytest

from okrun.report.export.speedscope import export

UNITS = ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")


def read(reports):
    """Return the profiles by name, each stack by its frames' names, after checking the file."""
    value = json.loads(export(reports))
    assert value["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert type(value["exporter"]) is type(value["name"]) is str
    assert value["activeProfileIndex"] in range(len(value["profiles"]))
    frames = [frame["name"] for frame in value["shared"]["frames"]]
    assert all(set(frame) == {"name"} for frame in value["shared"]["frames"])
    assert all(type(name) is str for name in frames)
    return {each["name"]: (each["unit"], profile(each, frames)) for each in value["profiles"]}


def profile(value, frames):
    assert set(value) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert value["type"] == "sampled"
    assert value["unit"] in UNITS
    assert len(value["samples"]) == len(value["weights"])
    assert all(type(weight) is int and weight > 0 for weight in value["weights"])
    assert (value["startValue"], value["endValue"]) == (0, sum(value["weights"]))
    assert all(at in range(len(frames)) for sample in value["samples"] for at in sample)
    stacks = [tuple(frames[at] for at in sample) for sample in value["samples"]]
    return dict(zip(stacks, value["weights"], strict=True))


@pytest.mark.spec("EXP-3")
def test_times_then_calls(make_report):
    """The first profile weighs the stacks in nanoseconds, the second in calls."""
    (name, (unit, times)), (_, (unit_of_calls, calls)) = read([make_report()]).items()
    assert (name, unit, unit_of_calls) == ("time in calls", "nanoseconds", "none")
    write = ("hello.ok", "write", "openkal.stream", "kal_stream_write")
    assert (times[write], calls[write]) == (400, 1)
    assert (sum(times.values()), sum(calls.values())) == (2000, 6)


@pytest.mark.spec("EXP-3")
def test_counts_are_weighted_by_calls(make_report):
    """Where one report has no times, calls are all that the file weighs by."""
    profiles = read([make_report(), make_report(what=["count"])])
    assert list(profiles) == ["calls"]
    assert profiles["calls"][0] == "none"
    assert sum(profiles["calls"][1].values()) == 12


@pytest.mark.spec("EXP-3")
def test_no_call_is_a_file_too(make_report):
    """Of a run that made no call there is a profile without samples."""
    profiles = read([make_report(calls=[], phases=[], phase_totals=[])])
    assert profiles["calls"] == ("none", {})


@pytest.mark.spec("EXP-3")
def test_any_report_keeps_the_form(hostile, big, make_report):
    """Hostile, large, of several images: the checks hold."""
    other = {"path": "other.ok", "build_id": None, "arch": "aarch64"}
    assert read([hostile, big, make_report(image=other)])
