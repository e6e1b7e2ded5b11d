"""openkal.process: programs of the system that an image starts."""

import os
import re
import subprocess

import pytest
from starting import compile_program, records, words

NOT_SUPPORTED, NOT_FOUND = 7, 9
PERMISSION, IS_DIRECTORY, NOT_DIRECTORY = 6, 12, 13


@pytest.fixture
def leaked():
    """Return descriptors that somebody left open, low and high ones."""
    fds = list(os.pipe())
    fds += [os.dup2(fds[0], number) for number in (51, 99)]
    yield fds
    for fd in fds:
        os.close(fd)


@pytest.mark.spec("PROC-2", "RUN-8")
def test_nothing_else_is_open(run, prof, leaked, tmp_path):
    """A program has three streams and its grants, an image what it is in, beside; no more."""
    grants = words("g", ["/etc=a", "/usr=b"])
    more = {"options": prof, "cwd": tmp_path, "pass_fds": leaked}
    done = run("start", *grants, "/bin/ls", "/proc/self/fd", **more)
    assert (done.stdout, done.stderr) == (b"0\n1\n2\n3\n4\n5\n", b"ended 0\n")  # 5: of the listing
    image = run.image("show")
    done = run("start", "-g", "/proc=proc", image, **more)
    places = records(done.stdout)["f"]
    own = re.compile(rb"/proc/\d+/fd")  # which it lists
    assert places[0] == b"/dev/null"
    assert {p for p in places[3:] if not own.fullmatch(p)} == {b"/proc", os.fsencode(image)}


@pytest.mark.spec("PROC-2")
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_streams_that_are_closed(run, closed, tmp_path):
    """A stream that was closed before the start is closed in what an image starts, too."""
    script = f"for i in 0 1 2 3 4; do [ -e /proc/$$/fd/$i ] && s=$s$i; done; echo $s > {tmp_path}/s"

    def close():
        for fd in closed:
            os.close(fd)

    run("start", "/bin/sh", "-c", script, preexec_fn=close)
    left = "".join(str(fd) for fd in range(3) if fd not in closed)
    assert (tmp_path / "s").read_text() == f"{left}\n"


@pytest.mark.spec("PROC-2")
def test_streams_change_places(run, tmp_path):
    """Each stream of a program may be any of the image's, one also several times."""
    names = "$(for i in 0 1 2; do basename $(readlink /proc/$$/fd/$i); done)"
    script = f"s={names}; echo $s > {tmp_path}/s"
    a, b, c = (tmp_path / name for name in "abc")
    with a.open("w+") as stdin, b.open("w") as stdout, c.open("w") as stderr:
        for places, expected in (("102", "b a c"), ("120", "b c a"), ("111", "b b b")):
            more = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
            run("start", "-s", places, "/bin/sh", "-c", script, **more)
            assert (tmp_path / "s").read_text() == f"{expected}\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Return programs by kind, which end with status 3."""
    folder = tmp_path_factory.mktemp("programs")
    source = b"int main(void) { return 3; }"
    for name, flags in (
        ("dynamic", ["-pie", "-fPIE"]),
        ("fixed", ["-no-pie", "-fno-pie"]),
        ("static", ["-static", "-fno-pie", "-no-pie"]),
        ("static-pie", ["-static-pie", "-fPIE"]),
    ):
        compile_program(source, folder / name, *flags)
    (folder / "script").write_text(f"#!{folder}/static-pie\n")
    (folder / "script").chmod(0o755)
    return folder


@pytest.mark.spec("PROC-3")
@pytest.mark.parametrize("kind", ["dynamic", "fixed", "static", "static-pie", "script"])
def test_programs_of_the_system(run, programs, kind):
    """What the system can start is started by the system."""
    assert run("start", programs / kind).stderr == b"ended 3\n"


@pytest.mark.spec("PROC-3")
def test_the_systems_loader(run, programs):
    """A dynamic loader is a program: it is started as one, although it looks like a library."""
    readelf = ["readelf", "-l", programs / "dynamic"]
    said = subprocess.run(readelf, capture_output=True, check=True).stdout
    loader = said.split(b"program interpreter: ")[1].split(b"]")[0]
    assert run("start", loader, programs / "dynamic").stderr == b"ended 3\n"


@pytest.mark.spec("PROC-1")
def test_what_cannot_be_started(run, tmp_path):
    """What is no program is an error of its own kind, and nothing was started."""
    (tmp_path / "text").write_text("no program\n")
    (tmp_path / "garbage").write_text("no program\n")
    (tmp_path / "garbage").chmod(0o755)
    (tmp_path / "script").write_text("#!/nowhere/sh\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "link").symlink_to("link")
    os.mkfifo(tmp_path / "fifo", 0o777)
    for name, error in (
        ("nothing", NOT_FOUND),
        ("text", PERMISSION),
        ("garbage", NOT_SUPPORTED),
        ("script", NOT_FOUND),
        ("link", NOT_FOUND),
        ("fifo", PERMISSION),
        (".", IS_DIRECTORY),
        ("text/x", NOT_DIRECTORY),
    ):
        path = tmp_path if name == "." else tmp_path / name
        done = run("start", path)
        assert (done.stdout, done.stderr) == (b"", b"error %d\n" % error), name


@pytest.mark.spec("PROC-1")
@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([131_071], b"ended 0\n"),  # with its NUL what the system has for one
        ([131_072], b"error 1\n"),
        ([131_071] * 8, b"ended 0\n"),
        ([131_071] * 60, b"error 1\n"),  # more than it ever has for all
    ],
)
def test_more_arguments_than_there_may_be(run, sizes, said):
    """Arguments that are too long for the system are refused, and nothing was started."""
    assert run("start", *words("l", map(str, sizes)), "/bin/true").stderr == said
