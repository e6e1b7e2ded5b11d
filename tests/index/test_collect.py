"""What is kept, and what is thrown away."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from programs import build_index, by_index, compile_all, every_address, files_of, opened

from okld.image.open import open_file
from okld.syms.index import collect as collecting
from okld.syms.index.collect import ABANDONED, MAX_AGE, collect, forget, kept
from okld.syms.index.reader import TOUCHED, open_index
from okld.syms.options import Options

DAY = 86400 * 10**9


@pytest.fixture
def programs(tmp_path: Path) -> list[Path]:
    """Three programs with an index each, the first one used last."""
    made = [compile_all(tmp_path, f"-DN={number}", name=f"p{number}") for number in range(3)]
    for path in reversed(made):
        build_index(path)
        time.sleep(0.01)
    return made


@pytest.fixture
def store(cache, programs):
    fd = os.open(cache, os.O_RDONLY)
    yield fd
    os.close(fd)


def has_index(programs):
    return [opened(path) is not None for path in programs]


@pytest.mark.spec("IDX-12")
def test_what_is_kept(store, programs, cache):
    """Indexes are listed with their file, all their bytes, and the last used first."""
    found = kept(store)
    assert [each.head.path for each in found] == [str(path) for path in programs]
    assert sum(each.size for each in found) == sum(file.stat().st_size for file in files_of(cache))


@pytest.mark.spec("IDX-8")
def test_too_old(store, programs, cache):
    """What was not used for 30 days goes, with its packs; a use is noted, to a day."""
    now = time.time_ns()
    heads = {each.head.path: each.name for each in kept(store)}
    ages = (MAX_AGE + DAY, MAX_AGE - DAY, MAX_AGE + DAY)
    for path, age in zip(programs, ages, strict=True):
        os.utime(cache / heads[str(path)], ns=(now - age, now - age))
    with open_file(programs[2]) as file:
        open_index(file, Options(), now).close()
    for pack in cache.glob("*/*"):
        os.utime(pack, ns=(now - 2 * ABANDONED, now - 2 * ABANDONED))
    assert collect(store, now) == 1
    assert has_index(programs) == [False, True, True]
    stamps = {each.head.stamp for each in kept(store)}
    assert {pack.name.split(".")[0] for pack in cache.glob("*/*")} == stamps
    assert TOUCHED == DAY


@pytest.mark.spec("IDX-8")
def test_too_much(store, programs, monkeypatch):
    """Of more bytes than may be kept those go that were not used for longest; one is spared."""
    first = kept(store)[0]
    monkeypatch.setattr(collecting, "MAX_BYTES", first.size)
    assert collect(store, time.time_ns()) == 2
    assert has_index(programs) == [True, False, False]
    monkeypatch.setattr(collecting, "MAX_BYTES", 1)
    assert collect(store, time.time_ns(), spared=first.name) == 0
    assert has_index(programs) == [True, False, False]


@pytest.mark.spec("IDX-8")
def test_what_was_left_behind(store, programs, cache):
    """Parts and packs that belong to nobody go once they are old, and others' directories stay."""
    now = time.time_ns()
    key = next(each for each in cache.iterdir() if each.is_dir())
    old = [cache / ".part", key / "0123456789abcdef.lines.77", key / ".x"]
    young = [cache / ".new", key / "0123456789abcdef.lines.78"]
    for path in (*old, *young):
        path.write_bytes(b"")
    for path in old:
        os.utime(path, ns=(now - 2 * ABANDONED, now - 2 * ABANDONED))
    (cache / "notes").mkdir(mode=0o777)
    (cache / "notes").chmod(0o777)
    (cache / "notes" / "mine").write_text("")
    assert collect(store, now) == 0
    assert [path.exists() for path in old] == [False] * 3
    assert [path.exists() for path in young] == [True] * 2
    assert (cache / "notes" / "mine").exists()
    assert has_index(programs) == [True] * 3


@pytest.mark.spec("IDX-8")
def test_a_new_state_puts_out_the_old(program, cache):
    """When a file has changed and its index is built anew, the old packs go once they are old."""
    build_index(program)
    before = set(cache.glob("*/*"))
    program.chmod(0o700)
    build_index(program)
    assert opened(program) is not None
    assert set(cache.glob("*/*")) > before
    now = time.time_ns()
    for pack in cache.glob("*/*"):
        os.utime(pack, ns=(now - 2 * ABANDONED, now - 2 * ABANDONED))
    fd = os.open(cache, os.O_RDONLY)
    collect(fd, now)
    os.close(fd)
    assert not before & set(cache.glob("*/*"))
    assert None not in by_index(program, every_address(program))


@pytest.mark.spec("IDX-12")
def test_forgetting(store, programs, cache):
    """Who is forgotten is gone with its packs at once, and the others stay."""
    first = kept(store)[0]
    assert forget(store, {first.name, "nobody"}) == 1
    assert has_index(programs) == [False, True, True]
    assert not list(cache.glob(f"*/{first.head.stamp}.*"))
    assert forget(store, {each.name for each in kept(store)}) == 2
    assert list(cache.iterdir()) == []
