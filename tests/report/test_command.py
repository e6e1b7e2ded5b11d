"""``okprof report``, as a command."""

import os
import re

import pytest

from okrun.cli import okprof
from okrun.report.export import FORMATS, exporter
from okrun.report.files import find


@pytest.fixture
def run(monkeypatch, capfd):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["okprof", *map(str, words)])
        status = okprof.main()
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.fixture
def folder(tmp_path, write_report):
    """A directory with two reports and two files that are none of its reports."""
    for name in "12":
        write_report(tmp_path, id=name)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "okprof-3.json.part").write_text("{")
    return tmp_path


def one_line(err):
    assert re.fullmatch(r"okprof: [^\n]+\n", err)


@pytest.mark.spec("CLI-1", "REP-3")
def test_directory_stands_for_its_reports(run, folder):
    """A directory is all okprof-*.json in it, added up, and nothing else in it."""
    status, out, err = run("report", folder)
    assert (status, err) == (0, "")
    assert out.startswith("2 reports of hello.ok (x86_64)\n")


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
def test_empty_directory(run, folder):
    """A directory without a report is one line and status 1, also beside one with reports."""
    empty = folder / "empty"
    empty.mkdir()
    for words in ((empty,), (folder, empty)):
        status, out, err = run("report", *words)
        assert (status, out) == (1, "")
        one_line(err)
        assert f"{empty}: no okprof-*.json" in err


@pytest.mark.spec("RPT-3")
@pytest.mark.parametrize(("running", "what"), [(True, "running"), (False, "no report")])
def test_only_what_was_begun(run, tmp_path, begin_report, running, what):
    """Where nothing has ended, the line says what was begun, and whether it goes on."""
    for pid in (70, 71):
        begin_report(tmp_path, running=running, pid=pid)
    status, out, err = run("report", tmp_path)
    assert (status, out) == (1, "")
    one_line(err)
    assert f"; {what}: hello.ok (pid 70), hello.ok (pid 71)" in err


@pytest.mark.spec("CLI-1", "RPT-1")
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
        pytest.param(["list"], id="a command it does not have"),
        pytest.param(["report"], id="no file"),
        pytest.param(["report", "--flame", "x"], id="an option it does not have"),
        pytest.param(["report", "--js", "x"], id="an option cut short"),
        pytest.param(["report", "--sort", "size", "x"], id="an order it does not have"),
        pytest.param(["report", "--format", "pdf", "x"], id="a format it does not have"),
        pytest.param(["report", "--json", "--html", "x"], id="two formats"),
        pytest.param(["report", "x", "-o"], id="an option without its value"),
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
@pytest.mark.parametrize("words", [["--flame"], ["x", "--flame"], ["x", "-o", "y", "--flame"]])
def test_an_option_it_does_not_have_is_named(run, words):
    """Which word was wrong is said, also where a path is missing too."""
    status, _, err = run("report", *words)
    assert (status, "--flame" in err) == (2, True)


@pytest.mark.spec("CLI-1", "RPT-12")
@pytest.mark.parametrize("name", ["-runs", "--json", "--help", "-", "--"])
def test_what_follows_the_dashes_is_a_path(run, tmp_path, write_report, monkeypatch, name):
    """After -- every word is a path, whatever it begins with and whatever option has its name."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / name
    place.mkdir()
    write_report(place)
    status, out, err = run("report", "--sort", "name", "--", name)
    assert (status, err) == (0, "")
    assert out.startswith("1 report of hello.ok")


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["report", "--help"]])
def test_help_and_version(run, words):
    """They are answers: on standard output, with status 0."""
    status, out, err = run(*words)
    assert status == 0
    assert "okprof" in out
    assert err == ""


@pytest.mark.spec("CLI-1")
def test_help_lists_the_commands(run):
    """The help of okprof names each of its commands, and each has a help of its own."""
    _, out, _ = run("--help")
    for command in ("record", "report", "diff"):
        assert f"\n  {command} " in out
        assert f"okprof {command}" in run(command, "--help")[1]


@pytest.fixture
def terminal(monkeypatch):
    """Have standard output be a terminal of 60 columns, in an environment without NO_COLOR."""
    monkeypatch.setattr(os, "isatty", lambda fd: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((60, 24)))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.spec("REP-3")
def test_where_the_reports_are(run, tmp_path):
    """A directory without a report but with folders of okprof record: these are named."""
    for name in ("okprof-20240101-101010-7", "okprof-20240102-101010-6", "okprof-mine"):
        (tmp_path / name).mkdir()
    status, _, err = run("report", tmp_path)
    assert status == 1
    assert err == (
        f"okprof: {tmp_path}: no okprof-*.json; 2 folders of okprof record in it, the last is "
        f"{tmp_path}/okprof-20240102-101010-6 [REP-3]\n"
    )
    (tmp_path / "okprof-20240102-101010-6").rmdir()
    for words in (["report", tmp_path], ["diff", tmp_path, tmp_path]):
        err = run(*words)[2]
        assert f"; 1 folder of okprof record in it: {tmp_path}/okprof-20240101-101010-7 [" in err


@pytest.mark.spec("RPT-10")
@pytest.mark.parametrize(
    ("name", "value", "bold"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False), ("A", "b", True)],
)
def test_on_a_terminal(run, folder, terminal, monkeypatch, name, value, bold):
    """On a terminal the answer is as wide as it, and bold unless that is not wanted."""
    monkeypatch.setenv(name, value)
    out = run("report", folder)[1]
    assert ("\x1b[1m" in out) == bold
    assert "   p99   " in out
    assert "   p90   " not in out


@pytest.mark.spec("RPT-3", "RPT-12")
@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_has_no_place_for(run, folder, begin_report, name):
    """What was begun and left no report is said on standard error, beside what is written."""
    begin_report(folder, id="4")
    status, out, err = run("report", "--format", name, folder)
    assert (status, out != "") == (0, True)
    assert err == "okprof: not in it, no report: hello.ok (pid 77)\n"


@pytest.mark.spec("RPT-12")
def test_a_format_without_a_call(run, tmp_path, write_report):
    """That calls were not measured is said, as the file may be empty for it."""
    write_report(tmp_path, what=["heap"], calls=[], phase_totals=[])
    assert run("report", "--format", "folded", tmp_path) == (
        0,
        "",
        "okprof: no calls were measured, so there is little to show\n",
    )


@pytest.mark.spec("RPT-10", "RPT-12")
def test_not_on_a_terminal(run, folder, terminal, tmp_path):
    """A file, and what is not text, are as they are anywhere else."""
    run("report", folder, "-o", tmp_path / "answer")
    json = run("report", folder, "--json")[1]
    assert "\x1b" not in json
    assert "   p90   " in (tmp_path / "answer").read_text()
    assert "\x1b" not in (tmp_path / "answer").read_text()


@pytest.mark.spec("RPT-12")
@pytest.mark.parametrize("name", FORMATS)
def test_formats(run, folder, name):
    """A format is what its export makes of the reports; --html is --format=html."""
    want = exporter(name)(find([str(folder)]).reports)
    assert run("report", f"--format={name}", folder) == (0, want, "")
    if name == "html":
        assert run("report", folder, "--html")[1] == want


@pytest.mark.spec("RPT-12")
def test_output_file(run, folder, tmp_path):
    """-o writes what would be on standard output, in the place of what was there; - is that."""
    want = run("report", "--json", folder)[1]
    file = tmp_path / "answer"
    file.write_text("old")
    assert run("report", "--json", folder, "-o", file) == (0, "", "")
    assert file.read_text() == want
    assert run("report", "--json", folder, "-o", "-") == (0, want, "")


@pytest.mark.spec("RPT-12")
def test_output_is_written_at_once_or_not_at_all(run, folder, tmp_path):
    """A request that is refused leaves the file as it was, and one that cannot be made is told."""
    file = tmp_path / "answer"
    file.write_text("old")
    (folder / "okprof-0.json").write_text("{}")
    assert run("report", folder, "-o", file)[0] == 1
    assert file.read_text() == "old"
    (folder / "okprof-0.json").unlink()
    status, out, err = run("report", folder, "-o", tmp_path / "none" / "answer")
    assert (status, out) == (2, "")
    one_line(err)
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["answer", "notes.txt", "okprof-1.json", "okprof-2.json", "okprof-3.json.part"]
    )


@pytest.mark.spec("CLI-1")
def test_a_reader_that_has_read_enough(run, folder, monkeypatch):
    """Where nobody reads the answer any more, nothing more is said."""
    reading, writing = os.pipe()
    os.close(reading)
    saved = os.dup(1)
    os.dup2(writing, 1)
    try:
        monkeypatch.setattr("sys.argv", ["okprof", "report", str(folder)])
        status = okprof.main()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(writing)
    assert status == 2
    assert run("--version")[2] == ""
