"""What dwz moved out of several programs is as true as before, and no worse than lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from far_program import code, ours, run, told

import okld
from okld.syms.options import Options

FORMS = [("g++", 4, ()), ("g++", 5, ()), ("g++", 5, ("--dwarf-5",))]


@pytest.fixture
def shared(build):
    """Return a program that shares debug information with another, and one that does not."""

    def make(compiler: str, version: int, options: tuple[str, ...] = ()) -> tuple[Path, Path]:
        whole = build("whole", compiler, f"-gdwarf-{version}")
        program = build("program", compiler, f"-gdwarf-{version}")
        other = build("other", compiler, f"-gdwarf-{version}", "-O1")
        other.replace(program.with_name("other"))
        names = ("-m", "common.debug", "-M", "common.debug", "program", "other")
        run("dwz", *options, *names, cwd=program.parent)
        assert program.with_name("common.debug").exists()
        return whole, program

    return make


@pytest.mark.spec("LIN-33", "LIN-34", "DBG-10")
@pytest.mark.parametrize(("compiler", "version", "options"), FORMS)
def test_a_program_that_shares_tells_what_a_whole_one_does(shared, compiler, version, options):
    """Of each of its addresses: every function, file, line and column."""
    whole, program = shared(compiler, version, options)
    addresses = code(whole)
    assert ours(program, addresses) == told(whole, addresses)


@pytest.mark.spec("LIN-34", "LIN-35", "LIN-36")
@pytest.mark.parametrize("what", ["missing", "fifo", "empty", "another build's"])
@pytest.mark.parametrize(("compiler", "version", "options"), FORMS)
def test_what_is_lost_is_named_so(shared, compiler, version, options, what):
    """No name is empty or wrong, all lines stay, and a note says what is missing."""
    whole, program = shared(compiler, version, options)
    common = program.with_name("common.debug")
    good = common.read_bytes()
    common.unlink()
    if what == "fifo":
        os.mkfifo(common)
    elif what != "missing":
        common.write_bytes(b"" if what == "empty" else changed(good, program))
    addresses = code(whole)
    want = told(whole, addresses)
    with okld.symbols(program, options=Options(debug_dirs=(), cache=False)) as symbols:
        answers = list(symbols.lookup_many(addresses))
    lost = 0
    for answer, rows in zip(answers, want, strict=True):
        if isinstance(answer, okld.Miss):
            assert rows[0][0] == ""  # padding
            continue
        frames = [(f.function, Path(f.file).name, f.line) for f in answer.frames]
        assert [frame[1:] for frame in frames] == [row[1:3] for row in rows]
        for frame, row in zip(frames, rows, strict=True):
            assert frame[0] in (row[0], "<in alt file>")
        if any(frame[0] == "<in alt file>" for frame in frames):
            lost += 1
            assert any("alternate file" in note for note in answer.notes)
    assert lost > 20


def changed(good: bytes, program: Path) -> bytes:
    """Return another build's file: one byte of the id differs."""
    link = program.read_bytes()
    at = link.index(b"common.debug\0") + len(b"common.debug\0")
    identity = link[at : at + 20] if link[at] != 20 else link[at + 1 : at + 21]
    assert good.count(identity) == 1
    return good.replace(identity, bytes([identity[0] ^ 1]) + identity[1:])


@pytest.mark.spec("LIN-36")
def test_a_file_that_is_its_own_alternate_ends(shared):
    """A cycle is followed no further than once."""
    _, program = shared("g++", 4)
    data = program.read_bytes()
    link = data.index(b"common.debug\0")
    identity = data[link + 13 : link + 33]
    own = bytearray(data.replace(b"common.debug\0", b"program\0\0\0\0\0\0"))
    own[link + 8 : link + 28] = identity
    program.write_bytes(own)
    with okld.symbols(program, options=Options(debug_dirs=(), cache=False)) as symbols:
        for answer in symbols.lookup_many(code(program)):
            assert isinstance(answer, okld.Found | okld.Miss)
