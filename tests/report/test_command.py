"""``okprof report``, as a command."""

import json
import os
import re

import pytest

from okrun.cli import okprof


@pytest.fixture
def run(monkeypatch, capfd):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["okprof", *map(str, words)])
        status = okprof.main()
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.fixture
def folder(tmp_path, good, encoded):
    """A directory with two reports and two files that are none of its reports."""
    for name in ("okprof-1.json", "okprof-2.json"):
        (tmp_path / name).write_bytes(encoded(good))
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "okprof-3.json.part").write_text("{")
    return tmp_path


def one_line(err):
    assert re.fullmatch(r"okprof: [^\n]+\n", err)


@pytest.mark.spec("CLI-1", "REP-3")
def test_directory_stands_for_its_reports(run, folder):
    """A directory is all okprof-*.json in it, added up, and nothing else in it."""
    status, out, err = run("report", "--json", folder)
    got = json.loads(out)
    assert (status, err) == (0, "")
    assert got["reports"] == 2
    assert got["calls"][0]["count"] == 6


@pytest.mark.spec("CLI-2")
def test_json(run, folder):
    """The JSON has schema 1, is ASCII, and has the rows by interface and by function."""
    status, out, _ = run("report", folder / "okprof-1.json", "--json")
    got = json.loads(out)
    assert status == 0
    assert out.isascii()
    assert got["schema"] == 1
    assert got["images"] == [{"path": "hello.ok", "arch": "x86_64"}]
    assert got["interfaces"][0] == {
        "name": "openkal.stream", "count": 5, "total_ns": 1900, "mean_ns": 380.0, "max_ns": 1000,
        "share": 0.95,
    }  # fmt: skip
    assert got["calls"][1] == {
        "name": "kal_version", "interface": None, "count": 1, "total_ns": 100, "mean_ns": 100.0,
        "max_ns": 100, "share": 0.05,
    }  # fmt: skip
    assert got["counters"] == [{"name": "lines", "value": 7}]
    assert got["phases"] == [{"name": "read", "count": 2, "elapsed_ns": 750}]
    assert got["ended"] == {"exit": 1}


@pytest.mark.spec("REP-3")
def test_text(run, folder):
    """The tables have a row for each interface, function, counter and phase."""
    status, out, _ = run("report", folder / "okprof-1.json")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    assert status == 0
    assert rows["openkal.stream"] == ["5", "1.90", "us", "380.0", "ns", "1.00", "us", "95.0", "%"]
    assert rows["kal_stream_write"] == ["3", "1.80", "us", "600.0", "ns", "1.00", "us", "90.0", "%"]
    assert rows["lines"] == ["7"]
    assert rows["read"] == ["2", "750", "ns"]


@pytest.mark.spec("ERR-2", "REP-3")
def test_names_cannot_move_the_cursor(run, tmp_path, good, encoded):
    """
    Control bytes of names in a report, and bytes that are not UTF-8, are shown as they are written.
    """
    good["counters"] = [{"name": "\x1b[2J", "value": 1}]
    good["image"]["path"] = "a\n\udcff.ok"
    file = tmp_path / "okprof-1.json"
    file.write_bytes(encoded(good))
    status, out, _ = run("report", file)
    assert status == 0
    assert "\\x1b[2J" in out
    assert "a\\x0a\\xff.ok" in out


@pytest.mark.spec("CLI-1", "REP-3")
def test_one_that_is_no_report_is_named(run, folder):
    """
    One file that is no report refuses the whole request, with its name in one line and status 1.
    """
    bad = folder / "okprof-0.json"
    bad.write_text("[" * 100_000)
    status, out, err = run("report", folder)
    assert (status, out) == (1, "")
    one_line(err)
    assert "okprof-0.json" in err


@pytest.mark.spec("CLI-1", "REP-3")
def test_empty_directory(run, tmp_path):
    """A directory without a report is one line and status 1."""
    status, out, err = run("report", tmp_path)
    assert (status, out) == (1, "")
    one_line(err)


@pytest.mark.spec("CLI-1")
def test_fifo_does_not_hang(run, tmp_path):
    """A file that is not regular is refused, not waited for."""
    os.mkfifo(tmp_path / "okprof-1.json")
    status, _, err = run("report", tmp_path)
    assert status == 1
    one_line(err)


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="nothing"),
        pytest.param(["diff"], id="a command it does not have"),
        pytest.param(["report"], id="no file"),
        pytest.param(["report", "--html", "x"], id="an option it does not have"),
        pytest.param(["report", "no such file"], id="a file that is not there"),
        pytest.param(["report", "--", "--json"], id="an option's name as a file's"),
    ],
)
def test_usage_is_status_two(run, tmp_path, monkeypatch, words):
    """A request that makes no sense, or a file that cannot be read, is one line and status 2."""
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    one_line(err)


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version(run, option):
    """They are answers: on standard output, with status 0."""
    status, out, err = run(option)
    assert status == 0
    assert "okprof" in out
    assert err == ""
