"""The map of an image's code that perf reads. What it must say is nm's word."""

import os
import re
import resource
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

PERFMAP = ["--prof=perfmap:out"]


def functions_of(image):
    """Return (start, size, name) of functions, by nm; one without a size ends at the next."""
    nm = ["nm", "--numeric-sort", "--print-size", image]
    lines = subprocess.run(nm, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split() for line in lines if re.search(r" [tTwW] [^$]", line)]
    starts = [int(words[0], 16) for words in found]
    ends = [*starts[1:], None]
    return [
        (start, int(words[1], 16) if len(words) == 4 else end - start, words[-1])
        for start, end, words in zip(starts, ends, found, strict=True)
    ]


def lines_of(path):
    """Return (start, size, name) of each line of a map."""
    line = re.compile(r"([0-9a-f]+) ([0-9a-f]+) (.+)")
    lines = list(map(line.fullmatch, path.read_text().split("\n")))
    assert lines.pop() is None  # what follows the last line's end
    return [(int(line[1], 16), int(line[2], 16), line[3]) for line in lines]


def moved(functions, main):
    """Return functions as they lie in memory, where `main` is known to be."""
    (linked,) = [start for start, _, name in functions if name == "main"]
    return [(start - linked + main, size, name) for start, size, name in functions]


@pytest.mark.spec("PMAP-1", "PMAP-2", "PROF-1", "PROF-4")
def test_every_function_is_where_it_runs(run_on_each, map_of, reports_in, tmp_path):
    """The map has each function once, at its address, with its size, and no other line."""
    process = run_on_each.start("placed", options=PERFMAP, cwd=tmp_path, stdout=subprocess.PIPE)
    path = map_of(process.pid)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    functions = functions_of(run_on_each.image("placed"))
    assert {"unsized", "next_one", "_ZN3app4spinEv", "main"} <= {name for _, _, name in functions}
    assert lines_of(path) == moved(functions, int(out, 16))
    assert all(size > 0 for _, size, _ in lines_of(path))
    (report,) = reports_in(tmp_path / "out")
    assert (report["what"], report["calls"], report["heap"]) == (["perfmap"], [], None)


@pytest.mark.spec("PMAP-3")
def test_only_its_owner_reads_it(run, map_of, tmp_path):
    """The map is a file of its owner's, readable and writable for nobody else."""
    process = run.start("placed", options=PERFMAP, cwd=tmp_path, stdout=subprocess.DEVNULL)
    path = map_of(process.pid)
    assert process.wait(60) == 3
    status = path.lstat()
    assert (stat.S_IFMT(status.st_mode), status.st_uid) == (stat.S_IFREG, os.geteuid())
    assert stat.S_IMODE(status.st_mode) == 0o600


@pytest.mark.spec("PMAP-2", "ERR-2")
def test_a_name_is_one_line(run, map_of, tmp_path):
    """Bytes of a name that would end a line, or that no terminal may see, are escaped."""
    data = run.image("placed").read_bytes()
    assert data.count(b"\0to_be_renamed\0") == 1
    image = tmp_path / "renamed.ok"
    image.write_bytes(data.replace(b"\0to_be_renamed\0", b"\0to\n\xff\x1bre \xc3\xa9\x7f\r\t\0"))
    process = run.start(image, options=PERFMAP, cwd=tmp_path, stdout=subprocess.DEVNULL)
    path = map_of(process.pid)
    assert process.wait(60) == 3
    names = [name for _, _, name in lines_of(path)]
    assert [name for name in names if name.startswith("to")] == [
        "to\\x0a\\xff\\x1bre \u00e9\\x7f\\x0d\\x09"
    ]


def plant_link(path, at):
    path.symlink_to(at)


def plant_hard_link(path, at):
    os.link(at, path)


def plant_directory(path, at):
    path.mkdir()


def plant_pipe(path, at):
    os.mkfifo(path)


def plant_dangling_link(path, at):
    path.symlink_to(f"{at}.none")


PLANTS = {
    plant.__name__.removeprefix("plant_"): plant
    for plant in (plant_link, plant_dangling_link, plant_hard_link, plant_directory, plant_pipe)
}


def check_refused(process, path, one_line):
    """Check that an image ran as ever, and that one line told of what is at the path."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, len(out)) == (3, 17)
    assert f"no perf map: {path} is not this user's own file" in one_line(err)


@pytest.mark.spec("PMAP-3", "PROF-4")
@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_what_others_planted_stays(run, map_of, one_line, tmp_path, plant):
    """What is there and not a file of this name alone is neither followed nor removed."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = run.start(
        "placed",
        options=PERFMAP,
        cwd=tmp_path,
        preexec_fn=lambda: plant(Path(f"/tmp/perf-{os.getpid()}.map"), victim),
        **pipes,
    )
    path = map_of(process.pid)
    check_refused(process, path, one_line)
    assert victim.read_text() == "precious"
    assert list(tmp_path.glob("victim*")) == [victim]
    assert os.path.lexists(path)
    assert not stat.S_ISREG(path.lstat().st_mode) or path.read_text() == "precious"


@pytest.mark.spec("PMAP-3", "PROF-4")
def test_what_is_another_users_stays(run, inside, map_of, one_line, tmp_path):
    """A file of another user is left as it is."""
    other = tmp_path / "other"
    other.write_text("another's")
    if os.geteuid() == 0:
        os.chown(other, 12345, -1)
    else:
        other = Path("/etc/passwd")
    before = other.read_bytes()
    script = ': > "/tmp/perf-$$.map"; mount --bind "$a1" "/tmp/perf-$$.map"; exec "$@"'
    words = inside(script, *run.words("placed", options=PERFMAP), arguments=[other])
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, cwd=tmp_path, **pipes)
    check_refused(process, map_of(process.pid), one_line)
    assert other.read_bytes() == before


@pytest.mark.spec("PMAP-3")
def test_what_an_earlier_process_left_is_replaced(run, map_of, tmp_path):
    """A file of this user's, of this name alone, is made anew, with none of what it was."""

    def plant():
        path = Path(f"/tmp/perf-{os.getpid()}.map")
        path.write_text("0 ffffffffffffffff everything\n")
        path.chmod(0o666)

    process = run.start(
        "placed", options=PERFMAP, cwd=tmp_path, stdout=subprocess.PIPE, preexec_fn=plant
    )
    path = map_of(process.pid)
    out, _ = process.communicate(timeout=60)
    assert lines_of(path) == moved(functions_of(run.image("placed")), int(out, 16))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.spec("PMAP-3", "PROF-4")
def test_a_folder_that_may_not_be_written(run, inside, one_line, tmp_path):
    """Where /tmp may not be written one line says so, and the image runs."""
    (tmp_path / "out").mkdir()
    read_only = "mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp"
    script = f'mount -t tmpfs none out; {read_only}; exec "$@"'
    words = inside(script, *run.words("placed", options=PERFMAP))
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, len(done.stdout)) == (3, 17)
    assert "no perf map: cannot write /tmp/perf-" in one_line(done.stderr)
    assert "Read-only file system" in one_line(done.stderr)


@pytest.mark.spec("PMAP-3", "PROF-4")
def test_a_map_that_does_not_fit(run, map_of, reports_in, one_line, command, tmp_path):
    """Of a map that cannot be written whole nothing is left; the limit's signal ends nobody."""
    source = tmp_path / "large.c"
    attribute = "__attribute__((noinline))"
    body = '{ __asm__ volatile(""); }'
    functions = "".join(f"{attribute} void function_{n}(void) {body}\n" for n in range(1000))
    calls = "".join(f"function_{n}();\n" for n in range(1000))
    source.write_text(f"{functions}int main(void) {{ {calls} return 3; }}\n")
    image = tmp_path / "large.ok"
    subprocess.run([command("okld"), "build", source, "-o", image], check=True)
    most = 8192
    process = run.start(
        image,
        options=PERFMAP,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    path = map_of(process.pid)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"no perf map: cannot write {path}: File too large" in one_line(err)
    assert not os.path.lexists(path)
    assert len(reports_in(tmp_path / "out")) == 1


@pytest.mark.spec("PMAP-1", "PROF-4")
def test_an_image_without_symbols(run, map_of, one_line, tmp_path):
    """Where there are no names one line says so; there is no map, and the image runs."""
    image = tmp_path / "bare.ok"
    subprocess.run(["objcopy", "--strip-all", run.image("placed"), image], check=True)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = run.start(image, options=PERFMAP, cwd=tmp_path, **pipes)
    path = map_of(process.pid)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, len(out)) == (3, 17)
    assert f"no perf map: {image}: it has no symbols of its code" in one_line(err)
    assert not path.exists()


@pytest.mark.spec("PMAP-1")
def test_a_copy_has_its_own(run, map_of, reports_in, tmp_path):
    """A copy of the process, which has another number, has a map of the same lines."""
    process = run.start(
        "copies", options=PERFMAP, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    original = map_of(process.pid)
    assert process.stdout.readline() == b"copy\n"
    process.communicate(timeout=60)
    assert process.returncode == 0
    pids = [report["pid"] for report in reports_in(tmp_path / "out")]
    assert pids[0] == process.pid
    copy = map_of(pids[1])
    assert lines_of(copy) == lines_of(original) != []


@pytest.mark.spec("PMAP-1")
def test_the_number_is_the_namespaces(run, inside, map_of, reports_in, tmp_path):
    """In a namespace of processes the map has the number there, by which perf looks for it."""
    words = inside('"$@"; true', *run.words("placed", options=PERFMAP), options=["-pf"])
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    (report,) = reports_in(tmp_path / "out")
    assert 1 < report["pid"] < 10
    path = map_of(report["pid"])
    assert lines_of(path) == moved(functions_of(run.image("placed")), int(out, 16))


@pytest.fixture
def perf(tmp_path):
    """Return a call that records a command and gives the report; None where perf cannot record."""
    perf = shutil.which("perf")
    assert perf is not None, "perf is not installed"
    data = tmp_path / "perf.data"
    record = [perf, "record", "-q", "-e", "cpu-clock", "-o", data, "--"]

    def call(*words):
        subprocess.run([*record, *words], cwd=tmp_path, capture_output=True, check=True)
        report = [perf, "report", "--stdio", "-i", data, "--sort=comm,sym"]
        return subprocess.run(report, capture_output=True, text=True, check=True).stdout

    trial = subprocess.run([*record, "/bin/true"], capture_output=True, check=False)
    return call if trial.returncode == 0 else None


@pytest.mark.spec("PMAP-4", "PMAP-1")
@pytest.mark.parametrize("measured", [True, False], ids=["with a map", "without"])
def test_perf_finds_the_functions(run, command, map_of, perf, reports_in, tmp_path, measured):
    """
    perf, where it can record, names the functions of an image in a bundle by the map, and by
    nothing else: without it there are none. Of an image alone it names them in either case.
    """
    bundle = tmp_path / "spin.okb"
    subprocess.run([command("okld"), "bundle", run.image("spin"), "-o", bundle], check=True)
    options = PERFMAP if measured else []
    for image, named in ((bundle, measured), (run.image("spin"), True)):
        if perf is not None:
            report = perf(*run.words(image, options=options))
            assert ("spin_inner" in report) == named
            assert re.search(r" spin\.(okb|x86_64)", report)
        else:
            assert run(image, options=options, cwd=tmp_path).returncode == 0
    reports = reports_in(tmp_path / "out")
    assert len(reports) == (2 if measured else 0)
    for report in reports:
        path = map_of(report["pid"])
        assert "spin_inner" in [name for _, _, name in lines_of(path)]
