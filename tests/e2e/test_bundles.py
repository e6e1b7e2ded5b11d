"""Bundles as users start them: the processor's member, a named one, signatures and policies."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from okld.base import progress
from okld.base.progress import Bar
from okld.bundle.writer import write_bundle


@pytest.fixture
def home(tmp_path):
    """Return an environment whose home is the test's."""
    (tmp_path / "home").mkdir()
    keep = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return keep | {"HOME": str(tmp_path / "home")}


@pytest.fixture
def bundle_of(build, tmp_path):
    """Return what puts an image of these tests, for both processors, into a bundle."""

    def bundle_of(name, **more):
        images = [str(build(name, machine)) for machine in ("x86_64", "aarch64")]
        path = tmp_path / f"{name}.okb"
        write_bundle(images, str(path), **{"name": name, **more})
        return path

    return bundle_of


def settle(path):
    """Wait until a bundle is old enough to be remembered."""
    while time.time_ns() - path.stat().st_ctime_ns < 2.1e9:
        time.sleep(0.05)


@pytest.mark.spec("MAN-10", "RUN-2", "CAC-15")
def test_the_processors_member(run_on_each, bundle_of, home):
    """One bundle runs on both processors, each with its own member; the next start is a hit."""
    bundle = bundle_of("hello")
    settle(bundle)
    for cache in ("miss: there is no record; remembered", "hit"):
        done = run_on_each(bundle, "world", options=["-v"], env=home)
        assert (done.returncode, done.stdout) == (0, b"hello world\n")
        assert f"okrun: member {run_on_each.machine}, " in done.stderr.decode()
        assert f"okrun: cache: {cache}\n" in done.stderr.decode()


@pytest.mark.spec("MAN-10", "OKB-28", "BIND-1")
def test_a_named_member(run, build, tmp_path, home, one_line):
    """A member is chosen by its name; one for another processor is refused, and one that is not."""
    bundle = tmp_path / "two.okb"
    images = [
        ("first", str(build("hello"))),
        ("second", str(build("status"))),
        ("other", str(build("hello", "aarch64"))),
    ]
    write_bundle(images, str(bundle), name="two")
    assert run(f"{bundle}:first", env=home).stdout == b"hello\n"
    assert run(f"{bundle}:second", "7", env=home).returncode == 7
    for word, rule in (
        (f"{bundle}:other", "BIND-1"),
        (f"{bundle}:third", "MAN-10"),
        (bundle, "MAN-10"),
        (f"{build('hello')}:first", "OKB-28"),
    ):
        done = run(word, env=home)
        assert (done.returncode, done.stdout) == (126, b"")
        assert rule in one_line(done.stderr)
    done = run(f"{tmp_path}/none.okb:first", env=home)
    assert done.returncode == 127
    (tmp_path / "two.okb:first").write_bytes(build("status").read_bytes())
    assert run(f"{bundle}:first", "9", env=home).returncode == 9


@pytest.mark.spec("KAL-4", "ADM-2")
def test_arguments_of_a_member(run, bundle_of, home):
    """argv[0] is the word that was given, of a hit as of a miss."""
    bundle = bundle_of("args")
    settle(bundle)
    for word in (bundle, bundle, f"{bundle}:x86_64", f"{bundle}:x86_64"):
        out = run(word, "a", env=home).stdout.decode()
        assert out.startswith(f"arguments 2\n{len(str(word))}:{word}\n1:a\n")


@pytest.mark.spec("RI-5", "SYM-7")
def test_names_in_a_bundle(run_on_each, bundle_of, home):
    """kal_debug_symbolize finds the names of an image that begins in the middle of its file."""
    bundle = bundle_of("names")
    words = ["2001000", "2001080", "4"]
    wanted = run_on_each("names", *words)
    assert b"2001004 factorial 4\n" in wanted.stdout
    done = run_on_each(bundle, *words, env=home)
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted.stdout, b"")


@pytest.mark.spec("CRASH-1", "ADM-2")
def test_crash_in_a_bundle(run_on_each, bundle_of, command, home):
    """The report of a crash names its functions, and a command that finds them in the bundle."""
    bundle = bundle_of("crash")
    done = run_on_each(bundle, env=home)
    assert done.returncode == -signal.SIGSEGV
    said = done.stderr.decode()
    wanted = ["crash_three", "crash_two", "crash_one", "main"]
    assert re.findall(r"#\d+ (\w+)\+0x[0-9a-f]+ \(", said)[:4] == wanted
    line = next(x for x in said.splitlines() if "okld symbolize" in x)
    words = shlex.split(line[line.index("okld symbolize") :])
    assert words[2] == f"{bundle}:{run_on_each.machine}"
    got = subprocess.check_output([command("okld"), *words[1:], "--json"], text=True)
    assert [json.loads(x)["name"] for x in got.splitlines()][:4] == wanted


@pytest.mark.spec("RUN-2", "RUN-3", "RUN-4", "RUN-5", "KAL-3")
@pytest.mark.parametrize("name", ["alloc", "rela", "relr", "counters", "ends", "weak"])
def test_images_run_from_a_bundle(run_on_each, bundle_of, home, name):
    """An image does in a bundle what it does alone: relocation, zeroes, initialisers, bindings."""
    alone = run_on_each(name)
    done = run_on_each(bundle_of(name), env=home)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)


@pytest.mark.spec("PROF-1", "ADM-2")
def test_measured_in_a_bundle(run, bundle_of, home, tmp_path):
    """A measured member's report says which it was."""
    bundle = bundle_of("hello")
    for _ in range(2):
        run(bundle, options=["--prof=calls:out"], env=home, cwd=tmp_path)
    for file in tmp_path.glob("out/*.json"):
        assert json.loads(file.read_text())["image"]["path"] == f"{bundle}:x86_64"


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", path]
    subprocess.run(words, check=True)
    return path


@pytest.mark.spec("TRU-6", "ADM-7", "ADM-8", "ADM-9", "CAC-2")
def test_signatures_and_policies(run, build, command, key, home, tmp_path, one_line):
    """
    A signature by an unknown key is said, at a hit too; it is enough for `signed`; for `trusted`
    the key has to be trusted, and the strictest policy of option, environment and settings holds.
    """
    bundle = tmp_path / "signed.okb"
    words = [command("okld"), "bundle", build("hello"), "-o", bundle, "--name", "hello"]
    subprocess.run([*words, "--sign", key], check=True, stdout=subprocess.DEVNULL)
    settle(bundle)
    for policy in ("any", "any", "signed", "signed"):
        done = run(bundle, options=["--policy", policy], env=home)
        assert done.stdout == b"hello\n"
        assert "signed by a key that is not trusted, SHA256:" in one_line(done.stderr)
        assert done.stderr.count(b"SHA256:") == 1
    for strict in (
        {"options": ["--policy=trusted"], "env": home},
        {"env": home | {"OKRUN_POLICY": "trusted"}, "options": ["--policy=any"]},
    ):
        done = run(bundle, **strict)
        assert (done.returncode, done.stdout) == (126, b"")
        assert "[TRU-6]" in one_line(done.stderr)
    add = [command("okrun"), "trust", "add", "me@example.org", f"{key}.pub"]
    subprocess.run(add, check=True, env=home, stdout=subprocess.DEVNULL)
    settings = tmp_path / "home/.config/okrun"
    (settings / "policy").write_text("trusted\n")
    for expected in ("miss", "hit"):
        done = run(bundle, options=["-v"], env=home)
        assert done.stdout == b"hello\n"
        assert "signed by a trusted key, SHA256:" in done.stderr.decode()
        assert f"cache: {expected}" in done.stderr.decode()
    assert run(bundle, env=home).stderr == b""
    done = run("hello", env=home)
    assert (done.returncode, done.stdout) == (126, b"")
    assert "[ADM-7]" in one_line(done.stderr)


@pytest.mark.spec("TRU-6")
@pytest.mark.parametrize("policy", ["signed", "trusted"])
def test_signature_is_taken_out(run, build, tmp_path, home, one_line, policy):
    """A bundle whose signature was removed is refused where one is asked for, and that is said."""
    bundle = tmp_path / "bare.okb"
    write_bundle([str(build("hello"))], str(bundle), name="hello")
    done = run(bundle, options=["--policy", policy], env=home)
    assert (done.returncode, done.stdout) == (126, b"")
    assert "the bundle is not signed [TRU-6]" in one_line(done.stderr)


@pytest.mark.spec("ADM-8", "STAT-1")
@pytest.mark.parametrize("image", ["hello", "none.ok"])
def test_a_policy_that_is_none(run, home, tmp_path, one_line, image):
    """A misspelt policy is status 125, before anything is opened."""
    path = run.image("hello") if image == "hello" else tmp_path / image
    for options, env in (
        (["--policy=trust"], home),
        ([], home | {"OKRUN_POLICY": "trust"}),
    ):
        done = run(path, options=options, env=env)
        assert (done.returncode, done.stdout) == (125, b"")
        assert "[ADM-8]" in one_line(done.stderr)


@pytest.mark.spec("MAN-8")
@pytest.mark.parametrize(
    "expires", ["2001-09-09T01:46:40Z", "1970-01-01T00:00:00Z", "1960-02-29T23:59:59Z"]
)
def test_expired(run, build, tmp_path, home, one_line, expires):
    """A bundle that has expired is refused, with the second from which on it is."""
    bundle = tmp_path / "old.okb"
    write_bundle([str(build("hello"))], str(bundle), name="hello", expires=expires)
    done = run(bundle, env=home)
    assert (done.returncode, done.stdout) == (126, b"")
    assert f"expired at {expires} [MAN-8]" in one_line(done.stderr)


@pytest.mark.spec("CAC-9", "CAC-10")
def test_nothing_is_written_elsewhere(run, bundle_of, home, tmp_path):
    """A start writes in the cache's directory and nowhere else, and with --no-cache nowhere."""
    bundle = bundle_of("hello")
    settle(bundle)

    def files():
        return {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}

    before = files()
    for _ in range(2):
        run(bundle, options=["--no-cache"], env=home, cwd=tmp_path)
    assert files() == before
    run(bundle, env=home, cwd=tmp_path)
    (made,) = files() - before
    assert str(made.parent) == "home/.cache/okrun/admitted"


@pytest.mark.spec("ADM-10")
def test_progress(monkeypatch):
    """The bar shows how far it is, after half a second, on a terminal; and it is taken away."""
    clock = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    controller, terminal = pty.openpty()
    saved = os.dup(2)
    try:
        os.dup2(terminal, 2)
        bar = Bar("okrun: checking")
        bar.show(1, 4)
        clock[0] += 0.5
        bar.show(2, 4)
        bar.show(2, 4)
        bar.show(4, 4)
        bar.end()
    finally:
        os.dup2(saved, 2)
        for fd in (saved, terminal):
            os.close(fd)
    said = b""
    with contextlib.suppress(OSError):  # EIO: that was all; the kernel passes it on in pieces
        while True:
            said += os.read(controller, 4096)
    os.close(controller)
    half, whole = "#" * 20 + " " * 20, "#" * 40
    assert said.decode() == f"\rokrun: checking [{half}]\rokrun: checking [{whole}]\r\x1b[K"


@pytest.mark.spec("ADM-10")
def test_no_progress_in_a_file(monkeypatch, tmp_path):
    """Where standard error is no terminal, or the wait was short, there is no bar."""
    saved = os.dup(2)
    fd = os.open(tmp_path / "err", os.O_CREAT | os.O_WRONLY)
    try:
        os.dup2(fd, 2)
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        bar = Bar("okrun: checking")
        bar.show(1, 2)
        bar.end()
    finally:
        os.dup2(saved, 2)
        os.close(fd)
        os.close(saved)
    assert (tmp_path / "err").read_bytes() == b""


@pytest.mark.spec("ADM-4", "OKB-23")
def test_other_bytes_in_a_bundle(run_on_each, bundle_of, home, one_line):
    """A member with one byte changed never runs; that of the other processor is not asked."""
    bundle = bundle_of("hello")
    data = bytearray(bundle.read_bytes())
    other = {"x86_64": 1, "aarch64": 0}[run_on_each.machine]
    starts = [m.start() for m in re.finditer(b"\x7fELF", data)]
    strings = [data.index(b"hello\0", start) for start in starts]
    data[strings[other]] ^= 0x20
    bundle.write_bytes(data)
    assert run_on_each(bundle, env=home).stdout == b"hello\n"
    data[strings[1 - other]] ^= 0x20
    bundle.write_bytes(data)
    done = run_on_each(bundle, env=home)
    assert (done.returncode, done.stdout) == (126, b"")
    assert "[OKB-23]" in one_line(done.stderr)


@pytest.mark.spec("RUN-8", "CAC-11")
@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
def test_closed_streams(run, bundle_of, home, tmp_path, closed):
    """No file that a start opens for the cache stands in for a closed stream."""
    bundle = bundle_of("streams")
    settle(bundle)
    shell = 'exec "$@"' + "".join(f" {n}>&-" for n in closed)
    for _ in range(2):
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *run.words(bundle)],
            capture_output=True, check=False, input=b"x", env=home,
        )  # fmt: skip
        assert done.returncode == sum(1 << int(n) for n in closed)
    (record,) = tmp_path.glob("home/.cache/okrun/admitted/*")
    assert b"out\n" not in record.read_bytes()
    shutil.rmtree(tmp_path / "home")
