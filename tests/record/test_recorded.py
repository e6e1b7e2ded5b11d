"""What is said at the end of a command is the truth of its images."""

import os
import re
import shlex
import subprocess
import time

import pytest

NOTHING = (
    "no report: no image was measured (only those are that okrun starts, in this environment"
    " and without --prof)"
)
KILLED = "os.kill(os.getpid(), 9)"


@pytest.fixture
def image(script):
    """Return shell text that runs a stand-in for an image."""

    def image(name, code=""):
        return shlex.join(map(str, script("image", name, code)))

    return image


@pytest.fixture
def said(record, lines):
    """Return the lines that are said of a shell's command line, less the name."""

    def said(text, *options, **more):
        done = record("-o", "out", *options, "sh", "-c", text, **more)
        each = [line for line in lines(done.stderr) if line.startswith("okprof: ")]
        return [line.removeprefix("okprof: ") for line in each]

    return said


@pytest.mark.spec("REC-8")
def test_one_report(said, image, tmp_path):
    """One report is named, with how it is read."""
    (line,) = said(image("a.ok"))
    (path,) = (tmp_path / "out").iterdir()
    assert line == f"1 report (a.ok) in out/{path.name}; to read: okprof report out"


@pytest.mark.spec("REC-8")
def test_many_reports(said, image):
    """Reports are counted by image, and a long list is shortened."""
    names = ["a.ok", "a.ok", "b.ok"]
    assert said("; ".join(map(image, names))) == [
        "3 reports (a.ok 2, b.ok) in out; to read: okprof report out"
    ]
    names = [f"{letter}.ok" for letter in "abcdefg"]
    (line,) = said("; ".join(map(image, names)), "-o", "b")
    assert line == (
        "7 reports (a.ok, b.ok, c.ok, d.ok, e.ok, and 2 more) in b; to read: okprof report b"
    )


@pytest.mark.spec("REC-8")
@pytest.mark.parametrize("name", ["-o ut", "it's\n\x1b1", "a:b", "\udcff", "ü", "\\x41"])
def test_line_can_be_run(said, image, command, tmp_path, name):
    """What the line says is a command for the shell, whatever the directory is called."""
    (line,) = said(image("a.ok"), "-o", name)
    words = line.partition("; to read: okprof ")[2]
    read = subprocess.run(
        ["bash", "-c", f"{command('okprof')} {words}"], cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert (read.returncode, b"a.ok" in read.stdout) == (0, True)


@pytest.mark.spec("REC-9")
def test_other_runs(said, image, write_report, begin_report, tmp_path):
    """Where the directory had reports those of this run alone are told, and read one by one."""
    folder = tmp_path / "out"
    folder.mkdir()
    for edits in ({}, {"run": "another"}):
        write_report(folder, **edits)
        begin_report(folder, **edits)
        begin_report(folder, running=True, **edits)
    (folder / "okprof-broken.json").write_text("{")
    (folder / ".okprof-broken.part").write_text("")
    time.sleep(0.1)
    (line,) = said(image("a.ok"))
    assert re.fullmatch(
        r"1 report \(a.ok\) in out \(which has 2 of other runs\);"
        r" to read: okprof report out/okprof-\w+-\w+-\w+.json",
        line,
    )


@pytest.mark.spec("REC-9")
def test_two_at_a_time(okprof, lines, image, reports, tmp_path):
    """Of two that write into one directory each tells its own."""
    processes = [
        subprocess.Popen(
            okprof("-o", "out", "sh", "-c", image(name)), cwd=tmp_path, stderr=subprocess.PIPE
        )
        for name in ("a.ok", "b.ok")
    ]
    errors = [process.communicate()[1] for process in processes]
    for name, error in zip(("a.ok", "b.ok"), errors, strict=True):
        (line,) = lines(error)
        assert line.startswith(f"okprof: 1 report ({name}) in out")
    assert reports()["a.ok"]["run"] != reports()["b.ok"]["run"]


@pytest.mark.spec("REC-9")
def test_nested(said, okprof, image):
    """One that is recorded in another has the reports that it asks for, and the other has not."""
    inner = shlex.join(okprof("-o", "inner", "sh", "-c", image("a.ok")))
    first, second = said(f"{inner}; {image('b.ok')}")
    assert first.startswith("1 report (a.ok) in inner/")
    assert second.startswith("1 report (b.ok) in out/")


@pytest.mark.spec("REC-10")
def test_ended_early(said, image):
    """Images that a signal or an abort ended are named, with what ended them."""
    ends = [
        ("abort", 134, 6), ("signal", 139, 11), ("signal", 163, 35), ("exit", 3, None),
        ("return", 1, None),
    ]  # fmt: skip
    code = "report['ended'] = dict(by='{}', status={}, signal={})"
    runs = [image(f"{by}-{status}", code.format(by, status, number)) for by, status, number in ends]
    _, line = said("; ".join(runs))
    assert re.fullmatch(
        r"ended early: abort-134 \(pid \d+, SIGABRT\), signal-139 \(pid \d+, SIGSEGV\),"
        r" signal-163 \(pid \d+, signal 35\)",
        line,
    )


@pytest.mark.spec("REC-10")
def test_killed(said, image, tmp_path):
    """One that left no report is told, with what it has left, also beside one that did."""
    (line,) = said(image("a.ok", KILLED))
    (path,) = (tmp_path / "out").iterdir()
    number = path.name.split("-")[2]
    what = f"killed, or could not write its report: a.ok (pid {number}) out/{path.name}"
    assert line == what
    first, second = said(f"{image('b.ok')}; {image('c.ok', KILLED)}")
    assert first.startswith("1 report (b.ok) in out/")
    assert re.fullmatch(r"killed.*: c.ok \(pid \d+\) out/\.okprof-[\w-]+\.part", second)


@pytest.mark.spec("REC-10")
def test_running(said, image, tmp_path):
    """One that outlives the command is told to run, and this process does not wait for it."""
    os.mkfifo(tmp_path / "go")
    run = image("late.ok", "open('up', 'w'); open('go').read()")
    lines = said(f"{run} >&- 2>&- & while ! test -e up; do sleep 0.02; done; {image('a.ok')}")
    (tmp_path / "go").write_text("")
    assert lines[0].startswith("1 report (a.ok) in out/")
    assert re.fullmatch(r"still running, its report is to come: late.ok \(pid \d+\)", lines[1])


@pytest.mark.spec("REC-10")
def test_headless(said):
    """What was begun in this time and has no head is told; the system may have lost it."""
    assert said("touch out/.okprof-1.part") == [
        "a report was begun, and does not tell of what: out/.okprof-1.part"
    ]


@pytest.mark.spec("REC-10")
def test_broken_report(said, image, tmp_path):
    """A report of this run that cannot be read is told."""
    code = "report['ended'] = 5"
    (line,) = said(image("a.ok", code))
    assert line.startswith("a report was begun, and does not tell of what: out/okprof-")


@pytest.mark.spec("REC-10")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rm -r out", "No such file or directory"),
        ("rm -r out; mkdir out", "something else took its place"),
        ("rm -r out; touch out", "something else took its place"),
    ],
)
def test_directory_taken_away(said, text, reason):
    """Where the directory has gone reports may be missing."""
    assert said(text) == [f"out: {reason}: reports may be missing"]


@pytest.mark.spec("REC-10")
def test_directory_exchanged(said, image):
    """Reports are told of what lies at the path in the end, and that more may be missing."""
    first, second = said(f"{image('a.ok')}; cp -r out kept; rm -r out; mv kept out")
    assert first.startswith("1 report (a.ok) in out/")
    assert second == "out: something else took its place: reports may be missing"


@pytest.fixture
def on_disk(okprof, lines, tmp_path):
    """Return the lines that are said of a shell's command line on a small disk of its own."""
    (tmp_path / "disk").mkdir()

    def on_disk(text, options="size=128k", before=":"):
        words = shlex.join(okprof("-o", "disk", "sh", "-c", text))
        mount = f"mount -t tmpfs -o {options} none disk && {before} && exec {words}"
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", mount], cwd=tmp_path, stderr=subprocess.PIPE
        )
        return done.returncode, lines(done.stderr)

    return on_disk


FILL = "cat /dev/zero >disk/zero 2>&-"


@pytest.mark.spec("REC-10")
def test_disk_that_fills(on_disk, image):
    """A disk that is full at the end is told: reports may be missing."""
    assert on_disk(f"{FILL}; exit 9") == (
        9,
        ["okprof: disk: No space left on device: reports may be missing"],
    )
    status, (first, second) = on_disk(f"{image('a.ok')}; {FILL}; exit 9")
    assert status == 9
    assert first.startswith("okprof: 1 report (a.ok) in disk/")
    assert second == "okprof: disk: No space left on device: reports may be missing"


@pytest.mark.spec("REC-2", "REC-12")
@pytest.mark.parametrize(
    ("options", "before", "reason"),
    [
        ("size=128k", f"{{ {FILL}; true; }}", "No space left on device"),
        ("ro", ":", "Read-only file system"),
    ],
)
def test_disk_that_takes_nothing(on_disk, tmp_path, options, before, reason):
    """Where nothing can be written nothing is run: what is measured would be lost."""
    assert on_disk("touch ran", options, before) == (
        125,
        [f"okprof: the directory for the reports: disk: {reason}"],
    )
    assert not (tmp_path / "ran").exists()


@pytest.mark.spec("REC-2", "REC-12")
def test_what_is_no_disk(okprof, tmp_path):
    """Of a file system that has no files without a name it is known, too, that it takes nothing."""
    (tmp_path / "queues").mkdir()
    words = shlex.join(okprof("-o", "queues", "touch", "ran"))
    mount = f"mount -t mqueue none queues && {words}; status=$?; ls -A queues; exit $status"
    done = subprocess.run(
        ["unshare", "-rmi", "sh", "-c", mount], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("okprof: the directory for the reports: queues: ")
    assert not (tmp_path / "ran").exists()


@pytest.mark.spec("REC-11")
def test_other_files(said, image, tmp_path):
    """Of heaps and of names for perf the files are told that there are."""
    code = (
        "report['heap'] = HEAP | dict(file='dhat-heap-1.json'); open('out/dhat-heap-1.json', 'w');"
        " open(f'/tmp/perf-{os.getpid()}.map', 'w')"
    )
    first, second, third = said(image("a.ok", code), "--what", "heap,perfmap")
    assert first.startswith("1 report (a.ok) in out/")
    assert second == "heap: out/dhat-heap-1.json"
    name = re.fullmatch(r"perf map: (/tmp/perf-\d+\.map)", third)[1]
    os.unlink(name)
    (line,) = said(image("a.ok"), "--what=perfmap", "-o", "other")
    assert line.startswith("1 report (a.ok) in other/")
