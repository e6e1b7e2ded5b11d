"""Another implementation of the surface is bound in place of the native one."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import okrun

INCLUDE = Path(__file__).parents[2] / "okld/sdk/include"
NATIVE = {
    "minor version": 20,
    "exec": 3,
    "space": 3,
    "map": 1,
    "prof": 1,
    "debug": 1,
    "granularity": os.sysconf("SC_PAGESIZE"),
    "info": 0,
    "present": 0x1F,
    "kind": 2,
}
"""What the image `meets` sees of the native implementation: SURFACE and KAL clauses."""

LESSER = NATIVE | {
    "minor version": 19,
    "exec": 0,
    "space": 0,
    "granularity": 65536,
    "present": 0x0F,
}
"""What lesser.c makes of it."""


def said(done):
    """Return what `meets` says, by name."""
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [line.rpartition(" ") for line in done.stdout.decode().splitlines()]
    return {name: int(value) for name, _, value in lines}


def report_in(folder):
    (file,) = folder.glob("okprof-*.json")
    return json.loads(file.read_text())


def counts_in(report):
    return {call["name"]: call["count"] for call in report["calls"]}


@pytest.fixture(
    params=[[], ["--prof=count:out"], ["--prof=calls:out"]], ids=["off", "count", "calls"]
)
def prof(request):
    """Return the options of a run that is not measured, and of two that are."""
    return request.param


@pytest.mark.spec("IMPL-1", "BIND-3", "BIND-4", "KAL-8")
def test_one_image_meets_both(runners, library, prof, tmp_path):
    """
    One image, built once, sees the answers of each implementation that it meets; functions of an
    interface that is not answered are null.
    """
    libraries = [None, library("native", runners.machine), library("lesser", runners.machine)]
    for path, expected in zip(libraries, (NATIVE, NATIVE, LESSER), strict=True):
        done = runners(path)("meets", options=prof, cwd=tmp_path)
        assert said(done) == expected
    reports = [json.loads(file.read_text()) for file in tmp_path.glob("out/okprof-*.json")]
    assert len(reports) == (3 if prof else 0)
    assert all(counts_in(report)["kal_fs_info"] == 1 for report in reports)


@pytest.mark.spec("IMPL-1", "BIND-2", "NOTE-4", "STAT-1")
@pytest.mark.parametrize(
    ("image", "what", "rule"),
    [
        ("needs-space", "openkal.space", "BIND-2"),
        ("needs-later", "openkal 0.20.0 (host answers 0.19.0)", "NOTE-4"),
    ],
)
def test_an_image_that_needs_more(runners, library, one_line, prof, tmp_path, image, what, rule):
    """
    An image that requires what the implementation lacks, or a later version, is refused before it
    runs, and nothing is reported of it; the native implementation runs it.
    """
    assert runners()(image).stdout == b"ran\n"
    done = runners(library("lesser", runners.machine))(image, options=prof, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (126, b"")
    assert what in one_line(done.stderr)
    assert f"[{rule}]" in one_line(done.stderr)
    assert not (tmp_path / "out").exists()


@pytest.mark.spec("IMPL-1", "BIND-3")
def test_a_function_that_is_not_exported(run, runners, library, one_line):
    """
    A function of an interface that is answered may still not be in the library: then a strong
    import is refused by its name, and a weak one is null.
    """
    whole = runners(library("lesser", runners.machine))("random")
    assert whole.stdout == b"filled\nprops\n"
    optional = library("lesser", runners.machine, ("kal_random_props",))
    assert runners(optional)("random").stdout == b"filled\nno props\n"
    required = library("lesser", runners.machine, ("kal_random_fill",))
    done = runners(required)("random")
    assert (done.returncode, done.stdout) == (126, b"")
    assert "kal_random_fill" in one_line(done.stderr)
    assert "[BIND-3]" in one_line(done.stderr)


@pytest.mark.spec("IMPL-1", "IMPL-3", "BIND-5")
@pytest.mark.parametrize(
    ("image", "called", "ended"),
    [
        pytest.param("bare", b"kal_exit 44", ("return", 44, None), id="main returns"),
        pytest.param("bare-exit", b"kal_exit 300", ("exit", 44, None), id="kal_exit"),
        pytest.param("bare-abort", b"kal_abort enough", ("abort", 134, 6), id="kal_abort"),
    ],
)
@pytest.mark.parametrize("what", ["", "counters", "count", "calls"])
def test_ends(runners, library, tmp_path, image, called, ended, what):
    """
    However the image ends the implementation ends the process, after the report is written; prof
    is the runner's, and what is not measured is bound to the library's functions themselves.
    """
    options = [f"--prof={what}:out"] if what else []
    done = runners(library("told", runners.machine))(image, options=options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (77, b"")
    how = b"by way of another" if what in ("count", "calls") else b"itself"
    state = b"measured" if what else b"plain"
    assert done.stdout.splitlines()[-2:] == [b"bound %s %s" % (how, state), called]
    if what:
        report = report_in(tmp_path / "out")
        assert tuple(report["ended"].values()) == ended
        assert report["counters"] == [{"name": "cell", "value": 7}]
        ends = {
            name: n for name, n in counts_in(report).items() if name in ("kal_exit", "kal_abort")
        }
        assert sum(ends.values()) == (what != "counters" and image != "bare")


@pytest.mark.spec("IMPL-4", "RUN-6", "FS-1")
@pytest.mark.parametrize("given", [True, False], ids=["given directories", "by default"])
def test_what_a_library_is_told(runners, library, tmp_path, given):
    """
    okrun_impl_begin learns the arguments, the environment, the directories, the command that starts
    images, and the stack.
    """
    (tmp_path / "one").mkdir()
    options = ["--dir", f"{tmp_path}/one=first", "--dir", tmp_path] if given else []
    here, root = os.stat(tmp_path).st_ino, os.stat(runners.root).st_ino
    directories = [("first", os.stat(tmp_path / "one").st_ino), (str(tmp_path), here)]
    if not given:
        directories = [(".", here), ("/", root)]
    path = library("told", runners.machine)
    env = {"EMPTY": "", "PATH": os.environ["PATH"]}
    runner = runners(path)
    image = runner.image("bare")
    done = runner(image, "", "\udcff b", options=options, cwd=tmp_path, env=env)
    lines = done.stdout.decode(errors="surrogateescape").splitlines()[:-2]

    def take(what):
        name, _, count = lines.pop(0).rpartition(" ")
        assert name == what
        return [lines.pop(0) for _ in range(int(count))]

    assert lines.pop(0) == "size 80"
    assert take("arguments") == [str(image), "", "\udcff b"]
    assert {"EMPTY=", f"PATH={env['PATH']}"} <= set(take("variables"))
    words = take("runner")
    assert words[words.index("--impl") + 1] == str(path)
    assert take("directories") == [f"{name} {inode}" for name, inode in directories]
    assert lines == [f"stack {8 << 20}"]


@pytest.mark.spec("IMPL-1")
def test_a_library_need_not_ask(run, library, tmp_path):
    """A library that exports no okrun_impl_begin is one all the same."""
    source = tmp_path / "quiet.c"
    source.write_text(
        "unsigned long kal_version(void) { return 0x140000; }\n"
        "unsigned long kal_interfaces(void) { return 3; }\n"
        "long kal_stream_write(void *s, const char *text, unsigned long size)\n"
        "{ long write(int, const void *, unsigned long); return s ? write(1, text, size) : 0; }\n"
    )
    quiet = shared(tmp_path / "quiet.so", source)
    done = run("bare", options=["--impl", quiet], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (300 & 255, b"plain\n", b"")


@pytest.mark.spec("IMPL-5", "PROF-2")
@pytest.mark.parametrize("what", ["count", "calls"])
@pytest.mark.parametrize("name", ["native", "lesser"])
def test_counts_of_eight_tasks(runners, library, tmp_path, name, what):
    """
    Threads that the library starts, eight at once and three times, lose no call, with the ended
    ones' among them.
    """
    runner = runners(library(name, runners.machine))
    done = runner("eight", options=[f"--prof={what}:out"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    counts = counts_in(report_in(tmp_path / "out"))
    assert counts["kal_time_monotonic"] == 8 * 3 * 1000
    assert (counts["kal_task_start"], counts["kal_task_join"], counts["kal_exit"]) == (24, 24, 1)


@pytest.mark.spec("IMPL-5", "REP-1")
def test_a_copy_that_a_library_makes(runners, library, tmp_path):
    """A copy of the process has a report of its own, with what it called and nothing else."""
    runner = runners(library("native", runners.machine))
    done = runner("copies", options=["--prof=count:out"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, b"copy\nmaker\n")
    reports = [json.loads(file.read_text()) for file in tmp_path.glob("out/okprof-*.json")]
    by_status = {report["ended"]["status"]: report for report in reports}
    assert len(reports) == 2
    assert counts_in(by_status[3]) == {"kal_exit": 1, "kal_stdout": 1, "kal_stream_write": 1}
    assert counts_in(by_status[4])["kal_space_start"] == 1
    assert by_status[3]["pid"] != by_status[4]["pid"]


@pytest.mark.spec("IMPL-6")
def test_a_started_image_meets_the_same(runners, library, tmp_path):
    """An image that an image starts meets the same implementation, from wherever it was started."""
    path = library("lesser", runners.machine)
    shutil.copy(path, tmp_path / "lib.so")
    (tmp_path / "inner").mkdir()
    runner = runners(Path("lib.so"))
    inner = runner.image("meets")
    options = ["--dir", f"{tmp_path}/inner=.", "--dir", "/"]
    done = runner("starts", str(inner), options=options, cwd=tmp_path)
    assert said(done) == LESSER


@pytest.mark.spec("CRASH-1", "IMPL-1")
def test_a_crash_in_an_image(runners, library, run):
    """A fault is reported as without a library, with the same way to it."""
    frames = []
    for path in (None, library("native", runners.machine)):
        done = runners(path)("crash")
        lines = done.stderr.decode().splitlines()
        frames.append([line for line in lines if re.match(r"    #|okld|okrun:", line)])
    assert len(frames[0]) > 5
    assert frames[0] == frames[1]


@pytest.mark.spec("CRASH-1", "IMPL-1")
def test_an_abort_of_a_librarys(run, library):
    """The way from the image to where the library aborts is told, by whom each step is."""
    done = run("ends", "abort", "0", options=["--impl", library("native")])
    assert done.returncode == -6
    lines = [line.strip() for line in done.stderr.decode().splitlines()]
    assert lines[0] == "ends was told to abort"
    assert lines[1] == f"okrun: {run.image('ends').name}: SIGABRT"
    assert lines[3] == "#0 implementation"
    assert any(re.fullmatch(r"#\d main\+0x\w+ \(.*\)", line) for line in lines)


@pytest.mark.spec("IMPL-1")
def test_from_the_library(library, tmp_path, run):
    """okrun.run takes an implementation, too."""
    done = okrun.run(run.image("meets"), impl=str(library("lesser")), stdout=subprocess.PIPE)
    assert b"minor version 19\n" in done.stdout
    done = okrun.run(run.image("meets"), stdout=subprocess.PIPE)
    assert b"minor version 20\n" in done.stdout


@pytest.mark.spec("IMPL-1")
def test_nothing_stands_for_the_library(command):
    """No function of the host program's can come between a library and its own."""
    words = ["nm", "-D", "--defined-only", command("okhost-impl")]
    assert "kal_" not in subprocess.check_output(words, text=True)


@pytest.mark.spec("IMPL-4", "SURF-3")
@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_header_stands_alone(compiler, language):
    """The header for libraries needs no other, in either language."""
    flags = ["-nostdinc", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    text = "#include <okrun/impl.h>\n#include <okrun/impl.h>\nstruct okrun_impl impl;\n"
    words = [compiler, "-x", language, *flags, "-I", INCLUDE, "-fsyntax-only", "-"]
    subprocess.run(words, input=text, text=True, check=True)


def shared(path, source, *options):
    """Compile a library that is no implementation."""
    words = ["gcc", "-shared", "-fPIC", "-w", source, *options, "-o", path]
    subprocess.run(words, check=True)
    return path


def make_missing(path):
    return os.strerror(2)


def make_directory(path):
    path.mkdir()
    return os.strerror(21)


def make_text(path):
    path.write_text("INPUT(libkal.a)\n")
    return "not a shared object"


def make_program(path):
    subprocess.run(
        ["gcc", "-no-pie", "-x", "c", "-", "-o", path], input=b"int main(void) {}", check=True
    )
    return "not a shared object"


def make_foreign(path):
    words = ["aarch64-linux-gnu-gcc", "-shared", "-nostdlib", "-x", "c", "-", "-o", path]
    subprocess.run(words, input=b"int kal_version;", check=True)
    return "it is for aarch64, the host program for x86_64"


def make_cut(path):
    path.write_bytes(Path("/bin/true").read_bytes()[:200])
    return str(path)


def make_undefined(path):
    source = path.with_suffix(".c")
    source.write_text(
        "void nowhere(void); unsigned long kal_version(void) { nowhere(); return 0; }"
    )
    shared(path, source)
    return "undefined symbol: nowhere"


def make_needy(path):
    source = path.with_suffix(".c")
    source.write_text("")
    other = shared(path.with_name("libother.so"), source)
    shared(path, source, "-Wl,--no-as-needed", other)
    other.unlink()
    return "libother.so"


def make_other(path):
    source = path.with_suffix(".c")
    source.write_text("unsigned long kal_version(void) { return 0x140000; }")
    shared(path, source)
    return "it exports no kal_interfaces"


@pytest.mark.spec("IMPL-2", "STAT-1")
@pytest.mark.parametrize(
    "make",
    [
        make_missing, make_directory, make_text, make_program, make_foreign, make_cut,
        make_undefined, make_needy, make_other,
    ],
    ids=lambda make: make.__name__.removeprefix("make_"),
)  # fmt: skip
def test_what_is_no_implementation(run, one_line, tmp_path, make):
    """A library that cannot be bound is status 125 and one line that names it and says why."""
    path = tmp_path / "\x1b[2Jlib.so"
    why = make(path)
    done = run("meets", options=["--impl", path, "--prof=calls:out"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (125, b"")
    line = one_line(done.stderr)
    assert r"\x1b[2Jlib.so" in line
    assert why.replace("\x1b", r"\x1b") in line
    assert "[IMPL-2]" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.spec("IMPL-7", "STAT-1")
def test_a_host_program_that_binds_no_library(run, library, command, one_line):
    """With --impl, --host names one that binds libraries; any other says that it does not."""
    options = ["--impl", library("native")]
    assert said(run("meets", options=[*options, "--host", command("okhost-impl")])) == NATIVE
    done = run("meets", options=[*options, "--host", command("okhost")])
    assert (done.returncode, done.stdout) == (125, b"")
    assert "okhost-impl [IMPL-7]" in one_line(done.stderr)
    done = run("meets", options=["--host", command("okhost-impl")])
    assert (done.returncode, done.stdout) == (125, b"")
    assert "[IMPL-7]" in one_line(done.stderr)


@pytest.mark.spec("IMPL-2", "STAT-2")
def test_a_host_program_that_is_missing(run, library, one_line, tmp_path):
    """Where --host names nothing the line says so, with a library as without one."""
    done = run("meets", options=["--impl", library("native"), "--host", tmp_path / "none"])
    assert done.returncode == 125
    assert "[STAT-2]" in one_line(done.stderr)
