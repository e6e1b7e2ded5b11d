"""Functions, files, lines, columns and inlined calls against llvm-symbolizer."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "dwarf"))

from dwarf_programs import opened, unnamed

from okld.base.view import View
from okld.syms.elf_file import ElfFile

COUNT = 1500
CXX = """\
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>
namespace shop {
struct Item {
    int price;
    std::string name;
    bool operator<(const Item &other) const { return price < other.price; }
};
template <class F> int each(std::vector<Item> &items, F f) {
    int sum = 0;
    for (auto &item : items) sum += f(item);
    return sum;
}
class Till {
    std::map<std::string, int> sold;
public:
    struct Receipt { int total; int print() { return std::printf("%d\\n", total); } };
    Receipt ring(std::vector<Item> items) {
        std::sort(items.begin(), items.end());
        auto count = [this](Item &item) { return sold[item.name] += item.price; };
        struct Tax { int rate; int of(int n) { return n * rate / 100; } } tax{7};
        int sum = each(items, count);
        return {sum + tax.of(sum)};
    }
};
}
int main(int argc, char **argv) {
    std::vector<shop::Item> items;
    std::ostringstream out;
    for (int i = 0; i < argc; i++) { items.push_back({i, argv[i]}); out << i; }
    std::function<int(int)> twice = [&](int n) { return 2 * n + (int)items.size(); };
    shop::Till till;
    try { if (argc > 9) throw twice(argc); } catch (int n) { return n; }
    return till.ring(items).print() + twice((int)out.str().size());
}
"""
RUST = """\
use std::collections::HashMap;
use std::fmt::Debug;
fn show<T: Debug>(value: &T) -> String { format!("{:?}", value) }
fn main() {
    let mut lengths = HashMap::new();
    for word in std::env::args() { *lengths.entry(word.len()).or_insert(0) += 1; }
    let mut sorted: Vec<_> = lengths.iter().collect();
    sorted.sort();
    println!("{} {}", show(&sorted), sorted.iter().map(|x| x.1).sum::<i32>());
    if let Err(error) = "x".parse::<i32>() { println!("{}", show(&error)); }
}
"""
NESTED = """\
int sink;
int outer(int n)
{
    __attribute__((noinline)) int nested(int k) { sink += k; return sink + n; }
    int (*volatile pointer)(int) = nested;
    return pointer(3) + nested(4);
}
int main(int argc, char **argv) { return outer(argc); }
"""
PROGRAMS = {
    "gcc": ("g.cpp", CXX, ("g++", "-g", "-O2")),
    "gcc-O0": ("g.cpp", CXX, ("g++", "-g", "-O0")),
    "gcc-2": ("g.cpp", CXX, ("g++", "-g", "-gdwarf-2", "-O2")),
    "gcc-4-types": ("g.cpp", CXX, ("g++", "-g", "-gdwarf-4", "-O2", "-fdebug-types-section")),
    "gcc-lto": ("g.cpp", CXX, ("g++", "-g", "-O2", "-flto", "-ffunction-sections")),
    "clang": ("c.cpp", CXX, ("clang++-19", "-g", "-O2")),
    "clang-4": ("c.cpp", CXX, ("clang++-19", "-g", "-gdwarf-4", "-O1")),
    "clang-lld": (
        "c.cpp",
        CXX,
        ("clang++-19", "-g", "-O2", "-fuse-ld=lld", "-ffunction-sections", "-Wl,--gc-sections"),
    ),
    "rust": ("r.rs", RUST, ("rustc", "-g", "-C", "opt-level=2")),
    "nested": ("n.c", NESTED, ("gcc", "-g", "-O2")),
}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    place = tmp_path_factory.mktemp("lines")

    def get(kind: str) -> Path:
        name, source, command = PROGRAMS[kind]
        folder = place / kind
        if not folder.exists():
            folder.mkdir()
            (folder / name).write_text(source)
            subprocess.run([*command, name, "-o", "program"], cwd=folder, check=True)
        return folder / "program"

    return get


def theirs(path: Path, addresses: list[int]) -> list[list[tuple[str, str, int, int]]]:
    """Return llvm-symbolizer's frames; names are from DWARF, since the copy has no symbols."""
    command = ["llvm-symbolizer-19", "--inlines", "--no-demangle", "--output-style=JSON"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(
        [*command, "-e", unnamed(path)], input=asked, check=True, capture_output=True, text=True
    )
    fields = ("FunctionName", "FileName", "Line", "Column")
    return [
        [tuple(frame[field] for field in fields) for frame in json.loads(line)["Symbol"]]
        for line in done.stdout.splitlines()
    ]


@pytest.mark.spec("LIN-6", "LIN-7", "LIN-8", "LIN-9", "LIN-11", "LIN-16")
@pytest.mark.parametrize("kind", PROGRAMS)
def test_frames_are_those_of_llvm_symbolizer(compiled, kind):
    """At random addresses of all the code, wherever debug information knows anything."""
    path = compiled(kind)
    code = ElfFile(View.of_bytes(path.read_bytes())).code()
    chance = random.Random(kind)
    places = [address for start, end in code for address in range(start, end)]
    addresses = sorted(chance.sample(places, min(COUNT, len(places))))
    dwarf = opened(path)
    compared = 0
    for address, lines, want in zip(
        addresses, dwarf.lookup_many(addresses), theirs(path, addresses), strict=True
    ):
        if lines is None:
            assert not any(file for _, file, _, _ in want), hex(address)
            continue
        found = [(f.function, f.file or "", f.line or 0, f.column or 0) for f in lines.frames]
        assert found == want, hex(address)
        if not compared % 20:
            assert dwarf.lookup(address).frames == lines.frames
        compared += 1
    assert compared > 100
