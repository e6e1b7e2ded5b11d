"""``okprof diff``, as a command."""

import json
import os
import re

import pytest

from okrun.cli import okprof

IMAGE = {"path": "app.ok", "build_id": "00ff", "arch": "x86_64"}


def calls(ns, count=1000):
    stats = {"count": count, "total_ns": ns, "max_ns": ns, "log2_ns": [count]}
    return [{"name": "kal_alloc", "interface": "openkal.memory", **stats}]


@pytest.fixture
def run(monkeypatch, capfd):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["okprof", "diff", *map(str, words)])
        status = okprof.main()
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.fixture
def sides(tmp_path, write_report):
    """Return a function that makes folders of runs, by turns, and returns the two paths."""

    def sides(b, runs=1, **more):
        places = [tmp_path / "old", tmp_path / "new"]
        for place in places:
            place.mkdir()
        for at in range(runs):
            for which, place in enumerate(places):
                edits = {"calls": calls(1_000_000 + at), "image": IMAGE} | (b if which else {})
                if which and "calls" not in b:
                    edits["calls"] = calls(1_000_000 + at)
                start = 1_700_000_000_000_000_000 + (2 * at + which) * 10**9
                write_report(
                    place,
                    **{"started_ns": start, "phases": [], "phase_totals": [], **edits, **more},
                )
        return places

    return sides


@pytest.mark.spec("DIFF-1")
def test_sides_are_named(run, sides):
    """Above all else: which side is which, how many runs, of what image and build, and when."""
    old, new = sides({"image": IMAGE | {"build_id": "beef"}}, runs=3)
    status, out, err = run(old, new)
    assert (status, err) == (0, "")
    assert out.splitlines()[:5] == [
        f"A  {old}: 3 runs, 2023-11-14 22:13:20 to 2023-11-14 22:13:24 UTC",
        "   app.ok (x86_64), build id 00ff",
        f"B  {new}: 3 runs, 2023-11-14 22:13:21 to 2023-11-14 22:13:25 UTC",
        "   app.ok (x86_64), build id beef",
        "+ is more in B, - is less",
    ]


@pytest.mark.spec("DIFF-1")
def test_a_side_may_be_one_file(run, sides):
    """A report by itself is a side of one run."""
    old, new = sides({})
    (file,) = old.iterdir()
    status, out, _ = run(file, new)
    assert status == 0
    assert out.startswith(f"A  {file}: 1 run, ")


@pytest.mark.spec("DIFF-1", "CLI-1")
def test_a_side_without_a_report(run, sides, tmp_path, begin_report):
    """One line and status 1, which names the side, and what was begun there."""
    old, _ = sides({})
    empty = tmp_path / "empty"
    empty.mkdir()
    status, out, err = run(old, empty)
    assert (status, out, err) == (1, "", f"okprof: B has no report: {empty} [DIFF-1]\n")
    begin_report(empty)
    status, out, err = run(empty, old)
    assert (status, out) == (1, "")
    assert err == f"okprof: A has no report: {empty} (begun and not ended: 1) [DIFF-1]\n"


@pytest.mark.spec("DIFF-2")
def test_a_run_that_was_cut_off_is_left_out(run, sides, write_report, begin_report):
    """A run one of whose images has left no report is no whole run; the others are compared."""
    old, new = sides({})
    write_report(old, run="cut", calls=calls(5), phases=[], phase_totals=[])
    begin_report(old, run="cut")
    _, out, _ = run("--json", old, new)
    side = json.loads(out)["a"]
    assert (side["runs"], side["left_out"]) == (1, 1)


@pytest.mark.spec("DIFF-3", "DIFF-4", "DIFF-10")
def test_text(run, sides):
    """A fifth more calls, each as long as before: both are in the tables, and told apart."""
    old, new = sides({"calls": calls(1_200_000, 1200)})
    _, out, _ = run(old, new)
    line = next(line for line in out.splitlines() if line.endswith("  kal_alloc"))
    assert line.split() == [
        *("1.00", "ms", "1.20", "ms", "+200.00", "us", "+20.0", "%", "+20.0", "%"),
        *("1.00", "us", "1.00", "us", "+0.0", "%", "kal_alloc"),
    ]
    table = "    A      B   change  count, exact\n1,000  1,200  +20.0 %  calls of kal_alloc\n"
    assert table in out
    assert "3 counts, the same in every run of both sides\n" in out


@pytest.mark.spec("DIFF-6")
def test_one_run_a_side(run, sides):
    """There is no mark and no interval, and how many more runs it takes is said."""
    _, out, _ = run(*sides({"calls": calls(9_000_000)}))
    assert "no mark: 1 and 1 runs are too few; record 5 more of A and 5 more of B\n" in out
    assert "no interval: it takes 4 runs a side\n" in out
    assert "slower" not in out


@pytest.mark.spec("DIFF-3", "DIFF-6")
def test_ten_runs_a_side(run, sides):
    """There are intervals and marks, and what a mark is worth."""
    _, out, _ = run(*sides({"calls": calls(1_100_000)}, runs=10))
    assert re.search(r"\+10\.0 %  \+10\.0 % to \+10\.0 %  slower .*kal_alloc\n", out)
    assert "any mark in at most 1 of 100 comparisons\n" in out


@pytest.mark.spec("DIFF-9")
def test_notes(run, sides):
    """What stands in the way of comparing stands between the sides and the tables."""
    _, out, _ = run(*sides({"image": IMAGE | {"path": "bad\n\x1b[2J.ok"}}))
    assert r"note: not the same image: A app.ok; B bad\x0a\x1b[2J.ok" in out
    assert "\x1b" not in out


@pytest.mark.spec("DIFF-11")
def test_check(run, sides):
    """Status 1 and a line for each that is worse; without --check status 0 and none of them."""
    old, new = sides({"calls": calls(1_200_000, 1200)}, runs=10)
    status, out, _ = run("--check", old, new)
    assert status == 1
    found = [line for line in out.splitlines() if line.startswith("regression: ")]
    assert found == [
        "regression: kal_alloc: time 1.00 ms in A, 1.20 ms in B, +20.0 % "
        "(95 %: +20.0 % to +20.0 %); threshold 5 %",
        "regression: calls of kal_alloc: at most 1,000 in a run of A, at least 1,200 in one of B, "
        "+20.0 %; threshold 5 %",
    ]
    status, out, _ = run(old, new)
    assert (status, "regression" in out) == (0, False)
    status, out, _ = run("--check", "--threshold", "25%", old, new)
    assert (status, out.splitlines()[-1]) == (0, "check: nothing is worse; threshold 25 %")


@pytest.mark.spec("DIFF-11")
def test_check_of_a_new_call(run, sides):
    """A call that A has not is none in A."""
    new_call = {**calls(100, 7)[0], "name": "kal_free"}
    status, out, _ = run("--check", *sides({"calls": [*calls(1_000_000), new_call]}))
    assert status == 1
    assert (
        "regression: calls of kal_free: none in a run of A, at least 7 in one of B; threshold 5 %\n"
    ) in out


@pytest.mark.spec("DIFF-11")
def test_check_of_one_run_a_side(run, sides):
    """Counts are judged, times are not, and that is said."""
    old, new = sides({"calls": calls(9_000_000)})
    status, out, _ = run("--check", old, new)
    assert status == 0
    assert out.splitlines()[-2:] == [
        "check: no count is worse; threshold 5 %",
        "check: times are not judged, with so few runs; counts are",
    ]


@pytest.mark.spec("DIFF-12", "CLI-2")
def test_json(run, sides):
    """One line of ASCII with everything that the text says, and the chances."""
    old, new = sides({"calls": calls(1_200_000, 1200)}, runs=10)
    status, out, _ = run("--json", "--check", "--threshold=25", old, new)
    assert (status, out.count("\n"), out.isascii()) == (0, 1, True)
    value = json.loads(out)
    assert list(value) == [
        *("schema", "a", "b", "notes", "level", "tested", "needs", "times", "counts", "check")
    ]
    assert (value["schema"], value["tested"], value["needs"]) == (1, 3, None)
    assert (value["a"]["path"], value["a"]["runs"], value["b"]["path"]) == (str(old), 10, str(new))
    assert value["a"]["images"] == [IMAGE]
    time = next(row for row in value["times"] if row["name"] == "kal_alloc")
    assert (time["a_ns"], time["b_ns"], time["presence"]) == (1_000_004.5, 1_200_000, "both")
    assert time["total"]["mark"] == "slower"
    assert time["total"]["low"] <= time["total"]["ratio"] <= time["total"]["high"]
    assert time["total"]["p"] <= time["total"]["p_adjusted"] <= value["level"]
    count = next(row for row in value["counts"] if row["name"] == "kal_alloc")
    assert (count["a"], count["b"], count["same"]) == ([1000, 1000], [1200, 1200], False)
    assert value["check"] == {"threshold": 0.25, "times_judged": True, "regressions": []}


@pytest.mark.spec("DIFF-12")
def test_json_of_a_time_that_some_runs_lack(run, sides, write_report):
    """A ratio from nothing is null: JSON knows no infinity."""
    old, new = sides({}, runs=2)
    more = {"calls": [*calls(1), calls(7)[0] | {"name": "kal_free"}], "phases": []}
    for place in (old, new, new, new):
        write_report(place, **more, phase_totals=[])
    status, out, _ = run("--json", old, new)
    assert status == 0
    free = next(row for row in json.loads(out)["times"] if row["name"] == "kal_free")
    assert (free["a_ns"], free["b_ns"], free["total"]["ratio"]) == (0, 7, None)


@pytest.mark.spec("DIFF-12", "CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["a"],
        ["a", "b", "c"],
        ["--jsn", "a", "b"],
        ["--threshold", "5", "a", "b"],
        ["--check", "--threshold", "a", "b"],
        *(
            ["--check", f"--threshold={word}", "a", "b"]
            for word in ("-1", "nan", "inf", "five", "")
        ),
        ["absent", "absent"],
    ],
    ids=" ".join,
)
def test_usage(run, words):
    """What makes no sense, or is not there, is one line and status 2."""
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"okprof: [^\n]+\n", err)


@pytest.mark.spec("DIFF-12", "CLI-1")
@pytest.mark.parametrize("words", [["--"], ["--check", "--"]])
def test_what_follows_the_dashes_is_a_path(run, sides, monkeypatch, words):
    """After -- every word is a side, whatever it begins with and whatever option has its name."""
    old, new = sides({})
    monkeypatch.chdir(old.parent)
    old.rename("-old")
    new.rename("--help")
    status, out, err = run(*words, "-old", "--help")
    assert (status, err) == (0, "")
    assert out.startswith("A  -old: 1 run, ")


@pytest.mark.spec("DIFF-4", "DIFF-12")
def test_a_call_of_one_side_is_not_told_alone(run, sides, monkeypatch):
    """In any width the time of a call is told of both sides, or of none."""
    old, new = sides({"calls": calls(3_000_000, count=2000)})
    monkeypatch.setattr("os.isatty", lambda fd: True)
    seen = set()
    for columns in range(20, 140):
        size = os.terminal_size((columns, 24))
        monkeypatch.setattr("os.get_terminal_size", lambda fd, size=size: size)
        out = run(old, new)[1]
        seen.add(("call A" in out, "call B" in out))
    assert seen == {(False, False), (True, True)}


@pytest.mark.spec("DIFF-12")
@pytest.mark.parametrize(("columns", "columns_left_out"), [(0, False), (200, False), (40, True)])
def test_on_a_terminal(run, sides, monkeypatch, columns, columns_left_out):
    """As wide as that; where nobody has told it how wide it is (0 columns) all is there."""
    old, new = sides({})
    monkeypatch.setattr("os.isatty", lambda fd: True)
    monkeypatch.setattr("os.get_terminal_size", lambda fd: os.terminal_size((columns, 24)))
    out = run(old, new)[1]
    assert ("call A" not in out) == columns_left_out


@pytest.mark.spec("DIFF-12")
def test_help(run):
    """--help says what there is, also beside other words."""
    status, out, _ = run("--check", "--help")
    assert (status, out.startswith("usage: okprof diff ")) == (0, True)
    for option in ("--check", "--threshold", "--json"):
        assert option in out
