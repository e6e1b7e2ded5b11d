"""The gate says the same of every test image as two readers that are not ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import lief
import pytest

from okld.base.view import View
from okld.image.shape import Shape, read_shape

IMAGES = sorted((Path(__file__).parents[2] / "testdata/images").glob("*.ok"))
GOOD = [path for path in IMAGES if not path.name.startswith("bad-")]


@pytest.fixture(params=GOOD, ids=lambda path: path.name)
def image(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


@pytest.fixture
def shape(image: Path) -> Shape:
    return read_shape(View.of_bytes(image.read_bytes()))


def readelf(option: str, image: Path) -> str:
    return subprocess.check_output(["readelf", "-W", option, str(image)], text=True)


@pytest.mark.spec("IMG-9", "IMG-11", "IMG-16", "IMG-38")
def test_segments(image: Path, shape: Shape) -> None:
    """What is loaded, the entry and what becomes read-only are what lief reads."""
    binary = lief.ELF.parse(image.read_bytes())
    kinds = lief.ELF.Segment.TYPE
    assert [(s.offset, s.vaddr, s.filesz, s.memsz, s.flags) for s in shape.segments] == [
        (s.file_offset, s.virtual_address, s.physical_size, s.virtual_size, int(s.flags))
        for s in binary.segments
        if s.type == kinds.LOAD and s.virtual_size
    ]
    assert shape.entry == binary.header.entrypoint
    relro = [s.virtual_address for s in binary.segments if s.type == kinds.GNU_RELRO]
    assert ([shape.relro[0]] if shape.relro[1] else []) == relro


@pytest.mark.spec("IMG-26", "IMG-27", "IMG-28")
def test_symbols(image: Path, shape: Shape) -> None:
    """
    Values, imports and their binding are those of readelf's table.

    It counts by the section header, we by use: local symbols that nothing names are not counted.
    """
    rows = re.findall(
        r"^ *\d+: ([0-9a-f]{16}) +\w+ \w+ +(\w+) +\w+ +(?:\[.*?\] +)?(\w+) ?(\S*)$",
        readelf("--dyn-syms", image),
        re.MULTILINE,
    )
    count = len(shape.values)
    assert list(shape.values) == [int(value, 16) for value, *_ in rows[:count]]
    assert {binding for _, binding, *_ in rows[count:]} <= {"LOCAL"}
    assert [(i.name, i.weak) for i in shape.imports] == [
        (name, binding == "WEAK") for _, binding, section, name in rows if section == "UND" and name
    ]
    assert list(shape.absolute) == [i for i, row in enumerate(rows) if row[2] == "ABS"]


@pytest.mark.spec("IMG-31", "IMG-34")
def test_relocations(image: Path, shape: Shape) -> None:
    """As many relocations as lief finds, RELR's unpacked."""
    binary = lief.ELF.parse(image.read_bytes())
    entries = {str(e.tag).rpartition(".")[2]: e.value for e in binary.dynamic_entries}
    assert shape.rela[1] == entries.get("RELASZ", 0) // 24
    assert shape.jmprel[1] == entries.get("PLTRELSZ", 0) // 24
    assert shape.relr[1] == entries.get("RELRSZ", 0) // 8
    assert shape.rela[0] == (entries["RELA"] if shape.rela[1] else 0)
    assert shape.init == entries.get("INIT", 0)
    assert shape.init_array[1] == entries.get("INIT_ARRAYSZ", 0) // 8


@pytest.mark.spec("IMG-39", "IMG-40")
def test_notes_and_names(image: Path, shape: Shape) -> None:
    """Notes, the build id and the table of names are those that readelf shows."""
    text = readelf("-n", image)
    assert shape.build_id == "".join(re.findall(r"Build ID: ([0-9a-f]+)", text))
    shown = re.findall(r"^  (\S+) +0x([0-9a-f]{8})\t", text, re.MULTILINE)
    assert [(owner.decode(), len(desc)) for owner, _, desc, _ in shape.notes] == [
        (owner, int(size, 16)) for owner, size in shown
    ]
    sections = re.findall(
        r"\] (\.symtab|\.strtab) +\w+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", readelf("-S", image)
    )
    where = {name: (int(offset, 16), int(size, 16)) for name, offset, size in sections}
    assert shape.names == (where[".symtab"][0], where[".symtab"][1] // 24)
    assert shape.strings == where[".strtab"]


@pytest.mark.spec("IMG-34")
def test_relr_places_are_those_that_llvm_unpacks() -> None:
    """Every place that RELR names, in llvm-readelf's order."""
    from okld.elf.tables import column
    from okld.image.relr import expand

    for image in (path for path in GOOD if path.name.startswith("relr.")):
        shape = read_shape(View.of_bytes(image.read_bytes()))
        address, count = shape.relr
        [segment] = [s for s in shape.segments if s.vaddr <= address < s.vaddr + s.filesz]
        at = segment.offset + address - segment.vaddr
        places, _ = expand(column(image.read_bytes()[at : at + 8 * count], "Q", 0, 1), 0, 0)
        text = subprocess.check_output(["llvm-readelf", "-r", str(image)], text=True)
        part = text[text.index(".relr.dyn") :]
        want = [int(m, 16) for m in re.findall(r"^([0-9a-f]{16})  ", part, re.MULTILINE)]
        assert places == want
        assert len(places) > 63
