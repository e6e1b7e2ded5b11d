"""openkal.fs as an image calls it, held to what the system says of the same files."""

import os
import subprocess

import pytest
from running import CLEAN

INVALID, AGAIN, NO_SPACE, PERMISSION, NOT_SUPPORTED, NOT_FOUND, EXISTS = 1, 2, 5, 6, 7, 9, 10
NOT_EMPTY, IS_DIRECTORY, NOT_DIRECTORY = 11, 12, 13
FILE, DIRECTORY, LINK, OTHER = 1, 2, 3, 4


@pytest.fixture(params=["plain", "measured"])
def files(request, run_on_each, tmp_path):
    """Return a call that has an image do one thing in a directory, and gives status and output."""
    place = tmp_path / "place"
    place.mkdir()
    options = ["--prof=calls:.."] if request.param == "measured" else []

    def files(command, name=".", more="", *, directory=0, options=options, data=b""):
        words = [command, str(directory), name, more]
        done = run_on_each("files", *words, options=options, cwd=place, input=data)
        assert done.stderr == b""
        return done.returncode, done.stdout

    files.place = place
    files.options = options
    return files


@pytest.mark.spec("FS-4", "FS-5", "FS-10")
def test_files_are_written_and_read(files):
    """Bytes that an image writes are in the file, and those of a file reach it, at any size."""
    data = bytes(range(256)) * 1000
    assert files("put", "a", data=data) == (0, b"")
    assert (files.place / "a").read_bytes() == data
    assert files("append", "a", data=b"end") == (0, b"")
    assert files("cat", "a") == (0, data + b"end")
    assert files("put", "a", data=b"short") == (0, b"")
    assert files("cat", "a") == (0, b"short")
    assert files("rename", "a", "b") == (0, b"")
    assert files("cat", "a") == (NOT_FOUND, b"")
    assert files("remove", "b") == (0, b"")
    assert os.listdir(files.place) == []


@pytest.mark.spec("FS-6")
def test_what_is_known_is_what_the_system_says(files):
    """Kind, size, time and identity are those of os.stat, links followed or not."""
    place = files.place
    (place / "f").write_bytes(b"12345")
    (place / "d").mkdir()
    (place / "l").symlink_to("f")
    os.mkfifo(place / "fifo")
    kinds = {"f": FILE, "d": DIRECTORY, "l": FILE, "fifo": OTHER, ".": DIRECTORY}
    for follow in (True, False):
        for name, kind in (kinds | ({} if follow else {"l": LINK})).items():
            node = os.stat(place / name, follow_symlinks=follow)
            want = (
                f"kind {kind}\nsize {node.st_size}\nmodified {node.st_mtime_ns}\n"
                f"device {node.st_dev}\ninode {node.st_ino}\nwritable 1\n"
            )
            assert files("info" if follow else "info-itself", name) == (0, want.encode())
    assert files("info", "none") == (0, b"kind 0\n")
    assert files("touch", "l") == (0, b"")
    assert (place / "f").stat().st_mtime_ns == 1


@pytest.mark.spec("FS-2", "FS-8")
def test_a_directory_lists_what_is_in_it(files):
    """Each entry comes once with its own kind, whatever bytes its name has."""
    names = [b"\xff\xfe", b"\x01", b"a b", "ä".encode(), b"n" * 255]
    for name in names:
        (files.place / os.fsdecode(name)).write_bytes(b"")
    (files.place / "l").symlink_to("none")
    (files.place / "d").mkdir()
    status, out = files("list")
    assert status == 0
    want = [b"1 " + name for name in names] + [b"2 d", b"3 l"]
    assert sorted(out.split(b"\n")[:-1]) == sorted(want)
    assert files("list", "d") == (0, b"")
    assert files("list", "l") == (NOT_FOUND, b"")


@pytest.mark.spec("FS-3", "FS-9")
def test_nothing_is_reached_outside(files):
    """A link that leads out of the given directory is refused, in whichever way it does."""
    outside = files.place.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    assert files("link", "up", "..") == (0, b"")
    assert files("link", "absolute", str(outside)) == (0, b"")
    assert files("read-link", "absolute") == (0, os.fsencode(outside) + b"\n")
    only = [*files.options, "--dir", "."]
    for name in ("up/outside/secret", "absolute/secret"):
        for command in ("cat", "put", "info", "remove", "mkdir"):
            assert files(command, name, options=only) == (PERMISSION, b"")
    for name in ("../outside/secret", "/etc/passwd", "up/../x", "", "a//b"):
        assert files("cat", name, options=only) == (INVALID, b"")
    assert (outside / "secret").read_bytes() == b"secret"
    assert os.listdir(outside) == ["secret"]
    beneath_the_root = str(files.place / "absolute/secret")[1:]
    assert files("cat", beneath_the_root, directory=1) == (0, b"secret")


@pytest.mark.spec("FS-4", "FS-10")
def test_errors_are_those_of_the_thing(files):
    """What cannot be done is the one error that says why, and is not done."""
    (files.place / "f").write_bytes(b"f")
    (files.place / "d/e").mkdir(parents=True)
    assert files("mkdir", "d") == (EXISTS, b"")
    assert files("remove", "d") == (NOT_EMPTY, b"")
    assert files("cat", "d") == (IS_DIRECTORY, b"")
    assert files("cat", "f/x") == (NOT_DIRECTORY, b"")
    assert files("put", "none/x") == (NOT_FOUND, b"")
    assert files("rename", "f", "d") == (IS_DIRECTORY, b"")
    assert files("rename", "d", "f") == (NOT_DIRECTORY, b"")
    assert files("read-link", "f") == (INVALID, b"")
    assert files("link", "f", "x") == (EXISTS, b"")
    assert sorted(os.listdir(files.place)) == ["d", "f"]


@pytest.mark.spec("FS-10", "KAL-2", "KAL-9")
def test_file_systems_that_are_full_or_may_not_be_written(run, tmp_path):
    """
    What fits is written and the rest is no space, nothing is written where it may not be, and a
    rename across file systems is not supported.
    """
    for name in ("full", "other", "kept"):
        (tmp_path / name).mkdir()

    def files(command, name, more=""):
        words = run.words("files", command, "0", name, more)
        mount = (
            "mount -t tmpfs -o size=64k none full && mount -t tmpfs -o ro none kept &&"
            ' mkdir full/d && "$@"; status=$?; [ ! -e full/f ] || stat -c %s full/f; exit $status'
        )
        inside = [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            mount,
            "sh",
            *words,
        ]
        done = subprocess.run(
            inside, cwd=tmp_path, env=CLEAN, input=bytes(100_000), capture_output=True, check=False
        )
        assert done.stderr == b""
        return done.returncode, done.stdout

    assert files("put", "full/f") == (NO_SPACE, b"65536\n")
    assert files("touch", "kept") == (PERMISSION, b"")
    assert files("mkdir", "kept/x") == (PERMISSION, b"")
    assert files("put", "kept/x") == (PERMISSION, b"")
    assert files("link", "kept/x", "y") == (PERMISSION, b"")
    assert files("rename", "full/d", "other/d") == (NOT_SUPPORTED, b"")
    assert files("remove", "full") == (AGAIN, b"")
