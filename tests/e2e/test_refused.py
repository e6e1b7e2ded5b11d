"""What okrun refuses, and how it says so."""

import errno
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import okld
import okrun
from okld.base.errors import FormatError
from okld.base.view import View
from okld.image.shape import read_shape

TESTDATA = Path(__file__).parents[2] / "testdata"
IMAGES = tomllib.loads((TESTDATA / "images.toml").read_text())["images"]
NOTE = struct.pack("<III8s", 8, 40, 1, b"openkal")
"""The beginning of the note of SPEC chapter 3, before its descriptor."""


@pytest.fixture
def hello(run):
    """Return the bytes of an image that prints."""
    return bytearray(run.image("hello").read_bytes())


@pytest.mark.spec("STAT-1", "NEED-1", "NEED-2", "NOTE-4", "IMG-14", "IMG-17", "IMG-25")
@pytest.mark.parametrize("name", [name for name in IMAGES if name.startswith("bad-")])
@pytest.mark.parametrize("options", [(), ("--prof=calls:out",)], ids=["plain", "measured"])
def test_refused_before_any_code_runs(run_on_each, one_line, tmp_path, name, options):
    """
    Status 126, one line that names the thing and the rule as testdata/images.toml has them, and
    nothing that the image would have done.
    """
    done = run_on_each(name, options=options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (126, b"")
    said = one_line(done.stderr)
    assert f"[{IMAGES[name]['rule']}]" in said
    assert IMAGES[name]["says"] in said
    assert not (tmp_path / "out").exists()


@pytest.mark.spec("BIND-2", "STAT-1")
def test_interface_that_the_host_lacks(run, small_host, hello, one_line, tmp_path):
    """An image that requires an interface which the host lacks is refused by its name."""
    required = hello.index(NOTE) + len(NOTE) + 16
    word = struct.unpack_from("<Q", hello, required)[0] | 1 << 6
    struct.pack_into("<Q", hello, required, word)
    bad = tmp_path / "bad.ok"
    bad.write_bytes(hello)
    assert run(bad).stdout == b"hello\n"
    done = run(bad, options=["--host", small_host])
    assert (done.returncode, done.stdout) == (126, b"")
    assert re.search(r"openkal\.fs.*\[BIND-2\]", one_line(done.stderr))


@pytest.mark.spec("IMG-6", "IMG-1")
def test_no_prefix_of_an_image_is_one(hello):
    """An image that is cut at any byte is refused."""
    whole = bytes(hello)
    assert read_shape(View.of_bytes(whole)).size == len(whole)
    for length in range(len(whole)):
        with pytest.raises(FormatError):
            read_shape(View.of_bytes(memoryview(whole)[:length]))


@pytest.mark.spec("IMG-6", "STAT-1")
@pytest.mark.parametrize("part", range(12))
def test_prefix_is_refused_by_the_command(run, hello, one_line, tmp_path, part):
    """
    A file cut at twelve places from nothing to all but its last byte: status 126 and one line.
    """
    cut = tmp_path / "cut.ok"
    cut.write_bytes(hello[: (len(hello) - 1) * part // 11])
    done = run(cut)
    assert (done.returncode, done.stdout) == (126, b"")
    one_line(done.stderr)


@pytest.mark.spec("STAT-1")
@pytest.mark.parametrize("name", ["no-such.ok", "file/no-such.ok", "\x1b[2J.ok", "\udcff"])
def test_no_such_image_is_status_127(run, one_line, tmp_path, name):
    """A path without a file is status 127, its name shown harmlessly."""
    (tmp_path / "file").write_text("")
    done = run(f"./{name}", cwd=tmp_path)
    assert done.returncode == 127
    assert "\x1b" not in one_line(done.stderr)


@pytest.mark.spec("STAT-1")
@pytest.mark.parametrize("kind", ["directory", "fifo", "device", "empty", "loop"])
def test_other_things_than_files_are_status_126(run, one_line, tmp_path, kind):
    """
    A directory, a FIFO that nobody writes to, a device, an empty file and a link to itself are
    refused.
    """
    path = tmp_path / "thing"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "empty":
        path.touch()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to("/dev/zero")
    done = run(path)
    assert done.returncode == 126
    one_line(done.stderr)


@pytest.mark.spec("STAT-1")
def test_name_too_long_is_status_126(run, one_line):
    """A name that the system does not take is its reason, and not a traceback."""
    done = run("./" + "x" * 300)
    assert done.returncode == 126
    assert os.strerror(errno.ENAMETOOLONG) in one_line(done.stderr)


@pytest.mark.spec("STAT-1", "PROF-1")
@pytest.mark.parametrize("what", ["heaps", "perf", "calls,", ":out", "Calls"])
def test_measuring_what_is_not_known(run, one_line, tmp_path, what):
    """What cannot be measured is status 125 and a line that lists what can, from either place."""
    for done in (
        run("status", options=[f"--prof={what}"], cwd=tmp_path),
        run("status", env={"OKRUN_PROF": what}, cwd=tmp_path),
    ):
        assert (done.returncode, done.stdout) == (125, b"")
        assert "calls, count, counters, perfmap, heap" in one_line(done.stderr)


@pytest.mark.spec("STAT-2")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(lambda path: None, errno.ENOENT, id="missing"),
        pytest.param(lambda path: path.mkdir(), errno.EISDIR, id="a directory"),
    ],
)
def test_host_that_is_not_there(run, one_line, tmp_path, make, reason):
    """
    A host program that is missing is status 125: where it was looked for, why, and what to do.
    """
    host = tmp_path / "okhost"
    make(host)
    done = run("status", options=["--host", host])
    assert (done.returncode, done.stdout) == (125, b"")
    said = one_line(done.stderr)
    for part in (str(host), os.strerror(reason), "reinstall", "--host", "[STAT-2]"):
        assert part in said


@pytest.mark.spec("STAT-2")
def test_host_that_cannot_be_executed(run, one_line, tmp_path):
    """A host program without permission to execute, or that is no program, is said so."""
    host = tmp_path / "okhost"
    host.write_text("#!/bin/sh\necho ran\n")
    done = run("status", options=["--host", host])
    assert done.returncode == 125
    assert "not an ELF program" in one_line(done.stderr)
    shutil.copyfile("/bin/true", host)
    host.chmod(0o644)
    done = run("status", options=["--host", host])
    assert done.returncode == 125
    assert os.strerror(errno.EACCES) in one_line(done.stderr)


@pytest.mark.spec("STAT-2")
def test_installed_host_that_is_missing(one_line, tmp_path, run):
    """
    A package without its host program, as a broken installation leaves it, says where it should be.
    """
    site = tmp_path / "lib/python3/site-packages"
    for package in (okld, okrun):
        shutil.copytree(os.path.dirname(package.__file__), site / package.__name__)
    program = "from okrun.cli.okrun import main; raise SystemExit(main())"
    words = [sys.executable, "-P", "-c", program, run.image("status")]
    env = {"PYTHONPATH": str(site)}
    done = subprocess.run(words, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")
    assert str(tmp_path / "bin/okhost") in one_line(done.stderr)


@pytest.mark.spec("STAT-2")
def test_host_of_another_processor(aarch64_host, one_line, run, build):
    """
    A host program that this machine's processor cannot execute is said so, with the way to run it.
    """
    image = build("status", "aarch64")
    done = run(image, options=["--host", aarch64_host])
    if done.returncode == 0:  # the kernel was taught to emulate it (binfmt_misc)
        assert done.stdout == b"ran\n"
    else:
        assert done.returncode == 125
        assert "--emulator" in one_line(done.stderr)


@pytest.mark.spec("STAT-2", "STAT-1")
def test_emulator_that_is_nowhere(run, one_line, tmp_path):
    """An emulator that is in no directory of PATH is status 125, also where a file is so called."""
    (tmp_path / "none").write_bytes(b"")
    done = run("status", options=["--emulator", "none"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (125, b"")
    assert "none: not found on PATH" in one_line(done.stderr)


@pytest.mark.spec("STAT-1")
def test_a_refusal_is_no_conversation(run, one_line):
    """A status of okrun's is that, whatever Python is told to do at its end."""
    done = run("./none.ok", env={"PYTHONINSPECT": "1"}, input=b"print('asked')\n")
    assert (done.returncode, done.stdout) == (127, b"")
    one_line(done.stderr)


@pytest.mark.spec("BIND-1")
def test_image_of_another_processor(run, build, one_line):
    """An AArch64 image is refused by an x86-64 host, both named."""
    done = run(build("status", "aarch64"))
    assert (done.returncode, done.stdout) == (126, b"")
    said = one_line(done.stderr)
    assert "aarch64" in said
    assert "x86_64" in said
