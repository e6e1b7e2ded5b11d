"""What stands in the way of a comparison is said, and nothing else is."""

import pytest

from okrun.report.comparable import notes

IMAGE = {"path": "here/app.ok", "build_id": "00ff", "arch": "x86_64"}
OTHER = IMAGE | {"build_id": "ff00"}
CLOCK = {"source": "tsc", "overhead_ns": 20.0}


@pytest.fixture
def said(make_side):
    """Return what is said of two sides of as many runs each, by turns, B's with these edits."""

    def said(edits, runs=1):
        a = make_side([{"image": IMAGE, "clock": CLOCK}] * runs)
        return notes(a, make_side([{"image": OTHER, "clock": CLOCK, **edits}] * runs, first=1))

    return said


@pytest.mark.spec("DIFF-9")
@pytest.mark.parametrize("runs", [1, 5, 20])
def test_comparable_sides(said, runs):
    """Another build of one image, by turns: nothing is said."""
    assert said({}, runs) == ()


@pytest.mark.spec("DIFF-9")
@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ({"image": OTHER | {"path": "there/app.ok"}}, None),
        ({"image": OTHER | {"path": "old.ok"}}, "not the same image: A app.ok; B old.ok"),
        ({"image": OTHER | {"arch": "aarch64"}}, "not the same processor: A x86_64; B aarch64"),
        ({"image": IMAGE}, "both sides ran the same build"),
        ({"what": ["calls", "heap"]}, "not the same measured: A calls; B calls,heap"),
        (
            {"clock": {"source": "monotonic", "overhead_ns": 20.0}},
            "not the same clock: A tsc; B monotonic",
        ),
        (
            {"clock": {"source": "tsc", "overhead_ns": 31.0}},
            "measuring a call costs 20.0 ns in A and 31.0 ns in B: "
            "another machine, or not in the same state",
        ),
        ({"clock": {"source": "tsc", "overhead_ns": 29.0}}, None),
        (
            {"what": ["count"], "clock": {"source": "tsc", "overhead_ns": 0.5}},
            "not the same measured: A calls; B count",
        ),
        (
            {"clock": {"source": "monotonic", "overhead_ns": 60.0}},
            "not the same clock: A tsc; B monotonic",
        ),
        ({"argv": ["app.ok"]}, "not the same arguments: A a \udcff; B (none)"),
        ({"argv": ["other.ok", "a", "\udcff"]}, None),
        (
            {"argv": ["app.ok", *(f"file{at}" for at in range(1000))]},
            "not the same arguments: A a \udcff; B file0 file1 file2 file3 file4 file5 file6 file7 "
            "file8 file9 file10 file11 file12...le995 file996 file997 file998 file999",
        ),
        (
            {"ended": {"by": "signal", "status": 139, "signal": 11}},
            "not the same ended: A exit 42; B signal 11",
        ),
        ({"lost": ["lines"]}, "counter not read whole in B, and not compared: lines"),
    ],
)
def test_what_differs(said, edits, line):
    """One sentence, which names both sides."""
    assert said(edits) == (() if line is None else (line,))


@pytest.mark.spec("DIFF-9")
def test_several_builds_on_one_side(make_side):
    """A folder in which two builds of one image have run is no side of one program."""
    a = make_side([{"image": IMAGE}, {"image": OTHER}])
    b = make_side([{"image": OTHER | {"build_id": "1234"}}], first=1)
    assert notes(a, b) == ("A has runs of 2 builds of app.ok",)


@pytest.mark.spec("DIFF-9")
def test_the_same_reports(make_side):
    """A folder compared with itself, or with a copy, is said to be that."""
    a = make_side([{"id": "1"}, {"id": "2"}])
    assert notes(a, a) == ("the same reports are on both sides: 2",)


@pytest.mark.spec("DIFF-9")
def test_runs_left_out(make_side):
    """Runs that go on, or were cut off, are said to be left out."""
    a, b = make_side([{"image": IMAGE}], left_out=3), make_side([{"image": OTHER}], first=1)
    (line,) = notes(a, b)
    assert line.startswith("left out of A: 3 ")


@pytest.mark.spec("DIFF-9")
@pytest.mark.parametrize(("start", "before", "after"), [(100, "A", "B"), (-100, "B", "A")])
def test_one_side_first(make_side, start, before, after):
    """All runs of one side before all of the other: drift looks like a change, and is warned of."""
    a = make_side([{"image": IMAGE}] * 6)
    (line,) = notes(a, make_side([{"image": OTHER}] * 6, first=start))
    assert line.startswith(f"the runs of {before} came before those of {after}: ")
    assert line.endswith("alternate them")
