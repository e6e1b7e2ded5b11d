"""Symbol tables that are broken: what can be said is said, and nothing is made up."""

from __future__ import annotations

import os
import random
import struct

import pytest

from okld.base.errors import FormatError, OkError
from okld.base.view import View
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table

SOURCE = """
.globl _start
.globl other
.type _start,@function
.type other,@function
_start: .skip 8
.size _start, 8
other: .skip 8
.size other, 8
"""


def read(data: bytes) -> Table:
    return Table(ElfFile(View.of_bytes(data)))


def sections(data: bytes) -> list[tuple[int, ...]]:
    (offset,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    return list(struct.iter_unpack("<IIQQQQIIQQ", data[offset : offset + 64 * count]))


def entry(data: bytes, name: str) -> int:
    """Return the file offset of the symbol *name* in `.symtab`."""
    table = next(s for s in sections(data) if s[1] == 2)
    strings = sections(data)[table[6]]
    for at in range(table[4], table[4] + table[5], 24):
        begin = strings[4] + struct.unpack_from("<I", data, at)[0]
        if data[begin : data.index(b"\0", begin)] == name.encode():
            return at
    raise AssertionError(name)


@pytest.mark.spec("SYM-1")
def test_a_name_outside_the_string_table_is_corrupt_and_the_rest_goes_on(make):
    """Only the one name is lost, and the address still has a symbol."""
    data = bytearray(make(SOURCE, "-Wl,-Ttext=0x401000").read_bytes())
    struct.pack_into("<I", data, entry(data, "_start"), 0x7FFFFFFF)
    table = read(bytes(data))
    assert [table.lookup(a).name for a in (0x401000, 0x401008)] == ["<corrupt>", "other"]
    assert next(table.lookup_many([0x401001])).name == "<corrupt>"


@pytest.mark.spec("SYM-1")
def test_a_name_that_does_not_end_in_the_string_table_is_corrupt(make):
    """What follows the string table in the file is no part of a name."""
    data = bytearray(make(SOURCE, "-Wl,-Ttext=0x401000").read_bytes())
    table = next(s for s in sections(data) if s[1] == 2)
    strings = sections(data)[table[6]]
    at = entry(data, "other")
    struct.pack_into("<I", data, at, strings[5] - 1)
    data[strings[4] + strings[5] - 1] = ord("x")
    found = read(bytes(data)).lookup(0x401008)
    assert isinstance(found, Found)
    assert found.name == "<corrupt>"


@pytest.mark.spec("SYM-1")
@pytest.mark.parametrize("kind", [2, 3], ids=["symbols", "names"])
def test_a_compressed_table_is_none(make, kind):
    """Its bytes are no symbols, and those of its names no names: `.dynsym` answers."""
    data = bytearray(make(SOURCE, "-shared").read_bytes())
    table = next(s for s in sections(data) if s[1] == 2)
    number = sections(data).index(table) if kind == 2 else table[6]
    at = struct.unpack_from("<Q", data, 40)[0] + 64 * number
    struct.pack_into("<Q", data, at + 8, 0x800)
    assert read(bytes(data)).source == ".dynsym"


@pytest.mark.spec("SYM-3")
def test_a_size_that_wraps_holds_what_is_behind_it(make):
    """A size of 2^64-1 is a size, not an overflow."""
    data = bytearray(make(SOURCE, "-Wl,-Ttext=0x401000").read_bytes())
    struct.pack_into("<Q", data, entry(data, "_start") + 16, (1 << 64) - 1)
    table = read(bytes(data))
    assert [table.lookup(a).name for a in (0x401007, 0x401008)] == ["_start", "other"]


@pytest.mark.spec("ERR-1", "SYM-1")
@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"MZ" + bytes(100), b"\x7fELF\x09\x01" + bytes(80)]
)
def test_other_bytes_are_refused(data):
    """With the clause about symbol tables."""
    with pytest.raises(FormatError) as refusal:
        read(data)
    assert refusal.value.rule == "SYM-1"


@pytest.mark.spec("ERR-1", "SYM-1")
def test_a_table_of_millions_is_refused_before_it_is_read(make):
    """A sparse file costs its maker nothing; the limit is what a table may cost its reader."""
    path = make(SOURCE, "-Wl,-Ttext=0x401000")
    data = bytearray(path.read_bytes())
    number = next(i for i, s in enumerate(sections(data)) if s[1] == 2)
    at = struct.unpack_from("<Q", data, 40)[0] + 64 * number
    struct.pack_into("<QQ", data, at + 24, 0, 24 * ((1 << 22) + 1))
    path.write_bytes(data)
    os.truncate(path, 1 << 27)
    many = r"^too many symbols \(got 0x400001, limit 0x400000"
    with path.open("rb") as file, pytest.raises(FormatError, match=many):
        Table(ElfFile(View.of_fd(file.fileno(), 1 << 27)))


@pytest.mark.spec("ERR-1")
def test_every_prefix_gives_answers_or_one_typed_error(make):
    """A file that is cut anywhere is read as far as it goes."""
    data = make(SOURCE, "-shared").read_bytes()
    for size in range(0, len(data), 7):
        rule = "SYM-1"
        try:
            table = read(data[:size])
            list(table)
            table.lookup(0x1000)
        except OkError as error:
            rule = error.rule
        assert rule == "SYM-1"


@pytest.mark.spec("ERR-1")
def test_mutants_give_answers_or_one_typed_error(make):
    """Bytes of headers and tables changed at random never raise anything else."""
    good = make(SOURCE, "-shared").read_bytes()
    chance = random.Random(1)
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(64) if chance.random() < 0.3 else chance.randrange(len(data))
            data[at] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        try:
            table = read(bytes(data))
        except OkError:
            continue
        list(table)
        addresses = [0, 0x1000, 0x1004, (1 << 64) - 1]
        one = [(f.name, getattr(f, "offset", None)) for f in map(table.lookup, addresses)]
        many = [(f.name, getattr(f, "offset", None)) for f in table.lookup_many(addresses)]
        assert one == many


@pytest.mark.spec("ERR-2")
def test_names_that_are_not_utf8_are_kept(make):
    """As surrogates, which a message and JSON escape."""
    data = bytearray(make(SOURCE, "-Wl,-Ttext=0x401000").read_bytes())
    at = data.index(b"_start\0")
    data[at : at + 6] = b"\x1b[31m\xff"
    assert read(bytes(data)).lookup(0x401000).name == "\x1b[31m\udcff"
