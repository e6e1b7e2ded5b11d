"""What is found in files and directories."""

import os

import pytest

from okld.base.errors import FormatError, Refusal, Unreadable
from okrun.report.codec import MAX_SIZE
from okrun.report.files import find
from okrun.report.model import Image


@pytest.mark.spec("REP-3", "RPT-1")
def test_a_directory_stands_for_its_reports(tmp_path, write_report):
    """All okprof-*.json in a directory are read, in the order of their names, and nothing else."""
    write_report(tmp_path, id="b")
    write_report(tmp_path, id="a")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "okprof-3.json.part").write_text("{")
    (tmp_path / "dhat-heap-a.json").write_text("{}")
    write_report(tmp_path, id="c").rename(tmp_path / "report.json")
    found = find([str(tmp_path)])
    assert [report.id for report in found.reports] == ["a", "b"]
    assert (found.unfinished, found.headless, found.empty) == ((), (), ())


@pytest.mark.spec("RPT-1")
def test_each_report_once(tmp_path, write_report):
    """A report that is given twice, or copied, counts once."""
    path = write_report(tmp_path, id="a")
    (tmp_path / "okprof-copy.json").write_bytes(path.read_bytes())
    assert len(find([str(tmp_path), str(path), str(path)]).reports) == 1


@pytest.mark.spec("RPT-2")
def test_two_reports_of_one_id(tmp_path, write_report):
    """Two reports that differ and have one id are refused: which is true cannot be known."""
    write_report(tmp_path, id="a")
    write_report(tmp_path, id="a", pid=78).rename(tmp_path / "okprof-b.json")
    write_report(tmp_path, id="a")
    with pytest.raises(Refusal, match=r"okprof-b\.json: another report has its id, a \[RPT-2\]"):
        find([str(tmp_path)])


@pytest.mark.spec("RPT-3")
@pytest.mark.parametrize("running", [True, False])
def test_what_was_begun(tmp_path, write_report, begin_report, running):
    """What is locked goes on, what is not has ended and left no report; both say whose they are."""
    write_report(tmp_path, id="a")
    part = begin_report(tmp_path, running=running, id="b", run="r", pid=5)
    found = find([str(tmp_path)])
    assert [report.id for report in found.reports] == ["a"]
    assert found == find([str(tmp_path), str(part)])
    (begun,) = found.unfinished
    assert (begun.path, begun.running, begun.id, begun.run, begun.pid) == (
        str(part), running, "b", "r", 5,
    )  # fmt: skip
    assert begun.image == Image(path="hello.ok", build_id="00ff", arch="x86_64")


@pytest.mark.spec("RPT-3")
def test_looking_does_not_lock(tmp_path, begin_report):
    """A look at what was begun leaves no lock behind: a second look sees the same."""
    begin_report(tmp_path)
    assert find([str(tmp_path)]) == find([str(tmp_path)])
    assert not find([str(tmp_path)]).unfinished[0].running


@pytest.mark.spec("RPT-3")
def test_only_what_was_begun(tmp_path, begin_report):
    """A directory in which nothing has ended has no report, and what was begun is told."""
    begin_report(tmp_path)
    found = find([str(tmp_path)])
    assert (found.reports, found.empty, len(found.unfinished)) == ((), (str(tmp_path),), 1)


@pytest.mark.spec("RPT-3")
@pytest.mark.parametrize("data", [b"", b"{", b'{"okprof":1,\n', b"\xff" * 99, b"[" * 100_000])
def test_a_head_that_cannot_be_read(tmp_path, data):
    """What was begun and says nothing, or something else, is told by its path."""
    part = tmp_path / ".okprof-a.part"
    part.write_bytes(data)
    found = find([str(tmp_path)])
    assert (found.unfinished, found.headless) == ((), (str(part),))


@pytest.mark.spec("RPT-3")
def test_a_report_that_ends_meanwhile(tmp_path, write_report, begin_report, monkeypatch):
    """What is ended between the look at the directory and that at the file is read as a report."""
    begin_report(tmp_path, id="a")
    names = os.listdir(tmp_path)
    write_report(tmp_path, id="a")
    monkeypatch.setattr(os, "listdir", lambda path: names)
    found = find([str(tmp_path)])
    assert ([report.id for report in found.reports], found.unfinished) == (["a"], ())
    assert found.empty == ()
    (tmp_path / ".okprof-a.part").unlink()
    assert find([str(tmp_path)]) == found


@pytest.mark.spec("RPT-1", "RPT-3")
def test_what_others_put_there(tmp_path, write_report):
    """A FIFO, a link or a directory with the name of what was begun is passed over."""
    write_report(tmp_path, id="a")
    os.mkfifo(tmp_path / ".okprof-b.part")
    (tmp_path / ".okprof-c.part").symlink_to("/dev/zero")
    (tmp_path / ".okprof-d.part").mkdir()
    found = find([str(tmp_path)])
    assert (len(found.reports), found.unfinished, found.headless) == (1, (), ())


@pytest.mark.spec("RPT-1")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_report_is_a_regular_file(tmp_path, make):
    """What has a report's name and is no regular file is refused, and not waited for."""
    make(tmp_path / "okprof-a.json")
    with pytest.raises((Refusal, Unreadable)):
        find([str(tmp_path)])


@pytest.mark.spec("RPT-1")
def test_a_huge_file(tmp_path):
    """A file that is longer than any report is refused, however long it says it is."""
    with open(tmp_path / "okprof-a.json", "wb") as file:
        file.truncate(MAX_SIZE + 1)
    with pytest.raises(FormatError, match="longer than any report"):
        find([str(tmp_path)])


@pytest.mark.spec("REP-3")
def test_a_file_that_is_no_report(tmp_path, write_report):
    """One bad file among good ones refuses all, with its name: nothing is dropped in silence."""
    write_report(tmp_path, id="b")
    (tmp_path / "okprof-a.json").write_text("{}")
    with pytest.raises(Refusal, match=r"okprof-a\.json: not a report"):
        find([str(tmp_path)])


@pytest.mark.spec("RPT-1")
def test_nothing_there(tmp_path):
    """A path at which nothing is cannot be read."""
    with pytest.raises(Unreadable):
        find([str(tmp_path / "none")])
