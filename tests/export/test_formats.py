"""What all formats have in common."""

import pytest
from hostile_text import HARMLESS, HOSTILE
from reporting import call_in_phase

from okrun.report.export import FORMATS, exporter
from okrun.report.export.stacks import OUTSIDE, stacks, timed


@pytest.mark.spec("EXP-1")
@pytest.mark.parametrize("name", FORMATS)
def test_no_text_of_a_report_acts_on_anything(name, hostile):
    """Every line is printable and UTF-8, and each hostile name is there as ERR-2 escapes it."""
    text = exporter(name)([hostile])
    assert text.endswith("\n")
    assert [line for line in text.split("\n") if not line.isprintable()] == []
    text.encode("utf-8")
    assert r"\xff\xed\xa0\x80" in text.replace("\\\\", "\\")


@pytest.mark.spec("EXP-1")
@pytest.mark.parametrize("name", FORMATS)
def test_the_same_reports_give_the_same_file(name, make_report):
    """Nothing of the time or the place is in an export."""
    reports = [make_report(), make_report(pid=78)]
    assert exporter(name)(reports) == exporter(name)(reports)


def found(reports):
    return {each.frames: (each.count, each.total_ns) for each in stacks(reports)}


@pytest.mark.spec("EXP-2")
def test_stacks_are_image_phase_interface_function(make_report):
    """Each call of the good report is in the phase that its source says, or outside."""
    assert found([make_report()]) == {
        ("hello.ok", "read", "openkal.stream", "kal_stdout"): (1, 60),
        ("hello.ok", "read", "openkal.stream", "kal_stream_write"): (2, 1400),
        ("hello.ok", "write", "openkal.stream", "kal_stream_write"): (1, 400),
        ("hello.ok", OUTSIDE, "kal_version"): (1, 100),
        ("hello.ok", OUTSIDE, "openkal.stream", "kal_stdout"): (1, 40),
    }


@pytest.mark.spec("EXP-2")
def test_without_phases_stacks_have_none(make_report):
    """There is no frame that says "outside" where nothing is inside."""
    assert found([make_report(phases=[], phase_totals=[])]) == {
        ("hello.ok", "kal_version"): (1, 100),
        ("hello.ok", "openkal.stream", "kal_stdout"): (2, 100),
        ("hello.ok", "openkal.stream", "kal_stream_write"): (3, 1800),
    }


@pytest.mark.spec("EXP-2")
def test_reports_of_one_image_add_up_and_others_stand_apart(make_report):
    """The frames of two runs of one image are the same frames."""
    other = {"path": "other.ok", "build_id": None, "arch": "aarch64"}
    sums = found([make_report(), make_report(), make_report(image=other)])
    assert sums["hello.ok", "read", "openkal.stream", "kal_stream_write"] == (4, 2800)
    assert sums["other.ok", "read", "openkal.stream", "kal_stream_write"] == (2, 1400)


@pytest.mark.spec("EXP-2")
def test_names_that_read_the_same_are_one_frame(make_report):
    """No two stacks have the same frames, also where escapes make two names one."""
    images = [{"path": path, "build_id": None, "arch": "x86_64"} for path in (HOSTILE, HARMLESS)]
    reports = [make_report(image=image) for image in images]
    assert len(stacks(reports)) == 5
    assert found(reports)[HARMLESS, "read", "openkal.stream", "kal_stream_write"] == (4, 2800)


@pytest.mark.spec("EXP-2")
def test_a_contradiction_leaves_nothing_below_nothing(make_report):
    """Where a phase has more calls than its run, outside there are none of them."""
    calls = [call_in_phase("kal_stdout", *[100] * 9)]
    total = {"name": "read", "count": 1, "elapsed_ns": 1, "calls": calls, "counters": []}
    report = make_report(phase_totals=[total])
    assert all(each.count >= 0 and each.total_ns >= 0 for each in stacks([report]))
    assert ("hello.ok", OUTSIDE, "openkal.stream", "kal_stdout") not in found([report])


@pytest.mark.spec("EXP-2")
def test_times_are_those_of_all_calls_or_of_none(make_report):
    """One report of counts among others, and a graph of times would show a part only."""
    timed_report, counted_report = make_report(), make_report(what=["count"])
    assert timed([timed_report])
    assert not timed([counted_report])
    assert not timed([timed_report, counted_report])
