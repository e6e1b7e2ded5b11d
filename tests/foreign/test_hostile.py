"""Mach-O and PE files that are not what they say: an answer, or one typed error."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from foreign_programs import opened

from okld.base.errors import FormatError, OkError, Refusal
from okld.syms.answer import Found, Miss

MUTANTS = 150
WORDS = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0")


@pytest.fixture(scope="module")
def programs(shop) -> dict[str, Path]:
    """Return one program of each kind."""
    arm, intel = shop.library("arm64"), shop.library("x86_64")
    whole = shop.dll("-g")
    exports = whole.with_name("exports.dll")
    shop.run("x86_64-w64-mingw32-strip", whole, "-o", exports)
    return {
        "object": shop.object("arm64"),
        "library": arm,
        "fat": shop.fat("hostile-fat", arm, intel),
        "fat64": shop.fat("hostile-fat64", "-fat64", arm, intel),
        "dll": whole,
        "exports": exports,
    }


def mutant(data: bytes, chance: random.Random) -> bytes:
    """Return *data* with some bytes changed, mostly in the headers, or cut."""
    broken = bytearray(data)
    room = min(len(broken), 4096) if chance.random() < 0.7 else len(broken)
    for _ in range(chance.choice((1, 2, 4, 16))):
        at, kind = chance.randrange(room), chance.random()
        if kind < 0.4:
            broken[at] = chance.randrange(256)
        elif kind < 0.8:
            broken[at : at + 4] = chance.choice(WORDS)
        elif kind < 0.9:
            source = chance.randrange(room)
            broken[at : at + 16] = broken[source : source + 16]
        else:
            del broken[chance.randrange(len(broken)) :]
            break
        room = min(room, len(broken)) or 1
    return bytes(broken)


def just_open(path: Path, **choices: object) -> None:
    with opened(path, **choices):
        pass


def ask_everything(path: Path) -> None:
    """Ask what can be asked of a file; any error but a typed one goes through."""
    for architecture in ("", "arm64"):
        try:
            with opened(path, external=False, architecture=architecture) as foreign:
                places = [start for start, _ in foreign.code]
                addresses = [place + offset for place in places for offset in (0, 5, 0x40)]
                answers = foreign.lookup_many(addresses, lines=True)
                answers += [foreign.lookup(address, lines=True) for address in addresses[:3]]
                assert all(isinstance(answer, Found | Miss) for answer in answers)
                assert all(symbol.size >= 0 for symbol in foreign.table())
        except OkError:
            pass


@pytest.mark.spec("OBJ-11")
@pytest.mark.parametrize("which", ["object", "library", "fat", "fat64", "dll", "exports"])
def test_mutants(programs, which, tmp_path):
    """A changed file gives answers or one typed error."""
    data = programs[which].read_bytes()
    chance = random.Random(which)
    for number in range(MUTANTS):
        path = tmp_path / f"{number}"
        path.write_bytes(mutant(data, chance))
        ask_everything(path)


@pytest.mark.spec("OBJ-11")
@pytest.mark.parametrize("which", ["object", "fat", "exports"])
def test_prefixes(programs, which, tmp_path):
    """A file that is cut gives answers or one typed error."""
    data = programs[which].read_bytes()
    path = tmp_path / "cut"
    for size in [*range(2, 64, 3), *range(64, len(data), len(data) // 60)]:
        path.write_bytes(data[:size])
        ask_everything(path)


def macho_with_names(count: int, strings: bytes) -> bytes:
    """Return an object file of *count* symbols, each with the name at byte 0 of *strings*."""
    header = struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 1, 1, 24, 0, 0)
    begin = len(header) + 24
    command = struct.pack("<6I", 2, 24, begin, count, begin + 16 * count, len(strings))
    return header + command + struct.pack("<IBBHQ", 0, 0xF, 1, 0, 0) * count + strings


@pytest.mark.spec("OBJ-11")
def test_names_that_overlap(tmp_path):
    """A million names of one long string are refused before they are copied."""
    path = tmp_path / "names.o"
    path.write_bytes(macho_with_names(1 << 16, b"a" * (1 << 16) + b"\0"))
    with pytest.raises(FormatError, match=r"names together \(limit 0x20000000\)"):
        just_open(path)
    path.write_bytes(macho_with_names(1 << 10, b"a" * 64 + b"\0"))
    with opened(path) as foreign:
        assert len(foreign.table()) == 1 << 10


@pytest.mark.spec("OBJ-11")
def test_more_symbols_than_can_be(tmp_path):
    """A table of more than 2^22 symbols is refused."""
    path = tmp_path / "many.o"
    data = bytearray(macho_with_names(1, b"a\0"))
    struct.pack_into("<I", data, 32 + 12, (1 << 22) + 1)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="symbols"):
        just_open(path)


@pytest.mark.spec("OBJ-11", "OBJ-2")
@pytest.mark.parametrize("count", [0, 65, 0xFFFFFFFF])
def test_fat_files_of_absurd_size(programs, count, tmp_path):
    """A fat file of no or too many programs is refused."""
    data = bytearray(programs["fat"].read_bytes())
    struct.pack_into(">I", data, 4, count)
    path = tmp_path / "fat"
    path.write_bytes(data)
    with pytest.raises(OkError):
        just_open(path, architecture="arm64")


@pytest.mark.spec("OBJ-2")
def test_two_programs_of_one_architecture(programs, tmp_path):
    """An architecture that two programs have is no name for either."""
    data = bytearray(programs["fat"].read_bytes())
    (first,) = struct.unpack_from(">I", data, 8)
    for at in (8, 28):
        struct.pack_into(">II", data, at, 0x100000C, 0)
    assert first != 0x100000C
    path = tmp_path / "fat"
    path.write_bytes(data)
    with pytest.raises(Refusal, match=r"several programs \(arm64, arm64\)"):
        just_open(path, architecture="arm64")
