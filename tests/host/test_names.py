"""The host's names for addresses against okld's: two readers of SPEC chapter 6, written apart."""

import random
import struct
import subprocess

import pytest

from okld.syms.choose import Symbol, choose

SEGMENTS = [(0x100000, 0x102000), (0x112000, 0x113000), (0x123000, 0x126000)]
"""Link addresses, start and end: those of good_plan.h."""

NAMES = [b"", b"f", b"_f", b"__f", b"$x", b"$d.1", b"$xy", b"g", b"long_name_of_a_function"]


def random_table(rng):
    """Return (`struct Elf64_Sym` fields, strings): close together, to overlap and touch."""
    strings, at = b"", {}
    for name in NAMES:
        at[name] = len(strings)
        strings += name + b"\0"
    entries = [(0, 0, 0, 0, 0, 0)]
    for _ in range(rng.randrange(1, 25)):
        start, end = rng.choice(SEGMENTS)
        value = rng.choice([start, end - 24, start - 8]) + rng.randrange(0, 32)
        size = rng.choice([0, 0, 1, 4, 8, 16, 40])
        info = rng.choice([0, 1, 2]) << 4 | rng.choice([0, 1, 2, 2, 3, 4, 6, 10])
        section = rng.choice([1, 1, 1, 1, 2, 0, 0xFFF1, 0xFFFF])
        entries.append((at[rng.choice(NAMES)], info, 0, section, value, size))
    return entries, strings


def answer(entries, strings, dynamic, address):
    """Return what okld's rules say, as ask_names.c would print it."""

    def limit(symbol):
        if dynamic:
            return symbol.value + 1
        return next((end for start, end in SEGMENTS if start <= symbol.value < end), 0)

    if not any(start <= address < end for start, end in SEGMENTS):
        return "-"
    symbols = [
        Symbol(
            index=index,
            name=strings[name : strings.index(b"\0", name)].decode(),
            value=value,
            size=size,
            info=info,
            section=section,
        )
        for index, (name, info, _, section, value, size) in enumerate(entries)
    ]
    found = choose(address, symbols, limit)
    return f"{address - found[0].value} {found[0].name}" if found else "-"


@pytest.mark.spec("SYM-2", "SYM-3", "SYM-4", "SYM-5", "SYM-7")
@pytest.mark.parametrize("seed", range(40))
def test_both_readers_answer_alike(build, seed):
    """For random tables every address around every symbol has the same answer from both."""
    rng = random.Random(seed)
    dynamic = seed % 4 == 0
    entries, strings = random_table(rng)
    places = [edge for segment in SEGMENTS for edge in segment]
    addresses = [place + distance for place in places for distance in range(-80, 80)]
    words = [int(dynamic), len(entries), len(strings), len(addresses)]
    asked = struct.pack("<4Q", *words)
    asked += b"".join(struct.pack("<IBBHQQ", *entry) for entry in entries) + strings
    asked += struct.pack(f"<{len(addresses)}Q", *addresses)
    command = build("ask_names.c", "symbols", "map", "text")
    got = subprocess.run(command, input=asked, capture_output=True, check=True).stdout
    want = [answer(entries, strings, dynamic, address) for address in addresses]
    assert got.decode().splitlines() == want


@pytest.mark.spec("SYM-7")
def test_random_tables_have_every_kind_of_answer():
    """The tables above are not all misses: each name that can be an answer is one."""
    kinds = set()
    for seed in range(40):
        entries, strings = random_table(random.Random(seed))
        for start, end in SEGMENTS:
            for address in (*range(start, start + 80), *range(end - 80, end)):
                said = answer(entries, strings, seed % 4 == 0, address)
                kinds.add("miss" if said == "-" else said.split()[1])
    assert kinds == {"miss", *(n.decode() for n in NAMES if n and n not in (b"$x", b"$d.1"))}
