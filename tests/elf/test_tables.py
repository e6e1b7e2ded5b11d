"""Tables in columns say what lief says of the entries."""

from __future__ import annotations

import struct

import lief
import pytest

from okld.base.view import View
from okld.elf import tables
from okld.elf.header import SHT_DYNSYM, SHT_SYMTAB, read_header, read_sections
from okld.elf.tables import SYMBOL_SIZE, Relocations, Symbols, column, dynamic_entries


@pytest.mark.spec("SYM-1")
@pytest.mark.parametrize("kind", [SHT_SYMTAB, SHT_DYNSYM])
def test_symbols(made: tuple[bytes, int, str], kind: int) -> None:
    """Names, values, sizes, sections, bindings and types are those that lief reads."""
    data, bits, order = made
    view = View.of_bytes(data)
    sections = read_sections(view, read_header(view, "X-1"), "X-1")
    [table] = [s for s in sections if s[1] == kind]
    assert table[9] == SYMBOL_SIZE[bits]
    columns = Symbols(data[table[4] : table[4] + table[5]], bits, order)
    strings = sections[table[6]][4]
    rows = zip(
        columns.names, columns.values, columns.sizes, columns.shndx, columns.info, strict=True
    )
    got = [
        (data[strings + n : data.index(0, strings + n)].decode(), v, s, x, i >> 4, i & 15)
        for n, v, s, x, i in rows
    ]
    binary = lief.ELF.parse(data)
    symbols = binary.symtab_symbols if kind == SHT_SYMTAB else binary.dynamic_symbols
    want = [(s.name, s.value, s.size, s.shndx, s.binding.value, s.type.value) for s in symbols]
    assert got == want
    assert {"shown", "f", "g", "other"} <= {name for name, *_ in got}


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", "HIQ")
@pytest.mark.parametrize("host", "<>")
def test_a_column_is_the_same_on_every_host(
    monkeypatch: pytest.MonkeyPatch, order: str, code: str, host: str
) -> None:
    """The short way, over the host's own words, and the long way give equal lists."""
    if host != tables._HOST_ORDER:
        monkeypatch.setattr(tables, "_HOST_ORDER", "neither")
    want = [3, 200, 40_000, 65_535, 0, 1]
    data = struct.pack(f"{order}6{code}", *want)
    assert column(data, code, 0, 1, order) == want
    assert column(memoryview(data), code, 1, 2, order) == [200, 65_535, 1]
    assert column(b"", code, 0, 1, order) == []


@pytest.mark.spec("IMG-31", "IMG-32")
def test_relocations() -> None:
    """Each field is read at its place; r_info is the symbol above the type."""
    entries = [(0x1000, 5 << 32 | 1, 7), (1 << 40, 8, -4), (3, (1 << 64) - 1, 0)]
    data = b"".join(struct.pack("<QQq", *entry) for entry in entries)
    table = Relocations(data)
    assert table.offsets == [0x1000, 1 << 40, 3]
    assert table.types() == [1, 8, 0xFFFFFFFF]
    assert table.symbols() == [5, 0, 0xFFFFFFFF]
    assert table.addends == [7, (1 << 64) - 4, 0]
    assert not table.have_info(8)


@pytest.mark.spec("IMG-33")
@pytest.mark.parametrize("byte", range(8))
def test_relocations_of_one_kind(byte: int) -> None:
    """One entry that differs in any byte of r_info is seen."""
    data = bytearray(struct.pack("<QQq", 16, 0x403, 5) * 100)
    assert Relocations(data).have_info(0x403)
    data[24 * 57 + 8 + byte] ^= 1
    assert not Relocations(data).have_info(0x403)


@pytest.mark.spec("IMG-22")
def test_the_dynamic_array() -> None:
    """Entries come as they stand, those after DT_NULL too."""
    entries = [(5, 0x100), (0, 0), (1 << 63, 9)]
    assert dynamic_entries(b"".join(struct.pack("<QQ", *e) for e in entries)) == entries
