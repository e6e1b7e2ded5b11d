"""Known ways to name an address wrongly; the source of each states what is right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from okld.base.view import View
from okld.syms.answer import Found, Miss
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table


def symbols(path: Path) -> Table:
    return Table(ElfFile(View.of_bytes(path.read_bytes())))


BASE = 0x401000
FIXED = "-Wl,-Ttext=0x401000"


def answers(path, *addresses):
    """Name each address, by one pass and by the sorted table; the two agree."""
    table = symbols(path)
    one = [short(table.lookup(address)) for address in addresses]
    assert one == [short(found) for found in table.lookup_many(addresses)]
    return one


def short(found):
    return f"{found.name}+{found.offset:#x}" if isinstance(found, Found) else found.reason


INNER = """
.globl _start
.type _start,@function
_start: .skip 4
.size _start, .-_start
.p2align 6
.globl outer
.type outer,@function
outer: .skip 4
inner_label: .skip 4
.size outer, .-outer
.p2align 6
.type nest,@function
nest: .skip 4
.type nest_in,@function
nest_in: .skip 8
.size nest_in, .-nest_in
.skip 13
.size nest, .-nest
.p2align 6
.type asmf,@function
asmf: .skip 8
.type tbl,@object
tbl: .skip 8
.size tbl, .-tbl
.globl last
.type last,@function
last: .skip 2
.size last, .-last
"""


@pytest.mark.spec("SYM-3", "SYM-4", "SYM-6", "SYM-8")
def test_labels_nesting_padding_and_data_in_code(make):
    """Untyped labels, inner symbols, padding, a function without a size, data, and the end."""
    path = make(INNER, FIXED)
    want = {
        0x00: "_start+0x0",
        0x03: "_start+0x3",
        0x04: "between symbols",
        0x3F: "between symbols",
        0x44: "outer+0x4",
        0x46: "outer+0x6",
        0x48: "between symbols",
        0x80: "nest+0x0",
        0x84: "nest_in+0x0",
        0x8B: "nest_in+0x7",
        0x8C: "nest+0xc",
        0x98: "nest+0x18",
        0x99: "between symbols",
        0xC0: "asmf+0x0",
        0xC7: "asmf+0x7",
        0xC8: "tbl+0x0",
        0xCC: "tbl+0x4",
        0xD1: "last+0x1",
        0xD2: "outside every segment",
    }
    assert answers(path, *(BASE + at for at in want)) == list(want.values())
    assert symbols(path).lookup(BASE + 0xCC).kind == "object"
    assert symbols(path).lookup(BASE + 0xC7).size == 0


@pytest.mark.spec("SYM-5")
def test_aliases_have_one_order_and_are_all_given(make):
    """Of a local, a weak and a global name for one function the global one is the answer."""
    path = make(
        """
        .globl _start
        _start: .skip 4
        .type zz_local,@function
        .type aa_weak,@function
        .type mm_global,@function
        .weak aa_weak
        .globl mm_global
        zz_local: aa_weak: mm_global: .skip 8
        .size zz_local, 8
        .size aa_weak, 8
        .size mm_global, 8
        """,
        FIXED,
    )
    found = symbols(path).lookup(BASE + 6)
    assert isinstance(found, Found)
    assert (found.name, found.aliases) == ("mm_global", ("aa_weak", "zz_local"))


@pytest.mark.spec("SYM-2")
@pytest.mark.parametrize("value", ["0x401001", "0x401004"])
def test_constants_of_a_linker_script_name_no_code(make, value):
    """An absolute symbol is a number, even when an address has the same."""
    path = make(
        ".globl _start\n.type _start,@function\n_start: .skip 4\n.size _start,4\n.skip 4\n",
        FIXED,
        f"-Wl,--defsym=in_text={value}",
    )
    want = ["_start+0x1", "between symbols"]
    assert answers(path, BASE + 1, BASE + 4) == want


@pytest.mark.spec("SYM-2")
def test_a_thread_local_symbol_names_no_code(make):
    """Its value is an offset in a thread's block, which a code address can equal."""
    path = make(
        """
        .globl f
        .type f,@function
        .skip 8
        f: .skip 8
        .size f, .-f
        .section .tdata,"awT",@progbits
        .skip 16
        .globl counter
        .type counter,@object
        counter: .skip 16
        .size counter, .-counter
        """,
        "-shared",
        "-Wl,-Ttext=0x1000",
    )
    values = {s.name: s.value for s in symbols(path)}
    assert values["counter"] == 0x10
    assert not any("counter" in answer for answer in answers(path, *range(0x40)))
    assert answers(path, values["f"]) == ["f+0x0"]


@pytest.mark.spec("SYM-2")
def test_mapping_symbols_of_aarch64_are_never_answers(make):
    """`$x` and `$d` stand at every change between code and data."""
    path = make(
        """
        .globl _start
        .type _start,@function
        _start: nop
        .word 1, 2
        nop
        .size _start, .-_start
        .p2align 6
        .word 5
        """,
        "-Wl,-Ttext=0x401000",
        cc="aarch64-linux-gnu-gcc",
    )
    assert {"$x", "$d"} <= {s.name for s in symbols(path)}
    want = ["_start+0x0", "_start+0x4", "_start+0xc", "between symbols", "between symbols"]
    assert answers(path, BASE, BASE + 4, BASE + 12, BASE + 16, BASE + 64) == want


@pytest.mark.spec("SYM-9")
def test_a_version_is_no_part_of_a_name(make, tmp_path):
    """The linker writes `foo@@V2` into `.symtab` alone; the name is the same from both tables."""
    script = tmp_path / "map"
    script.write_text("V1 { global: foo; local: *; };\nV2 { global: foo; } V1;\n")
    path = make(
        """
        .symver old_foo, foo@V1
        .symver new_foo, foo@@V2
        .globl old_foo
        .globl new_foo
        .type old_foo,@function
        .type new_foo,@function
        old_foo: .skip 8
        .size old_foo, 8
        new_foo: .skip 8
        .size new_foo, 8
        """,
        "-shared",
        f"-Wl,--version-script={script}",
    )
    versions = {(s.name, s.version) for s in symbols(path)}
    assert {("foo", "V1"), ("foo", "V2")} <= versions
    at = next(s.value for s in symbols(path) if s.version == "V2")
    found = symbols(path).lookup(at)
    assert isinstance(found, Found)
    assert (found.symbol, found.version) == ("foo", "V2")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, path], check=True)
    assert answers(path, at + 3) == answers(stripped, at + 3) == ["foo+0x3"]


HIDDEN = """
.globl seen
.type seen,@function
seen: .skip 8
.size seen, 8
.type hidden,@function
hidden: .skip 8
.size hidden, 8
.globl bare
bare: .skip 8
"""


@pytest.mark.spec("SYM-1", "SYM-4", "SYM-6")
def test_without_symtab_the_dynamic_table_says_what_it_knows(make, tmp_path):
    """A static function has no name there, and a symbol of size 0 holds its own address only."""
    path = make(HIDDEN, "-shared")
    at = next(s.value for s in symbols(path) if s.name == "seen")
    where = (at, at + 8, at + 12, at + 16, at + 17)
    full = ["seen+0x0", "hidden+0x0", "hidden+0x4", "bare+0x0", "bare+0x1"]
    bare = ["seen+0x0", "between symbols", "between symbols", "bare+0x0", "between symbols"]
    assert answers(path, *where) == full
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, path], check=True)
    assert (symbols(stripped).source, answers(stripped, *where)) == (".dynsym", bare)


@pytest.mark.spec("SYM-1")
@pytest.mark.parametrize("style", ["gnu", "sysv"])
def test_without_section_headers_the_dynamic_segment_leads_to_the_table(make, tmp_path, style):
    """Its hash table, of either kind, counts the entries."""
    path = make(HIDDEN, "-shared", f"-Wl,--hash-style={style}")
    at = next(s.value for s in symbols(path) if s.name == "seen")
    bare = tmp_path / "bare"
    subprocess.run(["llvm-objcopy", "--strip-sections", path, bare], check=True)
    table = symbols(bare)
    assert (table.source, table.damage) == ("DT_SYMTAB", "")
    assert answers(bare, at + 7, at + 8, at + 16) == ["seen+0x7", "between symbols", "bare+0x0"]


@pytest.mark.spec("SYM-1", "SYM-10")
def test_a_file_that_was_cut_still_says_what_its_dynamic_segment_knows(make, tmp_path):
    """The section headers are gone, which is said; the dynamic table is not."""
    path = make(HIDDEN, "-shared")
    at = next(s.value for s in symbols(path) if s.name == "seen")
    cut = tmp_path / "cut"
    cut.write_bytes(path.read_bytes()[:-400])
    table = symbols(cut)
    assert (table.source, table.damage) == (
        "DT_SYMTAB",
        "the section headers are not in the file",
    )
    assert answers(cut, at + 7) == ["seen+0x7"]


@pytest.mark.spec("SYM-1", "SYM-17")
def test_tables_of_one_program_are_one(make, tmp_path):
    """A stripped library has the exported names, a file of its static functions has the others."""
    path = make(HIDDEN, "-shared")
    at = next(s.value for s in symbols(path) if s.name == "seen")
    stripped, rest = tmp_path / "stripped", tmp_path / "rest"
    subprocess.run(["strip", "-s", "-o", stripped, path], check=True)
    command = ["objcopy", "--only-keep-debug", "--strip-symbol=seen", "--strip-symbol=bare"]
    subprocess.run([*command, path, rest], check=True)
    own, more = symbols(stripped), symbols(rest)
    both = Table.of_parts(own, more.parts + own.parts)
    assert both.source == ".symtab"
    where = (at, at + 7, at + 8, at + 15, at + 16, at + 17)
    want = ["seen+0x0", "seen+0x7", "hidden+0x0", "hidden+0x7", "bare+0x0", "between symbols"]
    assert [short(both.lookup(address)) for address in where] == want
    assert [short(found) for found in both.lookup_many(where)] == want
    assert {s.name for s in both} >= {"seen", "hidden", "bare"}


@pytest.mark.spec("SYM-5", "SYM-17")
def test_a_symbol_of_two_tables_is_no_alias_of_itself(make):
    """What a program and its debug file both state counts once."""
    path = make(HIDDEN, "-shared")
    both = Table.of_parts(symbols(path), symbols(path).parts + symbols(path).parts)
    at = next(s.value for s in symbols(path) if s.name == "seen")
    assert both.lookup(at).aliases == next(both.lookup_many([at])).aliases == ()


@pytest.mark.spec("SYM-1")
def test_a_debug_file_whose_sections_have_no_bytes_names_addresses(make, tmp_path):
    """`.text` is NOBITS in it; its symbols are valid."""
    path = make(INNER, FIXED)
    debug = tmp_path / "debug"
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    assert answers(debug, BASE + 1, BASE + 0x46) == ["_start+0x1", "outer+0x6"]


@pytest.mark.spec("SYM-6", "SYM-16")
def test_a_relocatable_file_has_no_addresses_of_its_own(make):
    """Every section begins at 0 in it; a table lays one after the other, none at 0."""
    path = make(INNER, "-c")
    (outer,) = (s for s in symbols(path) if s.name == "outer")
    assert outer.value == 0x40
    assert answers(path, 0, 0x44) == ["outside every segment"] * 2


@pytest.mark.spec("SYM-2", "SYM-8")
def test_an_indirect_function_is_marked_as_the_resolver(make):
    """The address is inside what chooses the function, which the symbol of its type names."""
    path = make(
        """
        .globl chosen
        .type chosen,@gnu_indirect_function
        chosen: .skip 8
        .size chosen, 8
        .type plain,@function
        plain: .skip 8
        .size plain, 8
        """,
        "-shared",
    )
    at = next(s.value for s in symbols(path) if s.name == "chosen")
    found = symbols(path).lookup(at + 3)
    assert isinstance(found, Found)
    assert (found.name, found.offset, found.kind) == ("chosen", 3, "ifunc")
    assert symbols(path).lookup(at + 8).kind == "function"


@pytest.mark.spec("SYM-6")
def test_no_table_is_a_reason(make, tmp_path):
    """So is an address outside every segment."""
    path = make(INNER, FIXED)
    assert answers(path, 0, 1 << 64) == ["outside every segment"] * 2
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, path], check=True)
    table = symbols(stripped)
    assert table.source == ""
    assert isinstance(table.lookup(BASE), Miss)
    assert answers(stripped, BASE) == ["no symbol table"]


@pytest.mark.spec("SYM-4", "SYM-11")
def test_more_sections_than_an_index_counts(make):
    """Above 65,279 sections their count and indices stand elsewhere; a symbol ends with its own."""
    source = "".join(
        f'.section .t{i},"ax"\n.globl f{i}\n.type f{i},@function\nf{i}: .skip 8\n'
        for i in range(66_000)
    )
    path = make(source + '.section .rest,"ax"\n.skip 64\n', "-Wl,--unique", "-Wl,-e,f0")
    table = symbols(path)
    values = {s.name: s.value for s in table if s.name.startswith("f")}
    assert len(values) == 66_000
    last = values["f65999"]
    want = ["f65999+0x7", "between symbols", "f65998+0x7"]
    assert answers(path, last + 7, last + 8, last - 1) == want
