"""Names for addresses against nm and llvm-symbolizer, on real programs and on every test image."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from okld.base.view import View
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table


def symbols(path: Path) -> Table:
    return Table(ElfFile(View.of_bytes(path.read_bytes())))


IMAGES = sorted((Path(__file__).parents[2] / "testdata" / "images").glob("*.ok"))

PROGRAM = """
#include <stdlib.h>
#include <string.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static __attribute__((noinline)) int fold(const int *v, int n)
{
    return n ? *v + fold(v + 1, n - 1) : 0;
}
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__attribute__((weak)) int weak(int n) { return n + 1; }
extern __typeof(weak) also __attribute__((alias("weak")));
int main(int argc, char **argv) {
    int v[] = {3, 1, 2};
    qsort(v, 3, sizeof *v, order);
    return fold(v, 3) + factorial(argc) + also((int)strlen(argv[0]));
}
"""


def functions(path: Path) -> dict[tuple[int, int], set[str]]:
    """Return nm's sized functions: (value, size) to names."""
    listed = subprocess.run(["nm", "-S", path], check=True, capture_output=True, text=True)
    found = defaultdict(set)
    for line in listed.stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwWi":
            found[int(words[0], 16), int(words[1], 16)].add(words[3].partition("@")[0])
    return found


@pytest.fixture(params=["-O0", "-O2"])
def program(request, tmp_path: Path) -> Path:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    path = tmp_path / "program"
    command = ["gcc", request.param, "-ffunction-sections", source, "-o", path]
    subprocess.run(command, check=True)
    return path


def assert_equal_to_nm(path: Path, wanted: dict[tuple[int, int], set[str]]) -> None:
    table = symbols(path)
    for (value, size), names in wanted.items():
        for address in (value, value + size // 2, value + size - 1):
            for found in (table.lookup(address), *table.lookup_many([address])):
                assert isinstance(found, Found)
                assert (found.value, found.offset, found.size) == (value, address - value, size)
                assert {found.name, *found.aliases} == names


@pytest.mark.spec("SYM-3")
def test_a_program_has_the_names_of_nm(program):
    """The start, the middle and the last byte of every function, aliases included."""
    wanted = functions(program)
    assert {"also", "weak"} in wanted.values()
    assert_equal_to_nm(program, wanted)


@pytest.mark.spec("SYM-3")
@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_an_image_has_the_names_of_nm(path):
    """The start, the middle and the last byte of every function."""
    wanted = functions(path)
    assert wanted
    assert_equal_to_nm(path, wanted)


@pytest.mark.spec("SYM-6")
@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_between_the_functions_of_an_image_is_a_reason(path):
    """A byte of code that nm gives to nothing is nobody's."""
    wanted = functions(path)
    sized = [range(value, value + size) for value, size in wanted]
    unsized = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    starts = [int(line.split()[0], 16) for line in unsized.splitlines() if line[0] != " "]
    table = symbols(path)
    for holder in sized:
        if not any(holder.stop in other for other in sized) and holder.stop not in starts:
            assert table.lookup(holder.stop).reason in ("between symbols", "outside every segment")


@pytest.mark.spec("SYM-3")
def test_a_program_has_the_names_of_llvm_symbolizer(program):
    """For every fourth byte of the functions that the source defines."""
    mine = {"order", "fold", "factorial", "main"}
    wanted = {key: names for key, names in functions(program).items() if names & mine}
    addresses = [a for value, size in wanted for a in range(value, value + size, 4)]
    told = subprocess.run(
        ["llvm-symbolizer", "--no-inlines", "--output-style=GNU", f"--obj={program}"],
        input="".join(f"{address:#x}\n" for address in addresses),
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()[::2]
    assert [found.name for found in symbols(program).lookup_many(addresses)] == told
