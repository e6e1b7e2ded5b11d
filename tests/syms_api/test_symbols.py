"""`okld.symbols`: one door to all that names an address."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import okld
from okld.syms import address_space, debugfiles

NO_CACHE = okld.Options(cache=False, debug_dirs=())


def nm(path: Path) -> dict[str, int]:
    """Return the value of each symbol, as nm reads it."""
    text = subprocess.check_output(["nm", path], text=True)
    rows = [line.split() for line in text.splitlines()]
    return {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}


def ask(path: Path, *addresses: int, lines: bool = True, options: okld.Options = NO_CACHE):
    """Return the answers, which are the same one by one and together."""
    with okld.symbols(path, options=options) as symbols:
        one_by_one = [symbols.lookup(address, lines=lines) for address in addresses]
        together = symbols.lookup_many(addresses, lines=lines)
    assert list(map(told, one_by_one)) == list(map(told, together))
    return one_by_one


def told(found: okld.Found | okld.Miss) -> tuple[object, ...]:
    return tuple(getattr(found, name) for name in found.__slots__)


@pytest.mark.spec("ADR-6", "ADR-7")
def test_an_inlined_function_has_its_callers(make):
    """Innermost first; the name is the function's that the code is in."""
    path = make("-g")
    middle = nm(path)["middle"]
    (first, *_) = found = ask(path, *range(middle, middle + 8))
    assert (first.name, first.symbol, first.offset, first.value) == ("middle", "middle", 0, middle)
    (chain,) = {tuple(f.function for f in each.frames) for each in found if len(each.frames) > 1}
    assert chain == ("inner", "middle")
    inner = next(each for each in found if len(each.frames) > 1).frames[0]
    assert (inner.inlined, inner.file, inner.line) == (True, str(path.with_suffix(".c")), 3)


@pytest.mark.spec("ADR-6")
def test_names_alone_need_no_debug_information(make):
    """Which is not looked at."""
    path = make("-g")
    (found,) = ask(path, nm(path)["middle"], lines=False)
    assert (found.name, found.frames) == ("middle", ())


@pytest.mark.spec("ADR-2", "SYM-13")
def test_every_kind_of_address_is_the_same_place(make):
    """A link address, one counted from the image's first byte, and one from the file's."""
    path = make("-Wl,-Ttext-segment=0x700000")
    middle = nm(path)["middle"]
    headers = subprocess.check_output(["readelf", "-lW", path], text=True)
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    base = min(int(load[2], 16) for load in loads)
    (offset,) = [
        int(load[1], 16) + middle - int(load[2], 16)
        for load in loads
        if 0 <= middle - int(load[2], 16) < int(load[4], 16)
    ]
    kinds = [
        middle,
        okld.LinkAddr(middle),
        okld.ImageOffset(middle - base),
        okld.FileOffset(offset),
    ]
    assert {told(found) for found in ask(path, *kinds)} == {told(ask(path, middle)[0])}
    assert ask(path, middle)[0].name == "middle"
    assert ask(path, middle - base)[0].name is None


@pytest.mark.spec("ADR-2")
def test_a_numbers_range_says_what_it_is(make):
    """A link address where it can be one, and where it can be neither."""
    path = make("-Wl,-Ttext-segment=0x700000")
    with okld.symbols(path, options=NO_CACHE) as symbols:
        guesses = [symbols.guess(n) for n in (0x701000, 0x1000, 0x700000, 0, 0x10000000)]
    kinds = [okld.LinkAddr, okld.ImageOffset, okld.LinkAddr, okld.ImageOffset, okld.LinkAddr]
    assert list(map(type, guesses)) == kinds
    assert guesses == [0x701000, 0x1000, 0x700000, 0, 0x10000000]


@pytest.mark.spec("ADR-3", "SYM-14")
def test_a_place_in_a_section_of_a_relocatable_file(make):
    """Whose sections all begin at 0; answers count from there, too."""
    path = make("-g", "-c", "-ffunction-sections", name="part.o")
    places = [okld.SectionOffset(".text.middle", 2), okld.SectionOffset(".text._start", 0)]
    middle, start = ask(path, *places)
    assert (middle.name, middle.offset, middle.value) == ("middle", 2, 0)
    assert (start.name, start.frames[0].function) == ("_start", "_start")
    (missed,) = ask(path, 0)
    assert ".text" in missed.reason
    with okld.symbols(path, options=NO_CACHE) as symbols:
        assert symbols.named(".text.middle", 2) == [places[0]]
        (place,) = symbols.named("middle", 2)
        assert told(symbols.lookup(place)) == told(middle)


TWICE = """\
static __attribute__((noinline)) int twice(volatile int *x) {{ return {}; }}
int {}(volatile int *x) {{ return twice(x) + 1; }}
"""


@pytest.mark.spec("ADR-4")
def test_a_name_that_two_functions_have(make, tmp_path):
    """Each is meant, unless the size tells them apart."""
    make("-c", source=TWICE.format("*x", "one"), name="one.o")
    make("-c", source=TWICE.format("*x * *x / 7 + *x", "_start"), name="two.o")
    path = tmp_path / "both"
    subprocess.run(["ld", "one.o", "two.o", "-o", path], check=True, cwd=tmp_path)
    text = subprocess.check_output(["nm", "-S", path], text=True)
    rows = [line.split() for line in text.splitlines() if line.endswith(" twice")]
    places = {int(value, 16): int(size, 16) for value, size, *_ in rows}
    assert len(set(places.values())) == 2
    with okld.symbols(path, options=NO_CACHE) as symbols:
        assert sorted(symbols.named("twice", 1)) == [value + 1 for value in sorted(places)]
        for value, size in places.items():
            assert symbols.named("twice", 1, size) == [value + 1]
        assert len(symbols.named("twice", 1, 0x1000)) == 2
        assert symbols.named("thrice") == []


@pytest.fixture
def stripped(make, tmp_path) -> tuple[Path, okld.Options]:
    """A program that has nothing but code, and where its debug file is."""
    path = make("-g", "-Wl,--build-id=0xabcdef0123")
    place = tmp_path / "debug/.build-id/ab"
    place.mkdir(parents=True)
    shutil.copy(path, tmp_path / "whole")
    subprocess.run(["objcopy", "--only-keep-debug", path, place / "cdef0123.debug"], check=True)
    subprocess.run(["strip", "-s", path], check=True)
    return path, okld.Options(cache=False, debug_dirs=(str(tmp_path / "debug"),))


@pytest.mark.spec("ADR-10", "DBG-6")
def test_a_stripped_file_has_the_answers_of_its_debug_file(stripped, tmp_path):
    """And says where they come from."""
    path, options = stripped
    middle = nm(tmp_path / "whole")["middle"]
    asked = range(middle - 4, middle + 40)
    whole = ask(tmp_path / "whole", *asked)
    assert list(map(told, ask(path, *asked, options=options))) == list(map(told, whole))
    with okld.symbols(path, options=options) as symbols:
        assert symbols.lookup(middle).name == "middle"
        assert symbols.source == ".symtab"
        assert any("cdef0123.debug, found by build id" in note for note in symbols.notes)


@pytest.mark.spec("ADR-10", "DBG-9")
def test_no_other_file_is_opened_unasked(stripped):
    """Without what it says there is no name."""
    path, options = stripped
    options.external = False
    (missed,) = ask(path, 0x401000, options=options)
    assert missed.reason == "no symbol table"


@pytest.mark.spec("ADR-10")
def test_no_debug_file_is_looked_for_where_the_file_itself_answers(make, monkeypatch):
    """For a name its own table does, for lines its own debug information."""

    def find(*_arguments: object) -> None:
        raise AssertionError("looked for")

    monkeypatch.setattr(debugfiles, "find", find)
    plain, whole = make(name="plain"), make("-g", name="whole")
    assert ask(plain, nm(plain)["middle"], lines=False)[0].name == "middle"
    assert ask(whole, nm(whole)["middle"])[0].frames
    with pytest.raises(AssertionError, match="looked for"):
        ask(plain, nm(plain)["middle"])


@pytest.mark.spec("ADR-11")
def test_every_file_is_closed(stripped):
    """At the end of the block, by `close`, when it is forgotten, and after an error."""
    path, options = stripped

    def descriptors() -> list[str]:
        return sorted(os.listdir("/proc/self/fd"))

    before = descriptors()
    with okld.symbols(path, options=options) as symbols:
        symbols.lookup(0x401000)
        assert len(descriptors()) == len(before) + 2
    assert descriptors() == before
    okld.symbols(path, options=options).lookup(0x401000)
    assert descriptors() == before
    with pytest.raises(okld.FormatError):
        okld.symbols(__file__)
    assert descriptors() == before
    symbols.close()
    with pytest.raises(okld.OkError, match="closed"):
        symbols.lookup(0x401000)


@pytest.mark.spec("SYM-1", "ADR-9")
def test_a_damaged_file_says_so(make):
    """What is left of it is read."""
    path = make("-g")
    path.write_bytes(path.read_bytes()[:-400])
    with okld.symbols(path, options=NO_CACHE) as symbols:
        assert symbols.damage == "the section headers are not in the file"
        assert symbols.lookup(0x401000).reason == "no symbol table"


@pytest.mark.spec("SYM-7")
def test_an_image_has_the_names_of_its_own_table():
    """The same as its runner gives."""
    image = Path(__file__).parents[2] / "testdata/images/names.x86_64.ok"
    with okld.symbols(image) as symbols:
        assert symbols.lookup(0x2001014).name == "inner"
        assert "factorial" in {symbol.name for symbol in symbols}


@pytest.mark.spec("ADR-2")
def test_a_number_that_is_stated_twice():
    """What spares an answer from the index the reader of headers is that reader's."""
    from okld.elf.header import ET_REL

    assert address_space.ET_REL == ET_REL


@pytest.mark.spec("ADR-11")
def test_iterating_keeps_the_file_open(make):
    """Also where nobody else holds it."""
    path = make()
    assert {s.name for s in okld.symbols(path, options=NO_CACHE)} >= {"middle", "_start"}
