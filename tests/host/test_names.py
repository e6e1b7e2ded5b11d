"""The host's names for addresses and okld's: one list of tables and answers for both readers."""

import random
import struct
import subprocess

import pytest

from okld.base.view import View
from okld.image.shape import Shape
from okld.syms.choose import Symbol, choose
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table

SEGMENTS = [(0x100000, 0x102000), (0x112000, 0x113000), (0x123000, 0x126000)]
"""Link addresses, start and end: those of good_plan.h."""

CODE, DATA = 0x112000, 0x123000
LOCAL, GLOBAL, WEAK = 0x00, 0x10, 0x20
NOTYPE, OBJECT, FUNC, SECTION, FILE, TLS, IFUNC = 0, 1, 2, 3, 4, 6, 10
UNDEF, TEXT, ABS, COMMON, XINDEX = 0, 1, 0xFFF1, 0xFFF2, 0xFFFF
DYNAMIC = "dynamic"
MISSING, ENDLESS = object(), object()
"""Names that are not in the string table: one begins past its end, one has no end in it."""


def row(name, value, size, info, section=TEXT):
    return name, value, size, info, section


ORDER = [
    ("a", LOCAL | NOTYPE), ("__b", LOCAL | FUNC), ("_c", LOCAL | FUNC), ("z", LOCAL | FUNC),
    ("__w", WEAK | NOTYPE), ("w", WEAK | FUNC), ("g", GLOBAL | NOTYPE), ("_o", GLOBAL | OBJECT),
    ("_i", GLOBAL | IFUNC), ("__f", GLOBAL | FUNC), ("zz", GLOBAL | FUNC),
]  # fmt: skip
"""Names for one place, the last the answer."""

NO_ANSWERS = [
    row("absolute", CODE + 0x180, 0, GLOBAL, ABS),
    row("common", CODE + 0x180, 4, GLOBAL | OBJECT, COMMON),
    row("undefined", CODE + 0x181, 0, GLOBAL | FUNC, UNDEF),
    row("thread", CODE + 0x182, 4, GLOBAL | TLS),
    row("file.c", CODE + 0x183, 0, LOCAL | FILE),
    row(".text", CODE + 0x184, 0x100, LOCAL | SECTION),
    row("", CODE + 0x185, 0, GLOBAL | FUNC),
    row("$x", CODE + 0x186, 0, LOCAL),
    row("$d.7", CODE + 0x187, 0, LOCAL),
    row("$x", CODE + 0x188, 8, LOCAL),
]

UNSIZED = [
    row("last", CODE + 0x800, 0, LOCAL),
    row("first", CODE + 0x100, 0, GLOBAL | FUNC),
    row("sized", CODE + 0x200, 0x10, LOCAL | FUNC),
    row("again", CODE + 0x200, 0, LOCAL | FUNC),
    *NO_ANSWERS,
]

NESTED = [
    row("inner", CODE + 0x10, 8, LOCAL | FUNC),
    row("outer", CODE, 0x40, GLOBAL | FUNC),
    row("label", CODE + 0x30, 0, LOCAL),
    row("table", CODE + 0x80, 8, LOCAL | OBJECT),
    row("wide", CODE + 0x100, 0x20, GLOBAL | FUNC),
    row("narrow", CODE + 0x100, 0x10, LOCAL | FUNC),
    row("variable", DATA + 0x2000, 8, LOCAL | OBJECT),
]

CASES = {
    "nesting, labels, padding, data": (NESTED, "", {
        CODE: "outer+0", CODE + 0x0F: "outer+15", CODE + 0x10: "inner+0", CODE + 0x17: "inner+7",
        CODE + 0x18: "outer+24", CODE + 0x34: "outer+52", CODE + 0x3F: "outer+63", CODE + 0x40: "",
        CODE + 0x87: "table+7", CODE + 0x88: "", CODE + 0x10F: "narrow+15",
        CODE + 0x110: "wide+16", CODE - 1: "", CODE + 0xFFF: "", DATA + 0x2007: "variable+7",
        0x130000: "", 0: "", (1 << 64) - 1: "",
    }),
    "size 0": (UNSIZED, "", {
        CODE + 0xFF: "", CODE + 0x100: "first+0", CODE + 0x18C: "first+140",
        CODE + 0x1FF: "first+255", CODE + 0x20F: "sized+15", CODE + 0x210: "again+16",
        CODE + 0x7FF: "again+1535", CODE + 0xFFF: "last+2047", CODE + 0x1000: "", DATA: "",
    }),
    "size 0 in .dynsym": (UNSIZED, DYNAMIC, {
        CODE + 0x100: "first+0", CODE + 0x101: "", CODE + 0x20F: "sized+15", CODE + 0x210: "",
    }),
    "no answers alone": (NO_ANSWERS, "", {CODE + at: "" for at in range(0x17F, 0x192)}),
    "no mapping symbols": ([
        row("$xy", CODE, 4, LOCAL | FUNC), row("$", CODE + 4, 4, LOCAL | FUNC),
        row("$t.name", CODE + 8, 4, LOCAL | FUNC), row("by", CODE + 12, 4, IFUNC, XINDEX),
        row("$x@V", CODE + 16, 4, LOCAL | FUNC),
    ], "", {CODE: "$xy+0", CODE + 4: "$+0", CODE + 8: "", CODE + 12: "by+0", CODE + 16: ""}),
    "no versions in .dynsym": ([
        row("$x@V", CODE, 4, FUNC), row("open@@V2", CODE + 4, 4, GLOBAL | FUNC),
    ], DYNAMIC, {CODE: "$x@V+0", CODE + 4: "open@@V2+0"}),
    "versions": ([
        row("open@@V2", CODE, 4, GLOBAL | FUNC), row("read@V1", CODE + 4, 4, GLOBAL | FUNC),
        row("@own", CODE + 8, 4, FUNC),
    ], "", {CODE: "open+0", CODE + 4: "read+0", CODE + 8: "@own+0"}),
    "names outside the table": ([
        row("good", CODE, 4, GLOBAL | FUNC), row(MISSING, CODE + 4, 4, GLOBAL | FUNC),
        row(ENDLESS, CODE + 8, 4, GLOBAL | FUNC),
    ], "", {CODE: "good+0", CODE + 4: "<corrupt>+0", CODE + 8: "<corrupt>+0"}),
    "sizes that wrap": ([
        row("all", CODE + 1, (1 << 64) - 1, FUNC), row("two", CODE + 9, 2, FUNC),
    ], "", {CODE: "", CODE + 1: "all+0", CODE + 9: "two+0", CODE + 11: "all+10",
            CODE + 0x1000: "", DATA: f"all+{DATA - CODE - 1}"}),
    "the lowest index": ([
        row("equal", CODE, 8, GLOBAL | FUNC), row("later", CODE, 8, GLOBAL | FUNC),
        row("_" * 65 + "x", CODE + 8, 4, FUNC), row("_" * 64 + "x", CODE + 8, 4, FUNC),
        row("_" * 64 + "y", CODE + 16, 4, FUNC), row("_" * 63 + "y", CODE + 16, 4, FUNC),
    ], "", {CODE: "equal+0", CODE + 8: "_" * 65 + "x+0", CODE + 16: "_" * 63 + "y+0"}),
}  # fmt: skip
"""The traps that an ok image can hold: rows, the kind of table, and for addresses the answer."""

for size in (0, 8):
    for n in range(1, len(ORDER) + 1):
        rows = [row(name, CODE, size, info) for name, info in ORDER[:n]]
        CASES[f"order of {n}, size {size}"] = rows, "", {CODE + 1: f"{ORDER[n - 1][0]}+1"}


def written(rows):
    """Return the table's bytes and its strings' for *rows*, after the empty symbol."""
    strings, entries = b"\0", bytes(24)
    for name, value, size, info, section in rows:
        at = 0xFFFFFFF0 if name is MISSING else len(strings) if name else 0
        entries += struct.pack("<IBBHQQ", at, info, 0, section, value, size)
        strings += b"" if name is MISSING else b"endless" if name is ENDLESS else name.encode()
        strings += b"" if name in (MISSING, ENDLESS, "") else b"\0"
    return entries, strings


def of_host(build, entries, strings, dynamic, addresses):
    """Return what okhost's reader answers."""
    words = [int(dynamic), len(entries) // 24, len(strings), len(addresses)]
    asked = struct.pack("<4Q", *words) + entries + strings
    asked += struct.pack(f"<{len(addresses)}Q", *addresses)
    command = build("ask_names.c", "code", "symbols", "symtab", "map", "text")
    got = subprocess.run(command, input=asked, capture_output=True, check=True).stdout.decode()
    return ["" if line == "-" else line for line in got.splitlines()]


def of_okld(entries, strings, dynamic, addresses):
    """Return what okld's reader answers, by one pass and by the sorted table, which agree."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    count, at = len(SEGMENTS), 64 + 56 * len(SEGMENTS)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, CODE, 64, 0, 0, 64, 56, count, 64, 0, 0)
    for start, end in SEGMENTS:
        header += struct.pack("<IIQQQQQQ", 1, 5, 0, start, start, 0, end - start, 0x10000)
    shape = Shape()
    shape.names, shape.names_dynamic = (at, len(entries) // 24), dynamic
    shape.strings = (at + len(entries), len(strings))
    table = Table(ElfFile(View.of_bytes(header + entries + strings)), shape=shape)
    many = list(map(text, table.lookup_many(addresses)))
    assert list(map(text, map(table.lookup, addresses))) == many
    return many


def text(found):
    return f"{found.name}+{found.offset}" if found.name else ""


@pytest.mark.spec("SYM-1", "SYM-2", "SYM-3", "SYM-4", "SYM-5", "SYM-6", "SYM-7", "PMAP-2")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_readers_give_the_answers_of_the_list(build, case):
    """Each answer is that of SPEC chapter 6, as it is written here."""
    rows, kind, answers = case
    table = *written(rows), kind == DYNAMIC, list(answers)
    assert of_host(build, *table) == list(answers.values())
    assert of_okld(*table) == list(answers.values())


NAMES = ["", "f", "_f", "__f", "$x", "$d.1", "$xy", "g", "long_name_of_a_function"]


def random_rows(rng):
    """Return rows that are close together, to overlap and touch."""
    rows = []
    for _ in range(rng.randrange(1, 25)):
        start, end = rng.choice(SEGMENTS)
        value = rng.choice([start, end - 24, start - 8]) + rng.randrange(0, 32)
        size = rng.choice([0, 0, 1, 4, 8, 16, 40])
        info = rng.choice([0, 1, 2]) << 4 | rng.choice([0, 1, 2, 2, 3, 4, 6, 10])
        section = rng.choice([1, 1, 1, 1, 2, 0, 0xFFF1, 0xFFFF])
        rows.append(row(rng.choice(NAMES), value, size, info, section))
    return rows


def by_the_rules(rows, dynamic, address):
    """Return what the rules as they are written say."""

    def limit(symbol):
        if dynamic:
            return symbol.value + 1
        return next((end for start, end in SEGMENTS if start <= symbol.value < end), 0)

    if not any(start <= address < end for start, end in SEGMENTS):
        return ""
    symbols = [
        Symbol(index=index, name=name, value=value, size=size, info=info, section=section)
        for index, (name, value, size, info, section) in enumerate(rows, 1)
    ]
    found = choose(address, symbols, limit)
    return f"{found[0].name}+{address - found[0].value}" if found else ""


@pytest.mark.spec("SYM-2", "SYM-3", "SYM-4", "SYM-5", "SYM-7", "PMAP-2")
@pytest.mark.parametrize("seed", range(40))
def test_both_readers_answer_alike(build, seed):
    """For random tables every address around every symbol has the rules' answer from both."""
    rows, dynamic = random_rows(random.Random(seed)), seed % 4 == 0
    places = [edge for segment in SEGMENTS for edge in segment]
    addresses = [place + distance for place in places for distance in range(-80, 80)]
    want = [by_the_rules(rows, dynamic, address) for address in addresses]
    assert of_host(build, *written(rows), dynamic, addresses) == want
    assert of_okld(*written(rows), dynamic, addresses) == want


@pytest.mark.spec("SYM-7")
def test_random_tables_have_every_kind_of_answer():
    """The tables above are not all misses: each name that can be an answer is one."""
    kinds = set()
    for seed in range(40):
        rows = random_rows(random.Random(seed))
        for start, end in SEGMENTS:
            for address in (*range(start, start + 80), *range(end - 80, end)):
                said = by_the_rules(rows, seed % 4 == 0, address)
                kinds.add(said.split("+")[0])
    assert kinds == {"", *NAMES} - {"$x", "$d.1"}
