"""Stubs of the procedure linkage table, against the names that objdump gives them."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from okld.base.view import View
from okld.image.shape import read_shape
from okld.syms.answer import Found
from okld.syms.elf_file import ElfFile
from okld.syms.table import Table

SOURCE = """
int first(int);
int second(const char *);
int (*kept)(int) = first;
int caller(int n) { return first(n) + second("") + first(n + 1); }
int taker(void) { extern int third(void); int (*volatile f)(void) = third; return f() + third(); }
"""

BUILDS = {
    "x86_64": ("gcc", ["-fcf-protection=none"]),
    "x86_64-ibt": ("gcc", ["-fcf-protection", "-Wl,-z,ibtplt"]),
    "x86_64-now": ("gcc", ["-Wl,-z,now"]),
    "x86_64-lld": ("clang", ["-fuse-ld=lld"]),
    "x86_64-lld-ibt": ("clang", ["-fuse-ld=lld", "-fcf-protection"]),
    "i386": ("gcc", ["-m32", "-fcf-protection=none"]),
    "i386-ibt": ("gcc", ["-m32", "-fcf-protection", "-Wl,-z,ibtplt"]),
    "i386-lld": ("clang", ["-m32", "-fuse-ld=lld"]),
    "aarch64": ("aarch64-linux-gnu-gcc", []),
    "aarch64-bti": ("aarch64-linux-gnu-gcc", ["-mbranch-protection=standard"]),
    "aarch64-lld": ("clang", ["--target=aarch64-linux-gnu", "-fuse-ld=lld"]),
    "aarch64-lld-pac": (
        "clang",
        [
            "--target=aarch64-linux-gnu",
            "-fuse-ld=lld",
            "-mbranch-protection=standard",
            "-Wl,-z,pac-plt",
        ],
    ),
}


def table(path: Path) -> Table:
    return Table(ElfFile(View.of_bytes(path.read_bytes())))


def shown(path: Path, objdump: str) -> dict[int, str]:
    """Return the stubs that objdump names: where each begins, and its name."""
    listing = subprocess.run([objdump, "-d", path], check=True, capture_output=True, text=True)
    rows = re.findall(r"^([0-9a-f]+) <(\w+@plt)>:$", listing.stdout, re.M)
    return {int(address, 16): name for address, name in rows}


@pytest.fixture(params=BUILDS)
def library(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[int, str]]:
    """Make a shared library that calls functions of others, and ask objdump for its stubs."""
    compiler, options = BUILDS[request.param]
    source, path = tmp_path / "calls.c", tmp_path / "calls.so"
    source.write_text(SOURCE)
    # Pages of 4 KiB, so that none is an ok image: those are looked up as their runner does.
    fixed = ["-O1", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,max-page-size=4096"]
    subprocess.run([compiler, *fixed, *options, source, "-o", path], check=True)
    prefix = "aarch64-linux-gnu-" if request.param.startswith("aarch64") else ""
    return path, shown(path, f"{prefix}objdump")


@pytest.mark.spec("SYM-12")
def test_a_stub_has_the_name_of_what_it_jumps_to(library):
    """From its first byte on, in both kinds of look-up."""
    path, stubs = library
    assert {"first@plt", "second@plt"} <= set(stubs.values())
    names = table(path)
    for address, name in stubs.items():
        for found in (names.lookup(address + 4), *names.lookup_many([address + 4])):
            assert isinstance(found, Found)
            assert (found.name, found.offset, found.kind) == (name, 4, "plt")


@pytest.mark.spec("SYM-12")
def test_what_jumps_nowhere_is_a_place_in_its_section(library):
    """The first entry, which every other leads to, is named by its distance from the start."""
    path, _ = library
    listing = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True)
    rows = re.findall(r" \.plt +PROGBITS +([0-9a-f]+)", listing.stdout)
    start = int(rows[0], 16)
    for found in (table(path).lookup(start + 4), *table(path).lookup_many([start + 4])):
        assert isinstance(found, Found)
        assert (found.name, found.offset, found.kind) == (".plt", 4, "plt")


@pytest.mark.spec("SYM-12")
def test_a_program_names_the_stubs_of_its_own_addresses(tmp_path):
    """On i386 a program that is not moved jumps through addresses, not through a register."""
    source, other = tmp_path / "calls.c", tmp_path / "other.c"
    source.write_text(SOURCE + "int _start(void) { return caller(1); }\n")
    other.write_text(
        "int first(int n) { return n; } int second(void) { return 2; }"
        "int third(void) { return 3; }\n"
    )
    library, path = tmp_path / "other.so", tmp_path / "program"
    fixed = ["gcc", "-m32", "-nostdlib", "-fcf-protection=none"]
    subprocess.run([*fixed, "-shared", "-fPIC", other, "-o", library], check=True)
    subprocess.run([*fixed, "-no-pie", "-O1", source, library, "-o", path], check=True)
    stubs = shown(path, "objdump")
    assert {"first@plt", "second@plt"} <= set(stubs.values())
    assert [table(path).lookup(address + 5).name for address in stubs] == list(stubs.values())


@pytest.mark.spec("SYM-12")
def test_a_file_without_the_stubs_bytes_names_none(tmp_path):
    """A debug file knows where they were, and not whose."""
    source, path, debug = tmp_path / "calls.c", tmp_path / "calls.so", tmp_path / "debug"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", source, "-o", path], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    address = next(iter(shown(path, "objdump")))
    assert table(debug).lookup(address).name is None


@pytest.mark.spec("SYM-7", "SYM-12")
def test_an_ok_image_has_no_stubs(tmp_path):
    """Who names addresses of a running image has no sections to find them in."""
    source, path = tmp_path / "calls.c", tmp_path / "calls.ok"
    source.write_text(SOURCE)
    fixed = ["aarch64-linux-gnu-gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id=none"]
    subprocess.run([*fixed, source, "-o", path], check=True)
    read_shape(View.of_bytes(path.read_bytes()))
    address = next(iter(shown(path, "aarch64-linux-gnu-objdump")))
    assert table(path).lookup(address + 4).name is None


@pytest.mark.spec("SYM-12", "ERR-1")
def test_broken_relocations_leave_the_place_in_the_section(tmp_path):
    """A relocation of a symbol that is not there, or a table of none, names no stub."""
    source, path = tmp_path / "calls.c", tmp_path / "calls.so"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", source, "-o", path], check=True)
    address = next(iter(shown(path, "objdump")))
    good = path.read_bytes()
    (shoff,) = struct.unpack_from("<Q", good, 40)
    (count,) = struct.unpack_from("<H", good, 60)
    places = [shoff + 64 * i for i in range(count)]
    tables = [at for at in places if struct.unpack_from("<I", good, at + 4)[0] == 4]
    for field, code, value in ((40, "<I", 60_000), (32, "<Q", 0), (4, "<I", 0x7FFFFFFF)):
        data = bytearray(good)
        for at in tables:
            struct.pack_into(code, data, at + field, value)
        found = Table(ElfFile(View.of_bytes(bytes(data)))).lookup(address)
        assert (found.name, found.kind) == (".plt", "plt")
    data = bytearray(good)
    for at in tables:
        offset, size = struct.unpack_from("<QQ", good, at + 24)
        for entry in range(offset, offset + size, 24):
            struct.pack_into("<I", data, entry + 12, 0xFFFFFF)
    found = Table(ElfFile(View.of_bytes(bytes(data)))).lookup(address)
    assert (found.name, found.kind) == (".plt", "plt")
