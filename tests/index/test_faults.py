"""Whatever is wrong with the cache, an answer is the right one or is asked of the file."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import (
    build_index,
    by_file,
    by_index,
    compile_all,
    every_address,
    files_of,
    grow_index,
    opened,
)

from okld.base import place as where
from okld.base import private
from okld.syms.index import reader
from okld.syms.index.build import Failed
from okld.syms.options import Options

FEW = 12  # addresses that are asked of each broken cache


def asked(path):
    """Return some addresses, and what the file says of them."""
    every = every_address(path)
    chosen = every[:: max(1, len(every) // FEW)]
    return chosen, by_file(path, chosen)


def right_or_none(path, chosen, truth):
    """Hold that the index gives no wrong answer; return how many it gives."""
    got = by_index(path, chosen)
    assert all(each in (None, want) for each, want in zip(got, truth, strict=True))
    return sum(each is not None for each in got)


@pytest.mark.spec("IDX-5")
def test_every_byte_of_the_cache(program, cache):
    """With any byte of any file of the cache changed there is no wrong answer, and no error."""
    build_index(program)
    chosen, truth = asked(program)
    assert right_or_none(program, chosen, truth) == len(chosen)
    for file in files_of(cache):
        good = file.read_bytes()
        counts = set()
        for at in range(len(good)):
            file.write_bytes(good[:at] + bytes([good[at] ^ (1 << at % 8)]) + good[at + 1 :])
            counts.add(right_or_none(program, chosen, truth))
        assert min(counts) < len(chosen)
        file.write_bytes(good)
    assert right_or_none(program, chosen, truth) == len(chosen)


@pytest.mark.spec("IDX-5", "IDX-7")
def test_every_file_of_the_cache_cut(program, cache):
    """With any file of the cache cut at any place, empty or gone there is no wrong answer."""
    build_index(program)
    chosen, truth = asked(program)
    for file in files_of(cache):
        good = file.read_bytes()
        for length in range(0, len(good), 7):
            file.write_bytes(good[:length])
            assert right_or_none(program, chosen, truth) < len(chosen)
        file.unlink()
        assert right_or_none(program, chosen, truth) < len(chosen)
        file.write_bytes(good)
        file.chmod(0o600)


@pytest.mark.spec("IDX-3")
def test_a_file_with_the_times_of_the_one_before(tmp_path, program):
    """A file of the same length, with restored times, in the place or in the inode, is another."""
    build_index(program)
    before = program.stat()
    data = program.read_bytes()
    other = tmp_path / "other"
    other.write_bytes(data.replace(b"two", b"TWO"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert opened(program) is not None
    with open(program, "r+b") as file:
        file.write(data.replace(b"two", b"TWO"))
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert opened(program) is None
    build_index(program)
    assert opened(program) is not None
    os.rename(other, program)
    assert opened(program) is None


def with_debug_file(path):
    debug = path.with_name("program.debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    words = ["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", path]
    subprocess.run(words, check=True)
    return debug


@pytest.mark.spec("IDX-3")
@pytest.mark.parametrize("how", ["changed", "gone", "another"])
def test_a_debug_file_that_changes(program, how):
    """When the debug file is another, or gone, its answers are not given any more."""
    debug = with_debug_file(program)
    build_index(program)
    assert opened(program) is not None
    if how == "changed":
        debug.chmod(0o640)
    elif how == "gone":
        debug.unlink()
    else:
        shutil.copy(debug, debug.with_name("copy"))
        os.rename(debug.with_name("copy"), debug)
    assert opened(program) is None


@pytest.mark.spec("IDX-3")
def test_a_debug_file_that_is_installed_later(program):
    """An index that was made without a debug file does not outlive its appearance."""
    debug = with_debug_file(program)
    os.rename(debug, debug.with_name("elsewhere"))
    build_index(program)
    assert opened(program) is not None
    (program.parent / ".debug").mkdir()
    os.rename(debug.with_name("elsewhere"), program.parent / ".debug" / debug.name)
    assert opened(program) is None
    build_index(program)
    assert any("two" in each for each in by_index(program, every_address(program)))


@pytest.mark.spec("IDX-3", "IDX-6", "IDX-13")
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_an_alternate_file_that_changes(tmp_path, how):
    """What dwz has moved to a file of its own is in the index, while that file is the same."""
    paths = [compile_all(tmp_path, name=name) for name in ("a", "b")]
    subprocess.run(["dwz", "-m", "common", "-h", "a", "b"], cwd=tmp_path, check=True)
    common = tmp_path / "common"
    assert common.exists()
    every = every_address(paths[0])
    truth = by_file(paths[0], every)
    build_index(paths[0])
    assert by_index(paths[0], every) == truth
    common.chmod(0o640) if how == "changed" else common.unlink()
    assert opened(paths[0]) is None
    build_index(paths[0])
    truth, got = by_file(paths[0], every), by_index(paths[0], every)
    assert all(each in (None, want) for each, want in zip(got, truth, strict=True))


@pytest.mark.spec("IDX-3")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(Options(external=False), id="no other files"),
        pytest.param(Options(debug_dirs=("/d",)), id="another directory"),
        pytest.param(Options(sysroot="/r"), id="a sysroot"),
        pytest.param(Options(debuginfod=("http://127.0.0.1:9",)), id="a server"),
    ],
)
def test_another_question(program, options):
    """With options that could lead to other answers another index is looked for."""
    build_index(program)
    assert opened(program) is not None
    assert opened(program, options) is None


@pytest.mark.spec("IDX-1")
def test_without_the_cache(program, cache):
    """With the cache off nothing is read."""
    build_index(program)
    assert opened(program, Options(cache=False)) is None
    assert opened(program) is not None


@pytest.mark.spec("IDX-4")
@pytest.mark.parametrize("ahead", [0, -5 * 10**9], ids=["just changed", "in the future"])
def test_a_file_that_has_not_settled(program, cache, clock, ahead):
    """Nothing is kept of a file that changed less than 2 s ago, or whose times are ahead."""
    clock.ahead = ahead
    with pytest.raises(Failed, match=r"2 s ago|in the future"):
        build_index(program)
    assert grow_index(program, every_address(program))
    assert files_of(cache) == []


@pytest.mark.spec("IDX-4")
def test_a_file_that_changes_meanwhile(program, cache, monkeypatch):
    """A file that is changed while it is read leaves nothing behind that would be found."""
    from okld.syms.index import grow as grown

    real = grown.add_names

    def and_touch(contents, sources, window):
        real(contents, sources, window)
        program.chmod(0o700)
        program.chmod(0o755)

    monkeypatch.setattr(grown, "add_names", and_touch)
    assert "change time changed" in grow_index(program, every_address(program))
    assert opened(program) is None


def other_stat(real, **more):
    """Return a status with some fields changed."""
    fields = {name: getattr(real, name) for name in dir(real) if name.startswith("st_")}
    return type("Status", (), {**fields, **more})()


@pytest.mark.spec("IDX-2")
@pytest.mark.parametrize("depth", ["all indexes", "one index"])
@pytest.mark.parametrize("what", ["a link", "another's", "open to all"])
def test_a_directory_that_is_not_ours(program, cache, tmp_path, monkeypatch, depth, what):
    """A directory that is a link, another user's or open to others is not read or written."""
    build_index(program)
    (key,) = (each for each in cache.iterdir() if each.is_dir())
    folder = cache if depth == "all indexes" else key
    chosen, truth = asked(program)
    if what == "a link":
        os.rename(folder, tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    elif what == "open to all":
        folder.chmod(0o777)
    else:
        inode, real = folder.stat().st_ino, os.fstat

        def fstat(fd):
            status = real(fd)
            uid = status.st_uid + (status.st_ino == inode)
            return other_stat(status, st_uid=uid) if status.st_ino == inode else status

        monkeypatch.setattr(private.os, "fstat", fstat)
    before = files_of(tmp_path)
    assert right_or_none(program, chosen, truth) == 0
    with pytest.raises(Failed):
        build_index(program)
    assert files_of(tmp_path) == before


@pytest.mark.spec("IDX-2")
@pytest.mark.parametrize("what", ["a link", "open to all", "a pipe"])
def test_a_file_that_is_not_ours(program, cache, tmp_path, what):
    """A head or a pack that is a link, a FIFO, or that others may read is none."""
    build_index(program)
    chosen, truth = asked(program)
    for file in files_of(cache):
        os.rename(file, tmp_path / "saved")
        if what == "a link":
            file.symlink_to(tmp_path / "saved")
        elif what == "a pipe":
            os.mkfifo(file, 0o600)
        else:
            shutil.copy(tmp_path / "saved", file)
            file.chmod(0o644)
        assert right_or_none(program, chosen, truth) < len(chosen)
        file.unlink()
        os.rename(tmp_path / "saved", file)
    assert right_or_none(program, chosen, truth) == len(chosen)


@pytest.mark.spec("IDX-2")
def test_nobody_else_may_look(program, cache):
    """Directories are made with mode 0700 and files with 0600, whatever the umask."""
    before = os.umask(0)
    try:
        build_index(program)
    finally:
        os.umask(before)
    made = [cache.parent, cache, *cache.glob("*"), *cache.glob("*/*")]
    assert {(path.is_dir(), path.stat().st_mode & 0o7777) for path in made} == {
        (True, 0o700),
        (False, 0o600),
    }


@pytest.mark.spec("IDX-1")
@pytest.mark.parametrize("how", ["elevated", "relative", "no home"])
def test_no_place(program, cache, monkeypatch, how):
    """Without a place, or with rights that the starter has not, nothing is read or written."""
    build_index(program)
    before = files_of(cache)
    if how == "elevated":
        monkeypatch.setattr(where, "_auxiliary", lambda vector, kind: int(kind == 23))
    elif how == "relative":
        monkeypatch.setenv("OKLD_CACHE_DIR", "relative")
    else:
        monkeypatch.delenv("OKLD_CACHE_DIR")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", "/")
    assert opened(program) is None
    with pytest.raises(Failed, match="no place"):
        build_index(program)
    assert files_of(cache) == before


@pytest.mark.spec("IDX-1")
def test_a_place_in_the_home(program, tmp_path, monkeypatch):
    """By the XDG specification indexes are in the user's cache directory."""
    monkeypatch.delenv("OKLD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert reader.folder_path() == str(tmp_path / "xdg/okld/symbols")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert reader.folder_path() == str(tmp_path / "home/.cache/okld/symbols")


@pytest.mark.spec("IDX-5", "IDX-7")
@pytest.mark.parametrize("limit", range(0, 1600, 100))
def test_a_full_disk(program, cache, limit):
    """Where no file may grow beyond some bytes, nothing is left but whole files, and no error."""
    chosen, truth = asked(program)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        why = grow_index(program, chosen)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert (why == "") == (right_or_none(program, chosen, truth) > 0)
    assert not [file for file in files_of(cache) if file.name.startswith(".")]


@pytest.mark.spec("IDX-5", "IDX-7")
@pytest.mark.parametrize("call", ["open", "write", "rename", "mkdir", "utime"])
def test_what_cannot_be_written(program, cache, monkeypatch, call):
    """A cache that cannot be written is no error, and answers stay right."""
    real = getattr(os, call)

    def fails(*args, **more):
        if call == "open" and not args[1] & os.O_CREAT:
            return real(*args, **more)
        raise OSError(30, "Read-only file system")

    chosen, truth = asked(program)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fails)
        assert "Read-only" in grow_index(program, chosen)
    assert right_or_none(program, chosen, truth) == 0
    assert files_of(cache) == []
    assert grow_index(program, chosen) == ""
    with monkeypatch.context() as patch:
        patch.setattr(os, "utime", fails)
        assert right_or_none(program, chosen, truth) == len(chosen)


WRITER = """
import sys, time
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import programs
from okld.syms.index import writer, grow
now = time.time_ns
for module in (writer, grow):
    module.time_ns = lambda: now() + 10 * 10**9
print("begin", flush=True)
for _ in range(int(sys.argv[4])):
    programs.build_index(sys.argv[3])
"""


def writing(program, times):
    """Start a process that builds the index again and again."""
    here = Path(__file__).parent
    words = [sys.executable, "-c", WRITER, str(here.parents[1]), str(here), program, str(times)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begin\n"
    return child


@pytest.mark.spec("IDX-7")
def test_killed_on_the_way(program, cache):
    """Whenever whoever writes is killed, answers are right, and the next one builds it whole."""
    chosen, truth = asked(program)
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        child = writing(program, 50)
        time.sleep(wait)
        child.kill()
        child.communicate()
        right_or_none(program, chosen, truth)
    build_index(program)
    assert right_or_none(program, chosen, truth) == len(chosen)


@pytest.mark.spec("IDX-7")
def test_several_at_once(program, cache):
    """While three write the same index, readers get right answers; at last it is whole."""
    chosen, truth = asked(program)
    children = [writing(program, 4) for _ in range(3)]
    while any(child.poll() is None for child in children):
        right_or_none(program, chosen, truth)
    assert [child.communicate() and child.returncode for child in children] == [0, 0, 0]
    assert right_or_none(program, chosen, truth) == len(chosen)


@pytest.mark.spec("IDX-7", "IDX-9")
def test_one_at_a_time(program, cache):
    """While another adds to an index nothing is added."""
    from fcntl import LOCK_EX, flock

    build_index(program)
    (key,) = (each for each in cache.iterdir() if each.is_dir())
    before = files_of(cache)
    folder = os.open(key, os.O_RDONLY)
    flock(folder, LOCK_EX)
    assert grow_index(program, every_address(program)) == "another process adds to the index"
    os.close(folder)
    assert files_of(cache) == before


@pytest.mark.spec("IDX-5")
def test_a_head_that_somebody_made_up(program, cache, tmp_path):
    """A head with a right checksum that leads out of the cache leads nowhere."""
    build_index(program)
    head = next(each for each in cache.iterdir() if each.is_file())
    from okld.syms.index.encode import payload_of, seal
    from okld.syms.index.format import columns_of, unseal

    columns, strings = columns_of(unseal(head.read_bytes()))
    texts = [strings[index] for index in range(len(strings))]
    key = texts[columns[7][0]]
    for other in ("", "..", "../..", f"../symbols/{key}", "/", ".hidden", "nothing", "a\0b"):
        changed = [other if text == key else text for text in texts]
        data = payload_of([list(c) for c in columns], [text.encode() for text in changed])
        head.write_bytes(seal(data, compressed=False))
        assert opened(program) is None
    head.write_bytes(seal(payload_of([list(c)[:-1] for c in columns], []), compressed=False))
    assert opened(program) is None
