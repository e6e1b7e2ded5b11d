"""``okrun cache``: what people can see of the cache, and do about it."""

from __future__ import annotations

import errno
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starts import HELLO, SECOND, hello, overwrite

from okrun.admission.cache import MAX_AGE
from okrun.cli import cache as commands

OKRUN = str(Path(sys.executable).with_name("okrun"))


def okrun_cache(*words: object) -> subprocess.CompletedProcess[str]:
    words = [OKRUN, "cache", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def said(*words: object) -> str:
    done = okrun_cache(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.spec("CAC-13")
def test_dir(cache):
    """`dir` says where records are, also before there is one."""
    assert said("dir") == f"{cache.folder}\n"
    assert not cache.place.exists()


@pytest.mark.spec("CAC-13")
@pytest.mark.parametrize("word", ["list", "verify", "gc", "clear"])
def test_an_empty_cache(word):
    """Where there is no cache yet there is nothing to say or to do."""
    assert said(word) in ("", "0 forgotten\n")


@pytest.mark.spec("CAC-13")
def test_list(run, cache, place, clock):
    """`list` has a line for each record, the last used first, with the day and the bundle."""
    first, second = hello(place, name="1\n.okb"), hello(place, name="2.okb")
    run(first)
    clock.ahead += 2 * 86400 * SECOND
    run(second)
    (cache.folder / ("0" * 16)).write_text("nothing")
    (cache.folder / ("0" * 16)).chmod(0o600)
    days = [time.strftime("%Y-%m-%d", time.gmtime(clock() // SECOND - ago)) for ago in (0, 172800)]
    lines = said("list").splitlines()
    assert lines[0] == f"{days[0]}  x86_64  {second}"
    named = str(first).replace("\n", "\\x0a")
    assert f"{days[1]}  x86_64  {named}" in lines[1:]
    assert any(line.endswith("  unusable: the record is none") for line in lines[1:])


@pytest.mark.spec("CAC-14")
def test_verify(run, cache, place):
    """`verify` hashes again, keeps what is the same and forgets what is another or gone."""
    paths = [hello(place, name=f"{name}.okb") for name in ("same", "other", "gone")]
    for path in paths:
        run(path)
    overwrite(paths[1])
    paths[2].unlink()
    (cache.folder / ("0" * 16)).write_text("nothing")
    lines = sorted(said("verify").splitlines())
    assert lines == sorted(
        [
            f"{paths[0]}: x86_64: the same",
            f"{paths[1]}: x86_64: forgotten: its modification time is another",
            f"{paths[2]}: x86_64: forgotten: No such file or directory",
            "forgotten: unusable: the record is not ours alone",
        ]
    )
    assert said("verify") == f"{paths[0]}: x86_64: the same\n"
    assert run(paths[0]) == "hit"


@pytest.mark.spec("CAC-14")
def test_verify_finds_what_no_stat_can(run, cache, bundle, monkeypatch):
    """
    Bytes that changed with no trace, here by a writer who was overlooked on purpose, are found.
    """
    import okrun.anew

    class NoLease:
        refused = ""

        def __init__(self, fd: int) -> None:
            pass

        check = end = lambda self: None

    monkeypatch.setattr(okrun.anew, "Lease", NoLease)
    with open(bundle, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        at = memory.find(HELLO)
        memory[at] = memory[at]
        assert run(bundle).endswith("; remembered")
        memory[at : at + 5] = b"HELLO"
        done = okrun_cache("verify")
        assert done.returncode == 1
        assert "forgotten: its bytes are others, and its identity is not" in done.stdout
    assert cache.records() == []


@pytest.mark.spec("CAC-13", "CAC-12")
def test_gc(run, cache, place, clock):
    """`gc` forgets what is too old, or of files that are no longer the same."""
    paths = [hello(place, name=f"{name}.okb") for name in ("old", "other", "gone", "kept")]
    clock.ahead = -MAX_AGE - 3600 * SECOND  # the files are of the future, and not remembered
    run(paths[0])
    clock.ahead = 10 * SECOND
    for path in paths[1:]:
        run(path)
    overwrite(paths[1])
    paths[2].unlink()
    assert said("gc") == "2 forgotten\n"
    assert run(paths[3]) == "hit"
    assert said("gc") == "0 forgotten\n"


@pytest.mark.spec("CAC-13")
def test_clear(run, cache, bundle):
    """`clear` forgets everything, parts of records too."""
    run(bundle)
    (cache.folder / ".left").write_text("")
    assert said("clear") == "2 forgotten\n"
    assert list(cache.folder.iterdir()) == []
    assert run(bundle).endswith("; remembered")


@pytest.mark.spec("CAC-13", "CAC-14", "CAC-11")
@pytest.mark.parametrize("word", ["list", "verify", "gc", "clear"])
def test_a_directory_in_the_cache(run, cache, bundle, word):
    """What is no file is left alone, and keeps no command and no start from its work."""
    cache.folder.mkdir(parents=True, mode=0o700)
    stranger = cache.folder / "stranger"
    stranger.mkdir()
    os.utime(stranger, (0, 0))  # older than anything that is kept
    assert run(bundle) == "miss: there is no record; remembered"
    done = okrun_cache(word)
    assert (done.returncode, done.stderr) == (0, "")
    assert (cache.records() == [stranger]) is (word == "clear")
    assert stranger.is_dir()


@pytest.mark.spec("CAC-13", "CAC-8")
def test_a_cache_that_is_not_ours(run, cache, bundle):
    """Commands touch nothing in a directory that others may write to."""
    run(bundle)
    cache.folder.chmod(0o777)
    for word in ("list", "verify", "gc", "clear"):
        done = okrun_cache(word)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    assert len(cache.records()) == 1


@pytest.mark.spec("CAC-13", "CLI-1")
@pytest.mark.parametrize("words", [[], ["drop"], ["list", "all"], ["--all"]])
def test_usage(words):
    """A request that makes no sense is one line and status 2."""
    done = okrun_cache(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("okrun: usage: okrun cache ")
    assert "okrun cache dir|" in said("--help")


@pytest.mark.spec("CAC-13")
def test_an_image_called_cache(place, cache):
    """An image of that name is ./cache."""
    hello(place, name="cache")
    done = subprocess.run([OKRUN, "./cache"], cwd=place, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"hello\n")


@pytest.mark.spec("CAC-13", "CLI-1")
@pytest.mark.parametrize("word", ["gc", "clear", "verify"])
def test_a_cache_that_cannot_be_written(run, cache, bundle, monkeypatch, capfd, word):
    """One line says which, and why, and the status is that of a cache that cannot be used."""
    run(bundle)
    bundle.unlink()  # so that each of them wants to forget it

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("okrun.admission.store.os.unlink", refuse)
    assert commands.run([word]) == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", f"okrun: {cache.folder}: Read-only file system\n")
    assert len(cache.records()) == 1


@pytest.mark.spec("CAC-13", "CLI-1", "TRU-9")
@pytest.mark.parametrize("words", [("cache", "dir"), ("cache", "--help"), ("trust", "--help")])
def test_output_that_nobody_reads(words):
    """Ends quietly where the reader has gone, and in one line where it cannot be written."""
    reader, writer = os.pipe()
    os.close(reader)
    for sink, err in ((writer, b""), (os.open("/dev/full", os.O_WRONLY), b"standard output")):
        done = subprocess.run([OKRUN, *words], stdout=sink, stderr=subprocess.PIPE, check=False)
        os.close(sink)
        assert done.returncode == 2
        assert (done.stderr.count(b"\n"), err in done.stderr) == (int(bool(err)), True)


@pytest.mark.spec("STAT-1")
def test_help_that_nobody_reads():
    """Is no line on standard error either."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([OKRUN, "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (125, b"")
