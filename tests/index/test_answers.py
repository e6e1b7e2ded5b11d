"""The index says what the file itself says, of every address of programs of many kinds."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from programs import (
    build_index,
    by_file,
    by_index,
    compile_all,
    every_address,
    grow_index,
    opened,
)

from okld.base.units import FileOffset, ImageOffset, SectionOffset
from okld.image.open import open_file
from okld.syms.elf_file import ElfFile
from okld.syms.options import Options
from okld.syms.places import to_link
from okld.syms.symbolizer import symbols

KINDS = {
    "as it is": ("gcc",),
    "DWARF 4, shared": ("gcc", "-gdwarf-4", "-shared", "-fPIC"),
    "clang, without aranges": ("clang", "-fuse-ld=lld", "-gno-column-info"),
    "without debug information": ("gcc", "-g0"),
    "compressed": ("gcc", "-gz"),
    "Thumb": ("arm-linux-gnueabihf-gcc", "-mthumb"),
    "big-endian": ("mips-linux-gnu-gcc",),
    "a section a function": ("gcc", "-ffunction-sections"),
    "stripped": ("gcc", "-s", "-shared", "-fPIC"),
}


@pytest.mark.spec("IDX-6")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [True, False])
def test_every_address_of(tmp_path, kind, lines):
    """Every address with code, near code and far from it has the answer that the file gives."""
    cc, *options = KINDS[kind]
    path = compile_all(tmp_path, *options, cc=cc)
    addresses = every_address(path)
    build_index(path)
    got = by_index(path, addresses, lines=lines)
    assert None not in got
    assert got == by_file(path, addresses, lines=lines)
    names = {answer[0] for answer in got}
    assert names == {"Found", "Miss"}


def split(path: Path) -> Path:
    """Move the debug information of a program to a file of its own; return that."""
    debug = path.with_name(f"{path.name}.debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    words = ["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", path]
    subprocess.run(words, check=True)
    return debug


@pytest.mark.spec("IDX-6")
def test_a_separate_debug_file(tmp_path, program):
    """Names and lines of a stripped program are those of its debug file."""
    split(program)
    addresses = every_address(program)
    build_index(program)
    got = by_index(program, addresses)
    assert got == by_file(program, addresses)
    assert any("two" in answer for answer in got)


@pytest.mark.spec("IDX-6", "IDX-10")
def test_unit_by_unit(program):
    """
    After one address its unit and all names are known and no more; after one of each unit, all.
    """
    addresses = every_address(program)
    truth = by_file(program, addresses)
    at = {name: next(i for i, t in enumerate(truth) if name in t) for name in ("one", "two")}
    assert grow_index(program, [addresses[at["one"]]]) == ""
    first = by_index(program, addresses)
    assert all(got in (None, want) for got, want in zip(first, truth, strict=True))
    assert first[at["one"]] is not None
    assert first[at["two"]] is None
    assert by_index(program, addresses, lines=False) == by_file(program, addresses, lines=False)
    assert grow_index(program, [addresses[at["two"]], addresses[-1]]) == ""
    assert by_index(program, addresses) == truth


@pytest.mark.spec("IDX-6")
def test_names_alone(program):
    """Where no lines were asked for, names are known, and of lines nothing is said."""
    addresses = every_address(program)
    assert grow_index(program, addresses, lines=False) == ""
    assert set(by_index(program, addresses)) == {None}
    assert by_index(program, addresses, lines=False) == by_file(program, addresses, lines=False)


@pytest.mark.spec("IDX-6")
def test_a_relocatable_file(tmp_path):
    """Of an object file, whose addresses are made up, too, section by section."""
    path = compile_all(tmp_path)
    subprocess.run(["gcc", "-g", "-O2", "-c", "1.c"], cwd=tmp_path, check=True)
    path = tmp_path / "1.o"
    build_index(path)
    index = opened(path)
    assert index is not None
    named = set()
    with symbols(path, options=Options(cache=False)) as cold:
        for offset in range(index.head.sections[index.head.index(".text")][5]):
            address = SectionOffset(".text", offset)
            got, want = index.lookup(to_link(index.head, address)), cold.lookup(address)
            assert (got.name, got.offset) == (want.name, want.offset)
            assert getattr(got, "frames", ()) == getattr(want, "frames", ())
            named.add(got.name)
    index.close()
    assert named == {"two"}


@pytest.mark.spec("IDX-13")
@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_split_units_are_not_kept(tmp_path, version):
    """Names of a program with split units are known, and its lines are asked for anew."""
    path = compile_all(tmp_path, "-gsplit-dwarf", version)
    addresses = every_address(path)
    build_index(path)
    truth = by_file(path, addresses)
    got = by_index(path, addresses)
    assert all(g in (None, want) for g, want in zip(got, truth, strict=True))
    framed = [g for g, want in zip(got, truth, strict=True) if want[0] == "Found" and want[5]]
    assert framed
    assert set(framed) == {None}
    for dwo in tmp_path.glob("*.dwo"):
        dwo.unlink()
    assert all(
        g in (None, want)
        for g, want in zip(by_index(path, addresses), by_file(path, addresses), strict=True)
    )


@pytest.mark.spec("IDX-6")
def test_every_kind_of_address(program):
    """By the head of an index each kind of address means what it means by the file."""
    build_index(program)
    index = opened(program)
    assert index is not None
    with open_file(program) as file:
        elf = ElfFile(file.view, str(program))
        low = elf.code()[0][0]
        size = file.view.size
        asked = [low, *(ImageOffset(at) for at in range(0, 0x3000, 0x111))]
        asked += [FileOffset(at) for at in range(0, size, 0x91)]
        asked += [SectionOffset(".text", 4), SectionOffset(".nothing", 4), SectionOffset(1, 4)]
        for address in asked:
            got, want = to_link(index.head, address), to_link(elf, address)
            assert getattr(got, "reason", got) == getattr(want, "reason", want)
    index.close()


@pytest.mark.spec("IDX-6")
def test_many_at_once(program, monkeypatch):
    """Addresses in any order, some twice, and more than are sorted at a time, keep their order."""
    monkeypatch.setattr("okld.syms.index.reader.AT_ONCE", 7)
    build_index(program)
    addresses = every_address(program)
    mixed = addresses[::-3] + addresses[::5] + addresses[:9]
    assert by_index(program, mixed) == by_file(program, mixed)
    assert by_index(program, []) == []


@pytest.mark.spec("IDX-6")
def test_blocks_that_are_dropped_are_read_again(program, monkeypatch):
    """With room for no block answers are the same."""
    build_index(program)
    monkeypatch.setattr("okld.syms.index.layer.MAX_HELD", 1)
    addresses = every_address(program)
    assert by_index(program, addresses) == by_file(program, addresses)


@pytest.mark.spec("IDX-6")
def test_a_name_with_any_bytes(tmp_path):
    """A symbol whose name is no UTF-8 comes back as it is in the file."""
    path = compile_all(tmp_path)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"\0alias\0", b"\0al\xffa\xfe\0"))
    addresses = every_address(path)
    build_index(path)
    got = by_index(path, addresses, lines=False)
    assert got == by_file(path, addresses, lines=False)
    assert any("'al\\udcffa\\udcfe'" in repr(answer) for answer in got)


@pytest.mark.spec("IDX-3")
def test_a_copy_is_another_file(tmp_path, program):
    """A copy has the same build id, and no index: whether it is the same, nobody has looked."""
    build_index(program)
    copy = tmp_path / "copy"
    shutil.copy2(program, copy)
    assert opened(copy) is None
