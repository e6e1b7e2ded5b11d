"""An index grows by what was asked, in a process that nobody waits for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import build_index, by_file, by_index, every_address, files_of, grow_index

from okld.syms import symbolizer
from okld.syms.index import grow
from okld.syms.index.store import overgrown

ROOT = Path(__file__).parents[2]
COMMAND = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from okld.syms import symbolizer
from okld.syms.index import grow, writer
now = time.time_ns
grow.time_ns = writer.time_ns = lambda: now() + 10 * 10**9
symbolizer.SMALL = int(sys.argv.pop(1))
from okld.cli.main import main
sys.exit(main())
"""


def until(condition):
    """Wait for what another process does, a minute at most."""
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def address_of(path, name):
    every = every_address(path)
    return next(a for a, t in zip(every, by_file(path, every), strict=True) if name in t)


@pytest.mark.spec("IDX-9")
def test_after_the_first_answer(program):
    """The first answer about a large file has an index made, of names and of the unit asked for."""
    address = address_of(program, "two")
    words = [sys.executable, "-c", COMMAND, "0", "symbolize", str(program), f"{address:#x}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "two+0x" in done.stdout
    assert until(lambda: by_index(program, [address])[0] is not None)
    assert by_index(program, [address]) == by_file(program, [address])
    again = subprocess.run(words, capture_output=True, text=True, check=True)
    assert again.stdout == done.stdout


@pytest.mark.spec("IDX-9")
def test_where_there_is_no_process_left(program, monkeypatch):
    """The answer is given, and the index does not grow."""

    def fails():
        raise BlockingIOError

    address = address_of(program, "two")
    monkeypatch.setattr(os, "fork", fails)
    monkeypatch.setattr(symbolizer, "SMALL", 0)
    with symbolizer.symbols(program) as symbols:
        assert symbols.lookup(address).name == "two"
        symbols.grow_index()
    assert by_index(program, [address]) == [None]


@pytest.mark.spec("IDX-9")
def test_who_grows_holds_nothing(program, tmp_path):
    """The process that adds to the index has closed its parent's output before it begins."""
    address = address_of(program, "two")
    hold = tmp_path / "hold"
    os.mkfifo(hold)
    wait = f"grow._add_names = lambda *_: open({str(hold)!r}).read()\n"
    slow = COMMAND.replace("from okld.cli.main", f"{wait}from okld.cli.main")
    words = [sys.executable, "-c", slow, "0", "symbolize", str(program), f"{address:#x}"]
    # It waits in the FIFO; were its output still ours, this would wait with it.
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert "two+0x" in done.stdout
    with open(hold, "w"):
        pass


@pytest.mark.spec("IDX-9")
@pytest.mark.parametrize(
    ("size", "words"),
    [
        pytest.param(1 << 30, (), id="a small file"),
        pytest.param(0, ("--no-index",), id="off"),
    ],
)
def test_nothing_grows(program, cache, size, words):
    """Of a small file, and where none is wanted, no index is made."""
    address = address_of(program, "two")
    line = [sys.executable, "-c", COMMAND, str(size), "symbolize", *words, str(program)]
    subprocess.run([*line, f"{address:#x}"], capture_output=True, check=True)
    time.sleep(0.3)
    assert files_of(cache) == []


@pytest.mark.spec("IDX-10")
def test_patience(program, monkeypatch):
    """After the time that growing may take no further unit is read."""
    monkeypatch.setattr(grow, "PATIENCE", -1.0)
    every = every_address(program)
    assert grow_index(program, every) == ""
    known = by_index(program, every)
    truth = by_file(program, every)
    framed = [
        (got is not None, "two" in want)
        for got, want in zip(known, truth, strict=True)
        if want[0] == "Found" and want[5]
    ]
    assert {True, False} == {has for has, _ in framed}


@pytest.mark.spec("IDX-7")
def test_packs_are_put_together():
    """Added one after the other, a thousand packs are never more than eleven."""
    files: dict[str, int] = {}
    written = 0
    for number in range(1000):
        files[str(number)] = 100
        names = overgrown(files)
        if names:
            size = sum(files.pop(name) for name in names)
            files[f"{number} together"] = size
            written += size
        assert len(files) <= 11
    assert sum(files.values()) == 100_000
    assert written <= 11 * 100_000


@pytest.mark.spec("IDX-7")
def test_a_broken_pack_among_others(program, cache):
    """A pack that is broken is thrown away when it is to be put together with others."""
    every = every_address(program)
    truth = by_file(program, every)
    grow_index(program, [address_of(program, "two")])
    (pack,) = cache.glob("*/*.lines.*")
    pack.write_bytes(pack.read_bytes()[:-3])
    assert grow_index(program, every) == ""
    assert by_index(program, every) == truth
    build_index(program)
    assert by_index(program, every) == truth
    assert not pack.exists()
    assert len(list(cache.glob("*/*.lines.*"))) == 1
