"""Whatever is wrong with the cache, a start has the same answer."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starts import IMAGES, SECOND, finish, hello, overwrite

import okld
import okrun.bundled
from okld.base import place as where
from okld.base.errors import OkError
from okrun.admission import store
from okrun.admission.cache import MAX_AGE
from okrun.admission.record import decode, encode
from okrun.measuring import Measuring

OKRUN = str(Path(sys.executable).with_name("okrun"))


@pytest.mark.spec("CAC-6", "CAC-11")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: data[: len(data) // 2], id="torn"),
        pytest.param(lambda data: data[:100] + bytes(len(data) - 100), id="zeros"),
        pytest.param(lambda data: data + data, id="twice"),
        pytest.param(lambda data: data.replace(b"-admission 1 ", b"-admission 2 "), id="later"),
        pytest.param(lambda data: data.replace(b"\nany\n", b"\nand\n"), id="another policy"),
        pytest.param(lambda data: bytes(1 << 26), id="64 MiB"),
    ],
)
def test_a_broken_record(run, bundle, cache, edit):
    """A record that is broken is a miss, and a whole one takes its place."""
    run(bundle)
    path = cache.record()
    data = path.read_bytes()
    path.write_bytes(edit(data))
    assert re.fullmatch("miss: the record.*; remembered", run(bundle))
    assert cache.record().stat().st_size == len(data)
    assert run(bundle) == "hit"


@pytest.mark.spec("CAC-2", "CAC-11")
@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        pytest.param("asked", (":x86_64", "trusted", "0", "0"), "something else", id="question"),
        pytest.param("trust", b"#", "the trust file is another", id="trust file"),
        pytest.param("manifest", b"{}\n", "the manifest is another", id="manifest"),
        pytest.param("required", 1, "MAN-9", id="interfaces"),
        pytest.param("optional", 1, "MAN-9", id="optional interfaces"),
        pytest.param("build_id", "00", "MAN-9", id="build id"),
        pytest.param("offset", 0, "IMG-2", id="the archive's own header for an image"),
        pytest.param("offset", 1 << 40, "OKB-18", id="an offset past the end"),
        pytest.param("length", 64, "does not hold", id="another length"),
        pytest.param("until", 1, "MAN-8", id="it has expired"),
        pytest.param("plan", b"", "another image's plan", id="no plan"),
        pytest.param("plan", b"kplan3\0\0" * 41, "another image's plan", id="another plan"),
        pytest.param("stored", 1 << 62, "the clock went back", id="of the future"),
    ],
)
def test_a_record_of_something_else(run, bundle, cache, field, value, why):
    """A whole record that is of something else, or of what cannot be, is a miss, and says why."""
    run(bundle)
    path = cache.record()
    record = decode(path.read_bytes())
    setattr(record, field, value)
    path.write_bytes(encode(record))
    said = run(bundle)
    assert said.startswith("miss: ")
    assert why in said
    assert run(bundle) == "hit"


@pytest.mark.spec("CAC-2", "CAC-15")
def test_what_was_asked(run, bundle, monkeypatch, tmp_path):
    """Another member, policy, trust file, version or form of plan is another question."""
    assert okld.__version__ == okrun.__version__
    run(bundle)
    assert run(f"{bundle}:x86_64") == "miss: there is no record; remembered"
    for name, value in (("__version__", "9.9"), ("MAGIC", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(okrun.bundled, name, value)
            assert run(bundle) == "miss: there is no record; remembered"
    (tmp_path / "config/okrun").mkdir(parents=True, mode=0o700)
    (tmp_path / "config/okrun/allowed_signers").write_text("# nobody yet\n")
    assert run(bundle) == "miss: the trust file is another; remembered"
    assert run(bundle) == "hit"


@pytest.mark.spec("CAC-2", "TRU-6")
def test_a_stricter_policy_is_another_question(run, bundle):
    """What was admitted under `any` is not by that under `signed`."""
    run(bundle)
    for _ in range(2):
        with pytest.raises(OkError, match="TRU-6"):
            run(bundle, policy="signed")
    assert run(bundle) == "hit"


def no_cache(run, bundle: Path) -> str:
    """Start twice, and see that both times all is found out; return what was said the second."""
    run(bundle)
    said = run(bundle)
    assert said.startswith("miss: ")
    assert "not remembered" in said
    return said


@pytest.mark.spec("CAC-8", "CAC-11")
def test_directory_is_a_symbolic_link(run, bundle, cache, place):
    """A link in the place of the directory is not followed."""
    elsewhere = place / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    cache.place.mkdir()
    cache.folder.symlink_to(elsewhere)
    no_cache(run, bundle)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.spec("CAC-8", "CAC-11")
def test_directory_leads_nowhere(run, bundle, cache):
    """A link to nothing, or a file, in the place of the directory."""
    cache.place.mkdir()
    cache.folder.symlink_to("nowhere")
    no_cache(run, bundle)
    cache.folder.unlink()
    cache.folder.write_text("")
    no_cache(run, bundle)
    cache.folder.unlink()
    cache.place.rmdir()
    cache.place.write_text("")
    no_cache(run, bundle)


@pytest.mark.spec("CAC-8", "CAC-11")
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_directory_that_others_may_write_to(run, bundle, cache, mode):
    """A directory that others may write to is not used, for reading nor for writing."""
    run(bundle)
    cache.folder.chmod(mode)
    assert "not ours alone" in no_cache(run, bundle)


@pytest.mark.spec("CAC-8", "CAC-11")
@pytest.mark.parametrize("what", ["directory", "record"])
def test_another_user_put_it_there(run, bundle, cache, monkeypatch, what):
    """A directory or a record of another user's is none."""
    run(bundle)
    path = cache.folder if what == "directory" else cache.record()
    inode, real = path.stat().st_ino, os.fstat

    def fstat(fd):
        found = real(fd)
        if found.st_ino != inode:
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, "fstat", fstat)
    assert "is not ours alone" in run(bundle)


@pytest.mark.spec("CAC-8", "CAC-11")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o622])
def test_record_that_others_may_use(run, bundle, cache, mode):
    """A record that others may read or write is none."""
    run(bundle)
    cache.record().chmod(mode)
    assert run(bundle) == "miss: the record is not ours alone; remembered"
    assert run(bundle) == "hit"


@pytest.mark.spec("CAC-8", "CAC-11")
@pytest.mark.parametrize("kind", ["link", "directory", "fifo"])
def test_record_is_no_file(run, bundle, cache, kind, tmp_path):
    """What is no regular file is none, and is not waited for; a directory stays in the way."""
    run(bundle)
    path = cache.record()
    path.rename(tmp_path / "kept")
    if kind == "link":
        path.symlink_to(tmp_path / "kept")
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path, 0o600)
    assert run(bundle).startswith("miss: the record ")
    assert (run(bundle) == "hit") is (kind != "directory")


@pytest.mark.spec("CAC-9", "CAC-11")
def test_no_home(run, bundle, monkeypatch):
    """Without a home there is no cache, and the image runs."""
    monkeypatch.delenv("OKRUN_CACHE_DIR")
    monkeypatch.setenv("HOME", "/")
    assert no_cache(run, bundle) == "miss: the cache is off; not remembered"


@pytest.mark.spec("CAC-9")
@pytest.mark.parametrize("home", ["homeless", "a file"])
def test_a_home_that_is_not_there(run, bundle, place, monkeypatch, home):
    """Nobody's home is made, and a home that is a file is left alone."""
    monkeypatch.delenv("OKRUN_CACHE_DIR")
    monkeypatch.setenv("HOME", str(place / home))
    if home == "a file":
        (place / home).write_text("")
    no_cache(run, bundle)
    assert not (place / home).is_dir()


@pytest.mark.spec("CAC-9")
def test_a_new_home(run, bundle, place, monkeypatch):
    """In a home what is missing is made, and nobody else may look in."""
    monkeypatch.delenv("OKRUN_CACHE_DIR")
    monkeypatch.setenv("HOME", str(place / "home"))
    (place / "home").mkdir()
    run(bundle)
    assert run(bundle) == "hit"
    made = [place / "home" / part for part in (".cache", ".cache/okrun", ".cache/okrun/admitted")]
    assert [path.stat().st_mode & 0o7777 for path in made] == [0o700] * 3


@pytest.mark.spec("CAC-9")
def test_another_users_home(run, bundle, place, monkeypatch):
    """Root with a user's HOME makes nothing there: it would be in that user's way for ever."""
    monkeypatch.delenv("OKRUN_CACHE_DIR")
    home = place / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    real = os.stat

    def stat(path, **more):
        found = real(path, **more)
        if str(path) != str(home):
            return found
        return os.stat_result((*found[:4], found.st_uid + 1000, *found[5:]))

    monkeypatch.setattr(os, "stat", stat)
    assert "is another user's" in no_cache(run, bundle)
    assert list(home.iterdir()) == []


@pytest.mark.spec("CAC-9", "CAC-11")
@pytest.mark.parametrize("value", ["relative", "./x", "~/x"])
def test_a_relative_place(run, bundle, place, monkeypatch, value):
    """A relative place is none: it would be another in each directory."""
    monkeypatch.setenv("OKRUN_CACHE_DIR", value)
    monkeypatch.chdir(place)
    before = sorted(place.iterdir())
    no_cache(run, bundle)
    assert sorted(place.iterdir()) == before


@pytest.mark.spec("CAC-10", "CAC-11")
@pytest.mark.parametrize("how", ["geteuid", "getegid", "AT_SECURE"])
def test_setuid(run, bundle, cache, monkeypatch, how):
    """With other rights than its starter's a process neither reads nor writes a record."""
    run(bundle)
    before = cache.record().read_bytes()
    if how == "AT_SECURE":
        monkeypatch.setattr(where, "_auxiliary", lambda vector, kind: int(kind == 23))
    else:
        real = getattr(os, how)()
        monkeypatch.setattr(os, how, lambda: real + 1)
    bundle.chmod(0o600)  # a change that would be remembered
    assert run(bundle) == "miss: the cache is off; not remembered"
    assert cache.record().read_bytes() == before


@pytest.mark.spec("CAC-10")
def test_no_cache(run, bundle, cache):
    """With --no-cache nothing is read and nothing written."""
    assert run(bundle, remember=False) == "miss: the cache is off; not remembered"
    assert not cache.place.exists()
    run(bundle)
    assert run(bundle, remember=False) == "miss: the cache is off; not remembered"


CALLS = ("open", "write", "utime", "rename", "mkdir")


@pytest.mark.spec("CAC-11")
@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", CALLS)
def test_what_cannot_be_written(run, bundle, cache, monkeypatch, call, number):
    """
    A place that is read-only, full, over quota or broken, at each step of writing: the image runs,
    and nothing is left.
    """
    real = getattr(os, call)

    def fails(*args, **more):
        if call == "open" and not args[1] & os.O_CREAT:
            return real(*args, **more)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        for module in (store.os,):
            patch.setattr(module, call, fails)
        start = (
            okrun.launch.prepare(str(bundle), Measuring(0, b"", ""))
            if (call != "write")
            else without_memfd(patch, fails, bundle)
        )
    assert start.cache.endswith(
        f"; not remembered: the cache cannot be written: {os.strerror(number)}"
    )
    assert finish(start) == (0, b"hello\n", b"")
    assert list(cache.folder.glob("*") if cache.folder.exists() else []) == []
    assert run(bundle).endswith("; remembered")


def without_memfd(patch, fails, bundle):
    """Prepare a start whose plan is written, as always, and its record is not."""
    real = okld.base.private.write_file

    def write(*args):
        with patch.context() as inner:
            inner.setattr(os, "write", fails)
            real(*args)

    patch.undo()
    patch.setattr(okld.base.private, "write_file", write)
    return okrun.launch.prepare(str(bundle), Measuring(0, b"", ""))


@pytest.mark.spec("CAC-11")
def test_what_cannot_be_touched(run, bundle, cache, clock, monkeypatch):
    """A record whose use cannot be noted is used all the same."""
    run(bundle)
    clock.ahead += 2 * 86400 * SECOND

    def fails(*args, **more):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", fails)
    assert run(bundle) == "hit"


def settled(path: Path) -> Path:
    """Wait until a file is as old as it has to be, for processes whose clock is the system's."""
    while time.time_ns() - path.stat().st_ctime_ns < 2.1 * SECOND:
        time.sleep(0.05)
    return path


def command(*words: object, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OKRUN, *map(str, words)], capture_output=True, text=True, check=False, **more
    )


@pytest.mark.spec("CAC-7", "CAC-11")
def test_a_limit_of_file_sizes(bundle, cache):
    """Where a file may have 1,024 bytes a record is not written, and no part of it stays."""
    settled(bundle)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    done = command("-v", bundle, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "not remembered: the cache cannot be written: File too large" in done.stderr
    assert list(cache.folder.iterdir()) == []


@pytest.mark.spec("CAC-7", "CAC-11")
def test_64_starters_at_once(bundle, cache):
    """However many write the one record at once, each runs, and there is one whole record."""
    settled(bundle)
    processes = [subprocess.Popen([OKRUN, bundle], stdout=-1, stderr=-1) for _ in range(64)]
    ends = [(*process.communicate(), process.returncode) for process in processes]
    assert set(ends) == {(b"hello\n", b"", 0)}
    assert decode(cache.record().read_bytes()).member == "x86_64"
    assert [path.name for path in cache.folder.iterdir()] == [cache.record().name]
    assert "cache: hit" in command("-v", bundle).stderr


@pytest.mark.spec("CAC-7", "CAC-11")
@pytest.mark.parametrize(
    "step",
    [
        pytest.param("mkdir:signal=KILL:when=1", id="first directory"),
        pytest.param("mkdir:signal=KILL:when=2", id="second directory"),
        pytest.param("/open.*:signal=KILL:when=%d", id="new file"),
        pytest.param("write:signal=KILL:when=1", id="before it is written"),
        pytest.param("write:retval=100:signal=KILL:when=1", id="while it is written"),
        pytest.param("utimensat:signal=KILL:when=1", id="after it is written"),
        pytest.param("/rename.*:signal=KILL:when=1", id="before it takes its place"),
        pytest.param("getdents64:signal=KILL:when=-1", id="while old ones are looked for"),
    ],
)
def test_killed_at_each_step(bundle, cache, tmp_path, step):
    """Whoever is killed while writing a record leaves a whole one or none; the next start works."""
    settled(bundle)
    trace = ["strace", "-f", "-o", str(tmp_path / "trace"), "-s", "200"]
    if "%d" in step or "-1" in step:
        step = step.replace("%d", str(nth(trace, bundle, cache, "O_EXCL"))).replace(
            "-1", str(nth(trace, bundle, cache, "getdents64"))
        )
    call = step.partition(":")[0]
    inject = ["-e", f"trace={call}", "-e", f"inject={step}"]
    done = subprocess.run([*trace, *inject, OKRUN, bundle], capture_output=True, check=False)
    assert done.returncode == -9
    for path in cache.records():
        decode(path.read_bytes())
    assert command(bundle).stdout == "hello\n"
    assert decode(cache.record().read_bytes()).member == "x86_64"
    assert "cache: hit" in command("-v", bundle).stderr


def nth(trace: list[str], bundle: Path, cache, mark: str) -> int:
    """Return which of the calls of one kind is the last with a mark, counting from 1."""
    call = "getdents64" if mark == "getdents64" else "/open.*"
    subprocess.run([*trace, "-e", f"trace={call}", OKRUN, bundle], capture_output=True, check=True)
    lines = Path(trace[3]).read_text().splitlines()
    calls = [line for line in lines if "(" in line and "resumed" not in line]
    shutil.rmtree(cache.place)
    return max(at for at, line in enumerate(calls, 1) if mark in line)


@pytest.mark.spec("CAC-11")
def test_records_are_not_mapped(bundle, cache, tmp_path):
    """A record is read and not mapped: of a mapped file that is made shorter a start would die."""
    settled(bundle)
    command(bundle)
    trace = tmp_path / "trace"
    words = ["strace", "-f", "-y", "-o", trace, "-e", "trace=mmap,read", OKRUN, bundle]
    subprocess.run(words, capture_output=True, check=True)
    of_record = [line for line in trace.read_text().splitlines() if str(cache.record()) in line]
    assert of_record
    assert not any("mmap(" in line for line in of_record)


@pytest.mark.spec("CAC-12")
def test_parts_that_were_left(run, bundle, cache, clock):
    """What a process left that died is removed an hour later, and not before: it may be alive."""
    run(bundle)
    part = cache.folder / f".{'0' * 16}.{'1' * 16}"
    part.write_bytes(b"okrun-admission 1 ")
    bundle.chmod(0o600)
    run(bundle)
    assert part.exists()
    clock.ahead += 3601 * SECOND
    bundle.chmod(0o644)
    run(bundle)
    assert not part.exists()


@pytest.mark.spec("CAC-12")
def test_at_most_so_many(run, bundle, cache, place, monkeypatch, clock):
    """Of more records than are kept those that were not used for longest are removed."""
    monkeypatch.setattr(store, "MAX_RECORDS", 3)
    bundles = [hello(place, name=f"{number}.okb") for number in range(4)]
    for path in bundles[:3]:
        run(path)
        clock.ahead += 2 * 86400 * SECOND
    assert run(bundles[0]) == "hit"  # used last, so that the second is now the one to go
    run(bundles[3])
    assert len(cache.records()) == 3
    assert [run(bundles[number]) for number in (0, 2, 3)] == ["hit"] * 3
    assert run(bundles[1]).startswith("miss: there is no record")


@pytest.mark.spec("CAC-12")
def test_at_most_so_much(run, place, cache, monkeypatch):
    """Of more bytes, too; but the one that has just been written stays, however long it is."""
    first, second = hello(place, name="1.okb"), hello(place, name="2.okb")
    run(first)
    monkeypatch.setattr(store, "MAX_BYTES", cache.record().stat().st_size)
    run(second)
    assert run(second) == "hit"
    assert len(cache.records()) == 1
    monkeypatch.setattr(store, "MAX_BYTES", 1)
    assert run(first).endswith("; remembered")
    assert run(first) == "hit"


@pytest.mark.spec("CAC-12")
def test_at_most_so_long(run, place, cache, clock):
    """A record that has not been used for 30 days is removed when another is written."""
    first, second = hello(place, name="1.okb"), hello(place, name="2.okb")
    run(first)
    clock.ahead += MAX_AGE + 2 * SECOND
    run(second)
    assert len(cache.records()) == 1
    assert run(second) == "hit"


@pytest.mark.spec("CAC-12")
def test_a_use_is_noted_once_a_day(run, bundle, cache, clock):
    """A hit writes nothing where one of the same day has been noted."""
    run(bundle)
    noted = cache.record().stat().st_mtime_ns
    clock.ahead += 3600 * SECOND
    run(bundle)
    assert cache.record().stat().st_mtime_ns == noted
    clock.ahead += 86400 * SECOND
    run(bundle)
    assert cache.record().stat().st_mtime_ns > noted


@pytest.mark.spec("CAC-4", "CAC-11")
def test_no_lease(run, bundle, cache, monkeypatch):
    """Where the system gives no lease, each start reads the file, and none is kept waiting."""
    import fcntl

    for number, why in (
        (errno.EACCES, "only its owner may ask whether somebody is writing to the file"),
        (errno.EINVAL, "nothing says whether somebody is writing to the file: Invalid argument"),
    ):

        def refuse(fd, command, *args, number=number):
            if command == fcntl.F_SETLEASE:
                raise OSError(number, os.strerror(number))
            return 0

        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "fcntl", refuse)
            assert run(bundle).endswith(f"; not remembered: {why}")
    assert cache.records() == []


@pytest.mark.spec("CAC-4")
def test_lease_is_given_back(starter, bundle):
    """A start holds no lease when the image runs: its writer would wait for the image's end."""
    for _ in range(2):
        start = starter(bundle)
        with open(bundle, "r+b", opener=lambda p, f: os.open(p, f | os.O_NONBLOCK)):
            pass
        finish(start)


@pytest.mark.spec("OKB-23", "CAC-11")
def test_a_broken_bundle_stays_broken(run, bundle, cache):
    """A refusal is not remembered, and a record is not what makes it one."""
    run(bundle)
    overwrite(bundle)
    for _ in range(2):
        with pytest.raises(OkError, match="OKB-23"):
            run(bundle)
    assert len(cache.records()) == 1
    assert IMAGES.exists()
