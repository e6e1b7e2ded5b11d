"""
From a C file to a measured report. What is counted is known from the source,
tests/e2e/src/counts.c.
"""

import json
import os
import subprocess

import pytest

COUNTS = {
    "kal_version": 1,
    "kal_exit": 1,
    "kal_stdout": 1,
    "kal_stream_write": 3,
    "kal_alloc": 1000,
    "kal_free": 1000,
    "kal_prof_counter": 3,
    "kal_prof_phase": 3,
}
INTERFACES = {
    "kal_version": None,
    "kal_exit": "openkal.abort",
    "kal_stdout": "openkal.stream",
    "kal_stream_write": "openkal.stream",
    "kal_alloc": "openkal.memory",
    "kal_free": "openkal.memory",
    "kal_prof_counter": "openkal.prof",
    "kal_prof_phase": "openkal.prof",
}


def reports_in(folder):
    return [json.loads(file.read_text()) for file in sorted(folder.glob("okprof-*.json"))]


def report_in(folder):
    (report,) = reports_in(folder)
    return report


@pytest.mark.spec("PROF-1", "PROF-2", "PROF-4", "REP-1", "REP-2")
@pytest.mark.parametrize("what", ["calls", "count"])
def test_counts_are_exact(run_on_each, tmp_path, what):
    """
    Every function that the source calls is in the report, with the number of its calls, and no
    other.
    """
    done = run_on_each("counts", options=[f"--prof={what}:out/"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (5, b"line\n" * 3, b"")
    report = report_in(tmp_path / "out")
    assert {call["name"]: call["count"] for call in report["calls"]} == COUNTS
    assert {call["name"]: call["interface"] for call in report["calls"]} == INTERFACES
    assert report["what"] == [what]
    assert report["ended"] == {"by": "exit", "status": 5, "signal": None}
    for call in report["calls"]:
        if what == "count":
            assert call["total_ns"] is call["max_ns"] is call["log2_ns"] is None
        elif call["name"] != "kal_exit":  # it does not return
            assert sum(call["log2_ns"]) == call["count"]
            assert call["max_ns"] <= call["total_ns"] <= call["max_ns"] * call["count"]


@pytest.mark.spec("RI-1", "RI-3", "REP-1")
@pytest.mark.parametrize("what", ["calls", "count", "counters"])
def test_counters_and_phases(run_on_each, tmp_path, what):
    """
    Whatever is measured, counters have the sums of their cells at the end, and phases follow one
    another.
    """
    run_on_each("counts", options=[f"--prof={what}:out"], cwd=tmp_path)
    report = report_in(tmp_path / "out")
    assert report["counters"] == [
        {"name": "cells", "value": 1040},
        {"name": "alone", "value": 40},
    ]
    assert [phase["name"] for phase in report["phases"]] == ["allocate", "write"]
    first, second = report["phases"]
    assert first["start_ns"] + first["elapsed_ns"] <= second["start_ns"]
    assert second["start_ns"] + second["elapsed_ns"] <= report["elapsed_ns"]
    assert report["lost"] == []
    assert (report["calls"] == []) == (what == "counters")


@pytest.mark.spec("REP-1")
def test_report_names_the_run(run, tmp_path):
    """
    The report has the image as it was given, its build id by readelf, its arguments and its
    process.
    """
    image = run.image("status")
    process = run.start(image, "9", options=["--prof=count:out"], cwd=tmp_path)
    assert process.wait(60) == 9
    report = report_in(tmp_path / "out")
    notes = subprocess.check_output(["readelf", "-n", image], text=True)
    build_id = next((x.split()[-1] for x in notes.splitlines() if "Build ID" in x), None)
    assert report["okprof"] == 2
    assert report["image"] == {"path": str(image), "build_id": build_id, "arch": "x86_64"}
    assert report["argv"] == [str(image), "9"]
    assert report["pid"] == process.pid
    assert report["ended"] == {"by": "return", "status": 9, "signal": None}
    assert (tmp_path / f"out/okprof-{report['id']}.json").exists()


@pytest.mark.spec("REP-1")
def test_bytes_that_are_not_utf8(run, tmp_path):
    """Arguments that are not UTF-8 come back from the report as the bytes that they were."""
    words = (b"\xff", b'"\\\n\x01', "\u00e9\U0001f600".encode(), b"", b"\xed\xa0\x80")
    run("status", b"0", *words, options=["--prof=count:out"], cwd=tmp_path)
    assert tuple(map(os.fsencode, report_in(tmp_path / "out")["argv"][2:])) == words


@pytest.mark.spec("PROF-2", "REP-2")
@pytest.mark.parametrize(
    ("way", "ended"),
    [
        pytest.param("return", {"by": "return", "status": 44, "signal": None}, id="main returns"),
        pytest.param("exit", {"by": "exit", "status": 44, "signal": None}, id="kal_exit"),
        pytest.param("abort", {"by": "abort", "status": 134, "signal": 6}, id="kal_abort"),
    ],
)
def test_each_end_writes_one_report(run_on_each, tmp_path, way, ended):
    """
    Each of the three ends is in the report, and its function is counted though it does not return.
    """
    plain = run_on_each("ends", way, "300")
    measured = run_on_each("ends", way, "300", options=["--prof=calls:out"], cwd=tmp_path)
    assert measured.returncode == plain.returncode
    assert measured.stdout == plain.stdout
    report = report_in(tmp_path / "out")
    assert report["ended"] == ended
    counts = {call["name"]: call["count"] for call in report["calls"]}
    assert counts.get("kal_exit", 0) == (way == "exit")
    assert counts.get("kal_abort", 0) == (way == "abort")


@pytest.mark.spec("PROF-1")
@pytest.mark.parametrize(
    ("env", "options", "folder", "what"),
    [
        pytest.param("calls:there", [], "there", ["calls"], id="the variable"),
        pytest.param("count", [], ".", ["count"], id="no directory: the working directory"),
        pytest.param("heap", ["--prof=count:here"], "here", ["count"], id="the option first"),
        pytest.param("", ["--prof=calls,count:x:y"], "x:y", ["count", "calls"], id="two at once"),
        pytest.param("", ["--prof=counters:deep/down"], "deep/down", ["counters"], id="a path"),
    ],
)
def test_where_measuring_is_asked_for(run, tmp_path, env, options, folder, what):
    """
    --prof or OKRUN_PROF says what is measured and where the report goes; the directory is made.
    """
    (tmp_path / "deep").mkdir()
    done = run("status", "3", env={"OKRUN_PROF": env}, options=options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, b"")
    assert sorted(report_in(tmp_path / folder)["what"]) == sorted(what)


@pytest.mark.spec("PROF-1", "BIND-5")
def test_nothing_asked_nothing_written(run, tmp_path):
    """An empty OKRUN_PROF measures nothing, and leaves no file."""
    done = run("status", env={"OKRUN_PROF": ""}, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"ran\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("PROF-4")
def test_report_that_cannot_be_written(run, one_line, tmp_path):
    """Where the directory cannot be made the image runs all the same, and one line says so."""
    (tmp_path / "file").write_text("")
    done = run("status", "42", options=["--prof=calls:file/out"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (42, b"ran\n")
    one_line(done.stderr)


@pytest.mark.spec("REP-1", "REP-2")
def test_sixty_four_at_once(run, tmp_path):
    """
    64 measured runs at the same time write 64 whole reports of different ids, and leave nothing
    else.
    """
    options = ["--prof=calls:out"]
    image = run.image("counts")
    processes = [
        run.start(image, options=options, cwd=tmp_path, stdout=subprocess.DEVNULL)
        for _ in range(64)
    ]
    assert [process.wait(120) for process in processes] == [5] * 64
    reports = reports_in(tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 64
    assert len({report["id"] for report in reports}) == 64
    assert {report["pid"] for report in reports} == {process.pid for process in processes}


@pytest.mark.spec("REP-3")
def test_okprof_adds_them_up(run, command, tmp_path):
    """okprof report counts what the source calls, three times for three runs."""
    for _ in range(3):
        run("counts", options=["--prof=calls:out"], cwd=tmp_path)
    words = [command("okprof"), "report", "--json", tmp_path / "out"]
    got = json.loads(subprocess.check_output(words))
    assert got["reports"] == 3
    assert {row["name"]: row["count"] for row in got["calls"]} == {
        name: 3 * count for name, count in COUNTS.items()
    }
    assert got["counters"] == [{"name": "cells", "value": 3120}, {"name": "alone", "value": 120}]
    text = subprocess.check_output([command("okprof"), "report", tmp_path / "out"], text=True)
    assert all(name in text for name in COUNTS)
