"""Functions of which debug information has only a plain name, and the symbol table the whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import okld
from okld.syms.mangled import mangled_of

SOURCE = """\
volatile int sink;
namespace shop {
namespace {
struct Till {
    int sold;
    __attribute__((noinline)) explicit Till(int n) : sold(n) { sink += n; }
    __attribute__((noinline)) ~Till() { sink -= sold; }
    __attribute__((noinline)) bool operator<(int n) const { return sold + sink < n; }
    template <class T> __attribute__((noinline)) int ring(T n) { return sold += n + sink; }
};
}
static __attribute__((noinline)) int p(int n) { return n + sink; }
}
int main(int argc, char **)
{
    auto twice = [](int n) __attribute__((noinline)) { return n + sink; };
    shop::Till till(argc);
    return till.ring(argc) + till.ring(2L) + shop::p(argc) + twice(argc) + (till < argc);
}
"""


@pytest.mark.spec("ADR-6")
def test_a_function_that_no_other_file_sees_has_its_mangled_name(tmp_path: Path):
    """GCC states none; constructors, operators, templates and lambdas are called as nm says."""
    (tmp_path / "till.cpp").write_text(SOURCE)
    command = ["g++", "-g", "-O1", "till.cpp", "-o", "till"]
    subprocess.run(command, cwd=tmp_path, check=True)
    listed = subprocess.run(["nm", tmp_path / "till"], check=True, capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    wanted = {int(row[0], 16): row[2] for row in rows if row[1:2] == ["t"] and "_Z" in row[2]}
    assert len(wanted) == 7
    with okld.symbols(tmp_path / "till", options=okld.Options(cache=False)) as symbols:
        found = symbols.lookup_many([address + 1 for address in wanted])
    assert [each.name.split(".")[0] for each in found] == [n.split(".")[0] for n in wanted.values()]
    assert all(not each.frames[-1].function.startswith("_Z") for each in found)


ANONYMOUS = "_ZN12_GLOBAL__N_1"


@pytest.mark.spec("ADR-6")
@pytest.mark.parametrize(
    ("plain", "symbols", "name"),
    [
        ("p", ["_ZL1pi"], "_ZL1pi"),
        ("p", ["_ZL1pi.part.0.isra.0"], "_ZL1pi"),
        ("select", ["_ZL3onei", f"{ANONYMOUS}6selectEv"], f"{ANONYMOUS}6selectEv"),
        ("get<int>", ["_ZL3getIiEiT_"], "_ZL3getIiEiT_"),
        ("~Till", [f"{ANONYMOUS}4TillD2Ev"], f"{ANONYMOUS}4TillD2Ev"),
        ("operator<", [f"{ANONYMOUS}ltEv"], f"{ANONYMOUS}ltEv"),
        ("operator()", ["_ZZ4mainENKUlvE_clEv", "_ZZ4mainENKUlvE0_clEv"], ""),
        ("operators", ["_ZL9operatorsv"], "_ZL9operatorsv"),
        ("größe", ["_ZL7größev"], "_ZL7größev"),
        ("p", ["_ZL1qi"], ""),
        ("p", ["p"], ""),
    ],
)
def test_a_mangled_name_is_taken_only_where_it_has_the_plain_one(plain, symbols, name):
    """Functions that a linker folded have each other's symbols."""
    assert mangled_of(plain, symbols) == name
