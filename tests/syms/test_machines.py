"""Processors whose symbols say something else than where the code is; nm knows the sizes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from okld.base.view import View
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table

SOURCE = """
__attribute__((noinline)) int helper(int n) { return n * 3 + 1; }
__attribute__((noinline)) int other(int n) { return helper(n) + n; }
int _start(void) { return other(3) + helper(2); }
"""


def table(path: Path) -> Table:
    return Table(ElfFile(View.of_bytes(path.read_bytes())))


@pytest.fixture
def build(tmp_path: Path):
    """Compile and link the source for another processor, for nobody's C library."""

    def run(compiler: str, *options: str) -> Path:
        source, path = tmp_path / "source.c", tmp_path / "program"
        source.write_text(SOURCE)
        fixed = ["-O1", "-nostdlib", "-Wl,-e,_start"]
        subprocess.run([compiler, *fixed, *options, source, "-o", path], check=True)
        return path

    return run


def functions(path: Path, nm: str = "nm") -> dict[str, tuple[int, int]]:
    """Return nm's functions: name to value and size."""
    rows = subprocess.run([nm, "-S", path], check=True, capture_output=True, text=True).stdout
    words = [row.split() for row in rows.splitlines()]
    return {w[3]: (int(w[0], 16), int(w[1], 16)) for w in words if len(w) == 4}


def assert_named(path: Path, starts: dict[str, tuple[int, int]]) -> None:
    """Every byte of every function has its name, the function's distance, and its size."""
    names = table(path)
    assert set(starts) == {"helper", "other", "_start"}
    for name, (start, size) in starts.items():
        places = range(start, start + size)
        for address, found in zip(places, names.lookup_many(places), strict=True):
            one = names.lookup(address)
            for answer in (found, one):
                assert isinstance(answer, Found)
                assert (answer.name, answer.value, answer.size) == (name, start, size)
                assert answer.offset == address - start


@pytest.mark.spec("SYM-1", "SYM-3")
@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        pytest.param("mips-linux-gnu-gcc", ["-static"], id="32-big"),
        pytest.param("s390x-linux-gnu-gcc", ["-static"], id="64-big"),
        pytest.param("gcc", ["-m32", "-static", "-no-pie"], id="32-little"),
        pytest.param("riscv64-linux-gnu-gcc", ["-static"], id="riscv"),
    ],
)
def test_programs_of_other_classes_and_byte_orders(build, compiler, options):
    """The class and the byte order that the file states decide every read."""
    path = build(compiler, *options)
    known = functions(path)
    assert_named(path, {name: known[name] for name in ("helper", "other", "_start")})


@pytest.mark.spec("SYM-18")
@pytest.mark.parametrize("options", [["-static"], ["-shared", "-fPIC"]], ids=["program", "library"])
def test_a_descriptor_leads_to_the_code(build, options):
    """On 64-bit PowerPC, version 1, a symbol is of a descriptor; readelf shows what it holds."""
    path = build("powerpc64-linux-gnu-gcc", "-mabi=elfv1", *options)
    dump = subprocess.run(
        ["powerpc64-linux-gnu-readelf", "-x", ".opd", path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    rows = [row.split()[:5] for row in dump.splitlines() if row.startswith("  0x")]
    first, words = int(rows[0][0], 16), "".join("".join(row[1:5]) for row in rows)
    code = {}
    for name, (value, size) in functions(path).items():
        at = 2 * (value - first)
        code[name] = int(words[at : at + 16], 16), size
    assert_named(path, code)
    for value, _ in functions(path).values():  # a descriptor is no code
        assert table(path).lookup(value).name is None


@pytest.mark.spec("SYM-18")
def test_a_debug_file_needs_the_descriptors_of_its_program(build, tmp_path):
    """Without them it names nothing, with them what the program's own table does."""
    path, debug = build("powerpc64-linux-gnu-gcc", "-mabi=elfv1", "-static"), tmp_path / "debug"
    command = ["powerpc64-linux-gnu-objcopy", "--only-keep-debug", path, debug]
    subprocess.run(command, check=True)
    start = next(s.value for s in table(path) if s.name == "other")
    program, other = (ElfFile(View.of_bytes(file.read_bytes())) for file in (path, debug))
    assert Table(other).lookup(start + 4).name is None
    assert Table(other, program=program).lookup(start + 4).name == "other"


@pytest.mark.spec("SYM-19")
def test_thumb_functions_begin_at_even_addresses(build):
    """Bit 0 of a function's value says Thumb; a return address may have it as well."""
    path = build("arm-linux-gnueabihf-gcc", "-mthumb", "-static")
    known = functions(path, "arm-linux-gnueabihf-nm")
    names = table(path)
    for name in ("helper", "other", "_start"):
        value, size = known[name]
        for distance in range(size):
            found = names.lookup(value + distance)
            assert isinstance(found, Found)
            assert (found.name, found.offset) == (name, distance & ~1)
            assert next(names.lookup_many([value + distance])).offset == distance & ~1
    raw = subprocess.run(["readelf", "-sW", path], check=True, capture_output=True, text=True)
    rows = [row.split() for row in raw.stdout.splitlines() if row.endswith(" helper")]
    assert int(rows[0][1], 16) == known["helper"][0] + 1
