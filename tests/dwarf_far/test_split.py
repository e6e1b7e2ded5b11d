"""Split units: as true as if they had stayed in the program, and no worse than lost."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest
from far_program import ALONE, UNITS, code, ours, run, told

import okld
from okld.syms.options import Options

KINDS = [
    (compiler, version, types)
    for compiler in ("g++", "clang++-19")
    for version in (4, 5)
    for types in ((), ("-fdebug-types-section",))
]
# binutils' dwp knows version 4 only, and llvm-dwp does not come to an end with GCC's version 5.
PACKERS = {("g++", 4): "dwp", ("clang++-19", 4): "dwp", ("clang++-19", 5): "llvm-dwp-19"}


@pytest.mark.spec("LIN-30")
@pytest.mark.parametrize(("compiler", "version", "types"), KINDS)
def test_a_split_program_tells_what_a_whole_one_does(build, compiler, version, types):
    """Of each of its addresses: every function, file, line and column."""
    whole = build("whole", compiler, f"-gdwarf-{version}")
    split = build("split", compiler, f"-gdwarf-{version}", "-gsplit-dwarf", *types)
    addresses = code(whole)
    assert addresses == code(split)
    assert ours(split, addresses) == told(whole, addresses)


@pytest.mark.spec("LIN-31")
@pytest.mark.parametrize("types", [(), ("-fdebug-types-section",)])
@pytest.mark.parametrize(("compiler", "version"), PACKERS)
def test_a_packed_program_tells_what_a_whole_one_does(build, compiler, version, types):
    """With no split unit left beside the package."""
    whole = build("whole", compiler, f"-gdwarf-{version}")
    packed = build("packed", compiler, f"-gdwarf-{version}", "-gsplit-dwarf", *types)
    pack(packed, PACKERS[compiler, version])
    addresses = code(whole)
    assert addresses == code(packed)
    assert ours(packed, addresses) == told(whole, addresses)


def pack(program: Path, tool: str) -> Path:
    units = [f"{unit}.dwo" for unit in UNITS]
    run(tool, "-o", "program.dwp", *units, cwd=program.parent)
    for unit in units:
        (program.parent / unit).unlink()
    return program.with_name("program.dwp")


@pytest.mark.spec("LIN-30")
@pytest.mark.parametrize("version", [4, 5])
def test_a_stripped_program_has_them_through_its_debug_file(build, version):
    """Units and package lie beside the program, wherever it was compiled."""
    whole = build("whole", "clang++-19", f"-gdwarf-{version}")
    split = build("split", "clang++-19", f"-gdwarf-{version}", "-gsplit-dwarf")
    run("objcopy", "--only-keep-debug", "program", "program.debug", cwd=split.parent)
    run("objcopy", "-S", "--add-gnu-debuglink=program.debug", "program", cwd=split.parent)
    addresses = code(whole)
    want = told(whole, addresses)
    assert ours(split, addresses) == want
    moved = split.parent.rename(split.parents[1] / "moved")  # not where it was compiled
    split = moved / "program"
    (moved / ".debug").mkdir()
    (moved / "program.debug").rename(moved / ".debug/program.debug")
    assert ours(split, addresses) == want
    pack(split, PACKERS["clang++-19", version])
    assert ours(split, addresses) == want


@pytest.mark.spec("LIN-32", "LIN-35")
@pytest.mark.parametrize("version", [4, 5])
def test_a_unit_of_another_build_is_not_taken(build, version):
    """It has the right name and another id: the line stays, the functions are not told."""
    options = ("g++", f"-gdwarf-{version}", "-gsplit-dwarf")
    program = build("program", *options)
    third = Third(program)
    other = build("other", *options, "-O1")
    program.with_name("third.dwo").write_bytes(other.with_name("third.dwo").read_bytes())
    third.assert_lost("third.dwo")


class Third:
    """The function third(), whose unit is to be lost."""

    def __init__(self, program: Path) -> None:
        self.program = program
        rows = subprocess.check_output(["nm", program], text=True).splitlines()
        self.address = next(int(row.split()[0], 16) for row in rows if "_Z5thirdi" in row)
        _, file, line, _ = told(program, [self.address])[0][0]
        self.place = file, line

    def assert_lost(self, named: str, options: Options = ALONE) -> None:
        """Check that its line and symbol are told, and in a note what is missing."""
        with okld.symbols(self.program, options=options) as symbols:
            found = [symbols.lookup(self.address), *symbols.lookup_many([self.address])]
        for each in found:
            assert (each.name, each.symbol) == ("_Z5thirdi", "_Z5thirdi")
            assert [(Path(f.file).name, f.line) for f in each.frames] == [self.place]
            assert any(named in note for note in each.notes), each.notes


@pytest.mark.spec("LIN-35", "LIN-36")
@pytest.mark.parametrize("what", ["missing", "fifo", "directory", "empty", "text", "cut"])
def test_a_unit_that_cannot_be_read_costs_no_line(build, what):
    """Nor is a device or a pipe waited for."""
    program = build("program", "g++", "-gdwarf-5", "-gsplit-dwarf")
    third, unit = Third(program), program.with_name("third.dwo")
    good = unit.read_bytes()
    unit.unlink()
    if what == "fifo":
        os.mkfifo(unit)
    elif what == "directory":
        unit.mkdir()
    elif what != "missing":
        unit.write_bytes({"empty": b"", "text": b"units\n", "cut": good[:-500]}[what])
    third.assert_lost("third.dwo")


@pytest.mark.spec("LIN-35")
def test_other_units_are_told_when_one_is_lost(build):
    """A companion is one unit's."""
    whole = build("whole", "g++", "-gdwarf-5")
    program = build("program", "g++", "-gdwarf-5", "-gsplit-dwarf")
    program.with_name("third.dwo").unlink()
    start = code(whole).start
    assert ours(program, [start]) == told(whole, [start])


@pytest.mark.spec("LIN-35", "DBG-9")
def test_no_other_file_is_read_when_told_so(build):
    """The note says that nothing was looked for."""
    program = build("program", "g++", "-gdwarf-5", "-gsplit-dwarf")
    closed = Options(debug_dirs=(), external=False, cache=False)
    Third(program).assert_lost("may not be read", closed)


EDITS = {
    "a row that there is none of": lambda index: index.rows(0xFFFFFFFF),
    "slots that are no power of two": lambda index: index.head(3, 3),
    "slots without end": lambda index: index.head(3, 1 << 31),
    "columns without end": lambda index: index.head(1, 1 << 30),
    "another version": lambda index: index.head(0, 7),
    "offsets past the end": lambda index: index.offsets(0x7FFFFFFF),
    "sizes past the end": lambda index: index.sizes(0x7FFFFFFF),
    "every slot another's": lambda index: index.ids(0x1234),
}


class Index:
    """The index of a package, to be changed in place."""

    def __init__(self, package: Path) -> None:
        from trap_shop import section

        self.package = package
        self.data = bytearray(package.read_bytes())
        _, self.at, _ = section(package, ".debug_cu_index")
        _, self.columns, self.units, self.slots = struct.unpack_from("<4I", self.data, self.at)

    def put(self, offset: int, words: list[int], kind: str = "I") -> None:
        struct.pack_into(f"<{len(words)}{kind}", self.data, self.at + offset, *words)
        self.package.write_bytes(self.data)

    def head(self, which: int, value: int) -> None:
        self.put(4 * which, [value])

    def ids(self, value: int) -> None:
        self.put(16, [value] * self.slots, "Q")

    def rows(self, value: int) -> None:
        self.put(16 + 8 * self.slots, [value] * self.slots)

    def offsets(self, value: int) -> None:
        table = 16 + 12 * self.slots + 4 * self.columns
        self.put(table, [value] * self.columns * self.units)

    def sizes(self, value: int) -> None:
        table = 16 + 12 * self.slots + 4 * self.columns * (1 + self.units)
        self.put(table, [value] * self.columns * self.units)


@pytest.mark.spec("LIN-31", "LIN-36")
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_damaged_package_costs_no_line(build, compiler, edit):
    """Whatever its index says, the program's own lines are told."""
    version = 4 if compiler == "g++" else 5
    program = build("program", compiler, f"-gdwarf-{version}", "-gsplit-dwarf")
    third = Third(program)
    EDITS[edit](Index(pack(program, PACKERS[compiler, version])))
    third.assert_lost("third.dwo")


@pytest.mark.spec("LIN-32")
def test_a_large_unit_is_refused_by_its_limit(build, monkeypatch):
    """It is held in memory, and so has to be of some size."""
    from okld.syms.dwarf import companions

    program = build("program", "g++", "-gdwarf-5", "-gsplit-dwarf")
    monkeypatch.setattr(companions, "MAX_SPLIT", 100)
    Third(program).assert_lost("bytes of a split file")
