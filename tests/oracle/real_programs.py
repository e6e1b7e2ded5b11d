"""What is asked of a file: places in its functions, as readelf lists these; and copies of it."""

from __future__ import annotations

import random
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from struct import pack_into, unpack_from

ET_REL = 1
SHT_SYMTAB, SHT_DYNSYM = 2, 11
SHF_ALLOC, SHF_EXECINSTR = 2, 4
STT_SECTION, STT_TLS = 3, 6
FIRST = 0x100000  # the address of a relocatable file's first section; all begin at 0 in the file


@dataclass(frozen=True)
class Row:
    """
    A symbol that readelf lists, without its version; `value` is an address, also in a relocatable
    file.
    """

    name: str
    value: int
    size: int
    type: str
    section: int


@dataclass(frozen=True)
class Program:
    """
    A file that is asked.

    `bases`: the address that each section of a relocatable file has in the copies; `named`: what
    llvm-symbolizer is given; `bare`: a copy whose symbols name no address.
    """

    path: Path
    rows: dict[str, list[Row]]
    bases: dict[int, int]
    named: Path
    bare: Path
    has_alternate: bool


def program(path: Path, folder: Path) -> Program:
    """Read what has to be known of a file, and make the copies."""
    data = bytearray(path.read_bytes())
    named, bare = path, folder / "bare"
    bases = _place(data)
    if bases:
        named = folder / "named"
        named.write_bytes(data)
    _unname(data)
    bare.write_bytes(data)
    rows = defaultdict(list)
    for row in _rows(path, bases):
        rows[row.name].append(row)
    return Program(path, rows, bases, named, bare, b".gnu_debugaltlink\0" in data)


def places(program: Program, count: int) -> list[tuple[int, int]]:
    """Return the sections and addresses of *count* bytes of functions, or of all, ascending."""
    spans: list[list[int]] = []
    functions = {
        (row.section, row.value, row.value + row.size)
        for rows in program.rows.values()
        for row in rows
        if row.type in ("FUNC", "IFUNC") and row.size and row.section
    }
    for section, start, end in sorted(functions):
        if spans and spans[-1][0] == section and start <= spans[-1][2]:
            spans[-1][2] = max(spans[-1][2], end)
        else:
            spans.append([section, start, end])
    edges = [0, *accumulate(end - start for _, start, end in spans)]
    chance = random.Random(program.path.name)
    chosen = sorted(chance.sample(range(edges[-1]), min(count, edges[-1])))
    found, at = [], 0
    for (section, start, _), (first, end) in zip(spans, pairwise(edges), strict=True):
        while at < len(chosen) and chosen[at] < end:
            found.append((section, start + chosen[at] - first))
            at += 1
    return found


def _rows(path: Path, bases: dict[int, int]) -> list[Row]:
    command = ["readelf", "--symbols", "--wide", path]
    listed = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape")
    found = []
    for line in listed.stdout.splitlines():
        words = line.split()
        if len(words) >= 8 and words[0][:-1].isdigit():
            section = int(words[6]) if words[6].isdigit() else 0
            value = int(words[1], 16) + bases.get(section, 0)
            found.append(
                Row(words[7].partition("@")[0], value, int(words[2], 0), words[3], section)
            )
    return found


def _headers(data: bytearray) -> list[int]:
    """Return where the section headers are, of 64 bits."""
    (start,) = unpack_from("<Q", data, 40)
    size, count = unpack_from("<HH", data, 58)
    return list(range(start, start + size * count, size))


def _place(data: bytearray) -> dict[int, int]:
    """Give each section of a relocatable file an address of its own, where it has code."""
    bases: dict[int, int] = {}
    if unpack_from("<H", data, 16)[0] != ET_REL:
        return bases
    # llvm-symbolizer does not relocate this section, and would take it for that of the first unit.
    data[:] = data.replace(b".debug_aranges\0", b".debug_xranges\0")
    address = FIRST
    for index, at in enumerate(_headers(data)):
        (flags,) = unpack_from("<Q", data, at + 8)
        if flags & SHF_ALLOC and flags & SHF_EXECINSTR:
            (size,) = unpack_from("<Q", data, at + 32)
            pack_into("<Q", data, at + 16, address)
            bases[index] = address
            address += (size + 0x1000) & -0x1000
    return bases


def _unname(data: bytearray) -> None:
    """Make all symbols thread-local: debug information is then all that names an address."""
    for at in _headers(data):
        kind = unpack_from("<I", data, at + 4)[0]
        if kind in (SHT_SYMTAB, SHT_DYNSYM):
            offset, size = unpack_from("<QQ", data, at + 24)
            for info in range(offset + 4, offset + size, 24):
                if data[info] & 15 != STT_SECTION:  # which relocations count from
                    data[info] = data[info] & 0xF0 | STT_TLS
