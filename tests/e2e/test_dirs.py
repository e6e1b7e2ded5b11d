"""The directories that an image is given, and its own name: --dir, --dir-fd, --no-dir, --argv0."""

import os
import subprocess

import pytest

import okrun
from okld.base.errors import Unreadable
from okrun.measuring import Usage


@pytest.fixture
def place(tmp_path):
    """Return a directory with two in it, each of them with a file that says its name."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "who").write_text(name)
    return tmp_path


@pytest.mark.spec("FS-1")
@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param([], [".", "/"], id="by default"),
        pytest.param(["--dir", "one"], ["one"], id="one, under its path"),
        pytest.param(["--dir=one"], ["one"], id="with an equals sign"),
        pytest.param(["--dir", "one=a name", "--dir", "two=."], ["a name", "."], id="named"),
        pytest.param(["--dir", "one=a", "--dir", "one=a"], ["a", "a"], id="twice the same"),
        pytest.param(["--dir", "./one=x=y"], None, id="split at the last sign: ./one=x is none"),
        pytest.param(["--no-dir"], [], id="none"),
        pytest.param(["--no-dir", "--dir", "two"], ["two"], id="none but one"),
        pytest.param(["--dir", "one=\udcff"], ["\udcff"], id="a name that is no text"),
    ],
)
def test_directories_are_given_in_their_order(run_on_each, one_line, place, options, names):
    """The image finds the directories that were named, under their names, and no others."""
    done = run_on_each("dirs", options=options, cwd=place)
    if names is None:
        assert (done.returncode, done.stdout) == (125, b"")
        one_line(done.stderr)
    else:
        out = b"".join(os.fsencode(name) + b"\n" for name in names)
        assert (done.returncode, done.stdout, done.stderr) == (0, out, b"")


@pytest.mark.spec("FS-1", "RUN-8")
def test_a_directory_that_is_open_already(run, one_line, place):
    """--dir-fd gives what a descriptor has open; what is none is status 125 and one line."""
    fd = os.open(place / "two", os.O_RDONLY)
    other = os.open(place / "two/who", os.O_RDONLY)
    done = run(
        "dirs", "who", options=["--dir", "one", "--dir-fd", f"{fd}=x=y"], pass_fds=[fd], cwd=place
    )
    assert (done.returncode, done.stdout) == (0, b"x=y\none\none")
    done = run("dirs", "who", options=["--dir-fd", f"{fd}=."], pass_fds=[fd])
    assert (done.returncode, done.stdout) == (0, b".\ntwo")
    words = (
        f"{fd}",
        f"{fd}=",
        "=x",
        "x=y",
        "1=x",
        "-1=x",
        "٣=x",
        "999=x",
        f"{other}=x",
        "9" * 30 + "=x",
    )
    for word in words:
        done = run("dirs", options=["--dir-fd", word], pass_fds=[fd, other])
        assert (done.returncode, done.stdout) == (125, b"")
        one_line(done.stderr)
    os.close(fd)
    os.close(other)


@pytest.mark.spec("FS-1", "STAT-1")
@pytest.mark.parametrize("word", ["none", "one/who", "=x", "one=", ""])
def test_what_is_no_directory_is_status_125(run, one_line, place, word):
    """A directory that cannot be given is one line, and not that there is no image."""
    done = run("dirs", options=["--dir", word], cwd=place)
    assert (done.returncode, done.stdout) == (125, b"")
    assert "--dir" in one_line(done.stderr)


@pytest.mark.spec("FS-1")
def test_so_many_directories_and_no_more(run, one_line, place):
    """64 can be given."""
    done = run("dirs", options=["--dir", "one"] * 64, cwd=place)
    assert (done.returncode, done.stdout) == (0, b"one\n" * 64)
    done = run("dirs", options=["--dir", "one"] * 65, cwd=place)
    assert done.returncode == 125
    assert "64" in one_line(done.stderr)


@pytest.mark.spec("FS-1", "RUN-8")
def test_directories_above_the_standard_streams(run, place):
    """Where standard input was closed, no directory takes its place."""
    words = run.words("dirs", "who", options=["--dir", "one"])
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", *words]
    done = subprocess.run(shell, cwd=place, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"one\none"


@pytest.mark.spec("FS-1")
def test_a_directory_that_may_only_be_passed_through(run, place):
    """A directory without permission to list it can be given where its files may be opened."""
    (place / "one").chmod(0o111)
    done = run("dirs", "who", options=["--dir", "one"], cwd=place)
    assert (done.returncode, done.stdout) == (0, b"one\none")


@pytest.mark.spec("FS-1")
def test_directories_of_the_library(run, place):
    """`okrun.run` gives what `dirs` names, each as a word or as a pair, and leaves nothing open."""
    image = run.image("dirs")

    def names(dirs):
        return okrun.run(image, dirs=dirs, stdout=subprocess.PIPE).stdout

    one, two = str(place / "one"), str(place / "two")
    before = os.listdir("/proc/self/fd")
    assert names([(one, "a=b"), f"{two}=c"]) == b"a=b\nc\n"
    assert names(()) == b""
    assert names(None) == b".\n/\n"
    for bad in ([(one, "")], [("", "x")], [(one, "a\0b")], [f"{one}\0=x"], [one] * 65, [""]):
        with pytest.raises(Usage):
            names(bad)
    for bad in ([one, two + "/who"], [one, "/none"]):
        with pytest.raises(Unreadable):
            names(bad)
    with pytest.raises(Unreadable):
        okrun.run(place / "none.ok", dirs=[one])
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.spec("KAL-4")
@pytest.mark.parametrize("name", ["", "another", "\udcff x", "-v"])
def test_its_own_name(run_on_each, name):
    """--argv0 is what the image gets as its own name, whatever bytes, also none."""
    done = run_on_each("arguments", "x", options=["--argv0", name])
    assert (done.returncode, done.stdout) == (0, os.fsencode(name) + b"\nx\n")
