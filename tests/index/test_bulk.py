"""Many lines at once are the lines of the answers, one by one."""

from __future__ import annotations

import subprocess

import pytest
from programs import build_index, compile_all, every_address, grow_index

from okld.cli.render_answer import Text
from okld.image.open import open_file
from okld.syms.elf_sources import ElfSources
from okld.syms.index import bulk
from okld.syms.index.reader import open_index
from okld.syms.options import Options

PROGRAMS = {
    "as it is": ("gcc",),
    "clones and inlined calls": ("gcc", "-O3"),
    "without debug information": ("gcc", "-g0"),
    "without columns": ("gcc", "-gno-column-info"),
    "Thumb": ("arm-linux-gnueabihf-gcc", "-mthumb"),
    "big-endian": ("mips-linux-gnu-gcc",),
}


def teller():
    return Text(str, lambda notes: None, inlines=True)


def one_by_one(path, addresses, *, lines):
    with open_file(path) as file:
        sources = ElfSources(file, Options())
        try:
            found = [sources.lookup(address, lines=lines) for address in addresses]
        finally:
            sources.close()
    text = teller()
    return [text.line(f"{a:#x}", each) for a, each in zip(addresses, found, strict=True)]


def index_of(path):
    with open_file(path) as file:
        index = open_index(file, Options())
    assert index is not None
    return index


@pytest.mark.spec("IDX-6")
@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_same_lines(tmp_path, kind, lines):
    """In any order, again and again, of more and more addresses: the lines are the same."""
    cc, *options = PROGRAMS[kind]
    path = compile_all(tmp_path, *options, cc=cc)
    build_index(path)
    every = every_address(path)
    want = dict(zip(every, one_by_one(path, every, lines=lines), strict=True))
    index = index_of(path)
    for asked in (every[3:4], every[9:60], every[::-1], every[::7] * 2, [], every):
        got = bulk.texts(index, asked, asked, teller(), lines=lines)
        assert "".join(got) == "".join([want[address] for address in asked])
    index.close()


@pytest.mark.spec("IDX-6")
@pytest.mark.parametrize("lines", [True, False])
def test_far_apart(tmp_path, lines):
    """What is asked first, near or far, below or between, has no part in any answer."""
    far = "__attribute__((section(%s), noinline)) int %s(int x) { return x + %d; }\n"
    names = [("high", 3), ("middle", 2), ("low", 1)]
    text = "".join(far % (f'".{name}"', name, number) for name, number in names)
    (tmp_path / "far.c").write_text(text)
    places = [f"-Wl,--section-start=.{name}={number << 24:#x}" for name, number in names]
    words = ["gcc", "-g", "-nostdlib", "-static", "-o", "far", *places, "-Wl,--entry=low", "far.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    path = tmp_path / "far"
    build_index(path)
    near = [at << 24 | low for at in range(1, 4) for low in (*range(16), 0x400, 0x200000)]
    every = [0, 0x1000, *near, 1 << 40, 2**64 - 1]
    want = dict(zip(every, one_by_one(path, every, lines=lines), strict=True))
    assert sum("+0x" in line for line in want.values()) >= 3 * 8
    for order in (every, every[::-1], every[20:] + every[:20]):
        index = index_of(path)
        for at in range(0, len(order), 5):
            asked = order[at : at + 5]
            got = bulk.texts(index, asked, asked, teller(), lines=lines)
            assert "".join(got) == "".join([want[address] for address in asked])
        got = bulk.texts(index, order, order, teller(), lines=lines)
        assert "".join(got) == "".join([want[address] for address in order])
        index.close()


@pytest.mark.spec("IDX-6")
def test_two_functions_of_one_name(tmp_path):
    """Where one symbol of unknown size is before two functions of one name, each counts from its
    own start."""
    body = "static __attribute__((noinline, used)) int same(int x) { return x * %d; }\n"
    for number in range(2):
        more = "int _start(int x) { return x; }\n" if number else ""
        (tmp_path / f"{number}.c").write_text(body % (number + 3) + more)
    words = ["gcc", "-g", "-O1", "-nostdlib", "-o", "program", "0.c", "1.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    path = tmp_path / "program"
    subprocess.run(["objcopy", "--strip-all", "--keep-section=.debug_*", path], check=True)
    words = ["objcopy", "--add-symbol", "before=.text:0,function,global", path]
    subprocess.run(words, check=True)
    build_index(path)
    every = every_address(path)
    want = one_by_one(path, every, lines=True)
    index = index_of(path)
    assert bulk.texts(index, every, every, teller(), lines=True) == want
    index.close()
    assert sum("same+0x0 " in line for line in want) == 2


@pytest.mark.spec("IDX-6")
def test_what_is_not_known(program):
    """Of addresses that the index does not know there is no line."""
    every = every_address(program)
    want = one_by_one(program, every, lines=True)
    named = next(at for at, line in enumerate(want) if " two+" in line)
    grow_index(program, [every[named]])
    index = index_of(program)
    got = bulk.texts(index, every, every, teller(), lines=True)
    assert all(line in (None, wanted) for line, wanted in zip(got, want, strict=True))
    assert got[named] == want[named]
    assert None in got
    index.close()


@pytest.mark.spec("IDX-6")
def test_what_they_are_called(program):
    """A line begins with what was asked, whatever address that is."""
    build_index(program)
    every = every_address(program)
    index = index_of(program)
    got = bulk.texts(index, every, range(len(every)), teller(), lines=False)
    words = [line.partition(" ")[0] for line in "".join(got).splitlines()]
    assert words == [f"{at:#x}" for at in range(len(every))]
    index.close()


@pytest.mark.spec("IDX-5")
def test_a_broken_block(program, cache):
    """Where a block is broken there is no line, and no other line is wrong."""
    build_index(program)
    every = every_address(program)
    want = one_by_one(program, every, lines=True)
    (pack,) = cache.glob("*/*.lines.*")
    good = pack.read_bytes()
    for at in range(40, len(good), 23):
        pack.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        index = index_of(program)
        got = bulk.texts(index, every, every, teller(), lines=True)
        assert all(line in (None, wanted) for line, wanted in zip(got, want, strict=True))
        index.close()


@pytest.mark.spec("IDX-6")
def test_a_symbol_with_lines_and_without(tmp_path):
    """Of one symbol some addresses are in a unit and others in none: each has its own line."""
    (tmp_path / "bare.s").write_text(
        ".text\n.globl outer\n.type outer, @function\nouter: .skip 8\n"
    )
    (tmp_path / "c.c").write_text("int inner(int x) { return x + 1; }\nint _start;\n")
    subprocess.run(["as", "-o", "bare.o", "bare.s"], cwd=tmp_path, check=True)
    words = ["gcc", "-g", "-O1", "-nostdlib", "-o", "program", "bare.o", "c.c"]
    subprocess.run([*words, "-Wl,--entry=inner"], cwd=tmp_path, check=True)
    path = tmp_path / "program"
    subprocess.run(["objcopy", "--strip-symbol=inner", path], check=True)
    build_index(path)
    every = every_address(path)
    want = one_by_one(path, every, lines=True)
    index = index_of(path)
    for asked in (every, every[::-1]):
        assert bulk.texts(index, asked, asked, teller(), lines=True) == [
            want[every.index(address)] for address in asked
        ]
    index.close()
    text = "".join(want)
    assert " outer+0x" in text
    assert " inner+0x" in text
