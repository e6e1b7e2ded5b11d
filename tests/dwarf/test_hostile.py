"""Mutated debug information: an answer or a miss, and nothing but our own errors."""

from __future__ import annotations

import os
import random

import pytest
from dwarf_programs import MARKED, symbol

from okld.base.errors import OkError
from okld.base.view import View
from okld.syms.dwarf.reader import Dwarf, Lines
from okld.syms.dwarf.tabulate import tabulate
from okld.syms.dwarf.unit_table import frames_at
from okld.syms.elf_file import ElfFile
from okld.syms.sections import Sections

CASES = int(os.environ.get("DWARF_MUTANTS", "1200"))
KINDS = {
    "gcc-5": ("gcc", "-g", "-gdwarf-5", "-O2"),
    "gcc-3": ("gcc", "-g", "-gdwarf-3", "-O2"),
    "clang-5": ("clang", "-g", "-gdwarf-5", "-O2"),
    "clang-4-64": ("clang-19", "-g", "-gdwarf-4", "-gdwarf64", "-O2"),
    "m32": ("gcc", "-m32", "-g", "-O2"),
}
NAMES = ("info", "abbrev", "line", "str", "line_str", "str_offsets", "addr", "ranges", "rnglists")
WORDS = (b"\0" * 8, b"\xff" * 8, b"\x80" * 12, b"\xff\xff\xff\x7f", b"\xf0\xff\xff\xff")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return *data* with a few bytes changed, put in, taken out or written twice."""
    out = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(out) or 1)
        match chance.randrange(6):
            case 0:
                out[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                out[at : at + 8] = chance.choice(WORDS)
            case 2:
                del out[at : at + chance.randrange(1, 40)]
            case 3:
                out[at:at] = out[at : at + chance.randrange(1, 200)]
            case 4:
                out[at] = out[at] ^ 1 << chance.randrange(8) if out else 0
            case _:
                out[at:at] = bytes(chance.randrange(256) for _ in range(4))
        if not out:
            break
    return bytes(out)


@pytest.mark.spec("LIN-1", "LIN-13")
@pytest.mark.parametrize("kind", KINDS)
def test_mutants_give_an_answer_or_a_miss(programs, kind):
    """Singly, by a table and by all of it at once; each section by itself and several."""
    command = (*KINDS[kind], "-nostdlib", "-static", "-no-pie", "-fno-pic")
    path = programs.build(MARKED, *command)
    elf = ElfFile(View.of_bytes(path.read_bytes()))
    sections = Sections.of_elf(elf)
    whole = {name: bytes(sections.whole(name)) for name in (*NAMES, "aranges")}
    asked = [symbol(path, name) for name in ("at_inner", "at_middle", "at_outer", "_start")]
    chance = random.Random(kind)
    answers = 0
    for _ in range(CASES):
        parts = dict(whole)
        for name in chance.sample([n for n in whole if whole[n]], chance.choice((1, 1, 1, 2))):
            parts[name] = mutated(whole[name], chance)
        answers += all_ways(
            Sections.of_parts(parts, sections.order, sections.address_size), elf, asked
        )
    assert answers > CASES // 10


def all_ways(sections: Sections, elf: ElfFile, asked: list[int]) -> bool:
    dwarf = Dwarf(sections, code=elf.code())
    found = [dwarf.lookup(address) for address in asked]
    for lines in (*found, *dwarf.lookup_many(asked)):
        assert lines is None or (isinstance(lines, Lines) and (lines.frames or lines.notes))
    for head in dwarf.units():
        try:
            table = tabulate(dwarf, dwarf.unit(head.offset))
        except OkError:
            continue
        for address in asked:
            frames_at(table, address)
    return any(lines and lines.frames for lines in found)
