"""`okrun -v` names what the host program answers; `okld interfaces --host`, what an image lacks."""

import json
import re
import struct
import subprocess

import pytest

from okld.iface.table import INTERFACES

NOTE = struct.pack("<III8s", 8, 40, 1, b"openkal")
"""The beginning of the note of SPEC chapter 3, before its descriptor."""

SMALL = ["abort", "stream", "memory", "env", "time", "random", "prof", "debug"]


def answers(done):
    (line,) = [x for x in done.stderr.decode().splitlines() if x.startswith("okrun: answers")]
    version, _, names = line.removeprefix("okrun: answers openkal ").partition(": ")
    return version, names.split(", ")


@pytest.fixture
def small(small_host):
    """Return a host program that answers SMALL, as a word of a command."""
    return str(small_host)


@pytest.fixture
def okld(command):
    """Run `okld interfaces`; return its status, what it wrote and what it complained of."""

    def okld(*words):
        done = subprocess.run(
            [command("okld"), "interfaces", *words], capture_output=True, text=True, timeout=60
        )
        assert done.stderr == "" or done.stderr.count("\n") == 1
        return done.returncode, done.stdout, done.stderr

    return okld


@pytest.fixture
def needs_fs(run, tmp_path):
    """Return an image that requires openkal.fs and nothing else that the small host lacks."""
    data = bytearray(run.image("hello").read_bytes())
    required = data.index(NOTE) + len(NOTE) + 16
    word = struct.unpack_from("<Q", data, required)[0] | 1 << INTERFACES.index("openkal.fs")
    struct.pack_into("<Q", data, required, word)
    path = tmp_path / "needs-fs.ok"
    path.write_bytes(data)
    return path


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.spec("BIND-6")
def test_a_start_says_what_is_answered(run, runners, library, small):
    """With -v the interfaces and the version are those of whatever is bound."""
    every = list(INTERFACES)
    some = [name for name in every if name.removeprefix("openkal.") in SMALL]
    lesser = [name for name in every if name not in ("openkal.space", "openkal.exec")]
    assert answers(runners()("meets", options=["-v"])) == ("0.20.0", every)
    done = runners(library("lesser", runners.machine))("meets", options=["-v"])
    assert answers(done) == ("0.19.0", lesser)
    done = run("hello", options=["-v", "--host", small])
    assert answers(done) == ("0.20.0", some)
    assert done.stdout == b"hello\n"


@pytest.mark.spec("BIND-6", "IMPL-2")
def test_what_cannot_be_asked(run, tmp_path):
    """A host program that does not say what it answers changes nothing about how a start ends."""
    library = tmp_path / "lib.so"
    library.write_bytes(b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HH", 3, 62) + bytes(100))
    done = run("meets", options=["-v", "--impl", library])
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 125
    assert any(line.startswith("okrun: what it answers is not known: ") for line in lines)
    assert lines[-1].endswith("[IMPL-2]")


@pytest.mark.spec("BIND-6", "CLI-3")
@pytest.mark.parametrize(("options", "programs"), [([], 2), (["-v"], 3)])
def test_nobody_is_asked_without_need(run, tmp_path, options, programs):
    """Only with -v a process is started to ask the host program."""
    trace = tmp_path / "trace"
    words = run.words("hello", options=options)
    strace = ["strace", "-f", "-qq", "-e", "trace=execve,clone,clone3,fork,vfork", "-o", trace]
    subprocess.run([*strace, *words], check=True, capture_output=True)
    calls = trace.read_text().splitlines()
    assert len([call for call in calls if re.search(r"execve.*= 0$", call)]) == programs
    assert len(calls) == 2 or options


@pytest.mark.spec("NEED-4", "CLI-2")
def test_what_a_host_lacks(okld, small, run, needs_fs):
    """Of what is required status 1 and the names; of what is optional the names."""
    weak = run.image("weak")
    status, out, err = okld("--host", small, weak)
    assert (status, err) == (0, "")
    assert "lacks of what is required: -\n" in out
    assert "lacks of what is optional: openkal.net openkal.map\n" in out
    status, out, err = okld("--host", small, "--json", needs_fs)
    assert status == 1
    assert err.startswith(f"okld: {needs_fs}: ")
    assert "openkal.fs" in err
    assert "[BIND-2]" in err
    host = json.loads(out)["host"]
    assert host == {
        "path": small,
        "arch": "x86_64",
        "version": "0.20.0",
        "interfaces": [f"openkal.{name}" for name in SMALL],
        "lacks": {"version": False, "required": ["openkal.fs"], "optional": []},
    }


@pytest.mark.spec("NEED-4")
def test_the_installed_host(okld, run, command, needs_fs):
    """Without a path it is the program beside the command, wherever the option stands."""
    for words in (("--host", needs_fs), (needs_fs, "--host"), ("--json", needs_fs, "--host")):
        status, out, err = okld(*words)
        assert (status, err) == (0, "")
        assert command("okhost") in out
    status, out, err = okld(needs_fs)
    assert (status, err) == (0, "")
    assert "lacks" not in out
    assert okld("--host")[:2] == (2, "")


@pytest.mark.spec("NEED-4", "NOTE-4")
def test_a_host_that_is_too_old(okld, run, tmp_path):
    """An image that needs a later version than the host program's is status 1."""
    said = json.dumps({"version": "0.19.3", "arch": "x86_64", "interfaces": list(INTERFACES)})
    old = program(tmp_path / "old", f"echo '{said}'")
    status, out, err = okld("--json", "--host", old, run.image("needs-later"))
    assert status == 1
    assert "[NOTE-4]" in err
    assert "0.20.0" in err
    assert "0.19.3" in err
    assert json.loads(out)["host"]["lacks"] == {"version": True, "required": [], "optional": []}
    status, out, err = okld("--json", "--host", old, run.image("needs-space"))
    assert (status, err) == (0, "")


@pytest.mark.spec("NEED-4", "BIND-1")
def test_images_of_other_processors(okld, build, small, command, tmp_path):
    """Of a bundle the images for the host's processor are meant; another image cannot run."""
    app = tmp_path / "app.okb"
    images = [f"first={build('weak')}", f"second={build('weak', 'aarch64')}"]
    subprocess.run([command("okld"), "bundle", *images, "-o", app, "--version", "1"], check=True)
    status, out, err = okld("--json", "--host", small, app)
    assert (status, err) == (0, "")
    (line,) = out.splitlines()
    assert json.loads(line)["host"]["lacks"]["optional"] == ["openkal.net", "openkal.map"]
    for word in (f"{app}:second", build("weak", "aarch64")):
        status, out, err = okld("--host", small, word)
        assert status == 1
        assert "[BIND-1]" in err


@pytest.mark.spec("NEED-4")
def test_together_with_require(okld, small, run):
    """Each of the two questions is answered; the first no is said."""
    weak = run.image("weak")
    assert okld("--host", small, "--require", "openkal.net", weak) == (0, "", "")
    status, out, err = okld("--host", small, "--require", "openkal.fs", weak)
    assert (status, out) == (1, "")
    assert "does not declare openkal.fs" in err


@pytest.mark.spec("NEED-4", "CLI-1", "ERR-2")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="missing"),
        pytest.param("exit 3", id="fails"),
        pytest.param("exit 0", id="says nothing"),
        pytest.param("echo '[1]'", id="a list"),
        pytest.param('echo \'{"version":"0.20.0"}\'', id="half of it"),
        pytest.param('echo \'{"version":"1.2","arch":"x","interfaces":[]}\'', id="no version"),
        pytest.param('echo \'{"version":"a.b.c","arch":"x","interfaces":[]}\'', id="letters"),
        pytest.param('echo \'{"version":"1.2.3","arch":"x","interfaces":3}\'', id="a number"),
        pytest.param("yes", id="without end"),
        pytest.param(r"printf '\377\376'", id="no text"),
    ],
)
def test_what_is_no_host_program(okld, run, tmp_path, text):
    """A program that does not describe itself is status 2 and one line with its name."""
    path = tmp_path / "\x1bhost"
    if text:
        program(path, text)
    status, out, err = okld("--host", path, run.image("weak"))
    assert (status, out) == (2, "")
    assert r"\x1bhost" in err
