"""Files of both classes and byte orders, whose fields a YAML text fixes."""

from __future__ import annotations

from pathlib import Path

import pytest

from okld.base.view import View
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table


def symbols(path: Path) -> Table:
    return Table(ElfFile(View.of_bytes(path.read_bytes())))


FILE = """
--- !ELF
FileHeader: {{Class: {bits}, Data: {order}, Type: ET_EXEC, Machine: {machine}}}
ProgramHeaders:
  - {{Type: PT_LOAD, Flags: [PF_R, PF_X], VAddr: 0x10000, FirstSec: .text, LastSec: .text}}
Sections:
  - Name: .text
    Type: SHT_PROGBITS
    Flags: [SHF_ALLOC, SHF_EXECINSTR]
    Address: 0x10000
    AddressAlign: 0x1000
    Size: 0x100
Symbols:
  - {{Name: sized, Type: STT_FUNC, Section: .text, Value: {sized}, Size: 0x10}}
  - {{Name: asm, Type: STT_FUNC, Section: .text, Value: 0x10040}}
  - {{Name: table, Type: STT_OBJECT, Section: .text, Value: 0x10081, Size: 4}}
  - {{Name: end, Type: STT_FUNC, Section: .text, Value: 0x100f8}}
"""


def text(found):
    return f"{found.name}+{found.offset:#x}" if isinstance(found, Found) else found.reason


@pytest.mark.spec("SYM-1")
@pytest.mark.parametrize(
    ("bits", "order", "machine"),
    [
        pytest.param("ELFCLASS64", "ELFDATA2LSB", "EM_X86_64", id="64-little"),
        pytest.param("ELFCLASS64", "ELFDATA2MSB", "EM_S390", id="64-big"),
        pytest.param("ELFCLASS32", "ELFDATA2LSB", "EM_386", id="32-little"),
        pytest.param("ELFCLASS32", "ELFDATA2MSB", "EM_MIPS", id="32-big"),
    ],
)
def test_every_class_and_byte_order(yaml2obj, bits, order, machine):
    """The same symbols give the same answers."""
    path = yaml2obj(FILE.format(bits=bits, order=order, machine=machine, sized="0x10010"))
    want = {
        0x10010: "sized+0x0",
        0x1001F: "sized+0xf",
        0x10020: "between symbols",
        0x10050: "asm+0x10",
        0x10081: "table+0x0",
        0x10085: "between symbols",
        0x100FF: "end+0x7",
        0x10100: "outside every segment",
    }
    table = symbols(path)
    assert [text(table.lookup(address)) for address in want] == list(want.values())
    assert list(map(text, table.lookup_many(want))) == list(want.values())


@pytest.mark.spec("SYM-19")
def test_the_thumb_bit_is_no_part_of_an_address(yaml2obj):
    """A function's value has it set, and a pointer to the function may; a datum's bit 0 counts."""
    path = yaml2obj(
        FILE.format(bits="ELFCLASS32", order="ELFDATA2LSB", machine="EM_ARM", sized="0x10011")
    )
    table = symbols(path)
    want = {
        0x10010: "sized+0x0",
        0x10011: "sized+0x0",
        0x10016: "sized+0x6",
        0x10017: "sized+0x6",
        0x1001F: "sized+0xe",
        0x10020: "between symbols",
        0x10082: "table+0x1",
    }
    assert [text(table.lookup(address)) for address in want] == list(want.values())
    assert next(s for s in table if s.name == "sized").value == 0x10010
