"""What linkers write is admitted, and the shape says what the source says."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from elf_fields import Fields
from full_image import COMPILERS, FLAGS, SOURCE

from okld.base.errors import FormatError
from okld.base.limits import PAGE
from okld.base.view import View
from okld.image.shape import Shape, read_shape

BUILT = sorted(COMPILERS)


def shape_of(data: bytes) -> Shape:
    return read_shape(View.of_bytes(data))


def addresses(path: Path) -> dict[str, int]:
    """Return what nm says of *path*."""
    lines = subprocess.check_output(["nm", str(path)], text=True).splitlines()
    return {line.split()[-1]: int(line.split()[0], 16) for line in lines if line[0] != " "}


@pytest.mark.spec("IMG-4", "IMG-16", "IMG-28", "IMG-36", "IMG-37", "IMG-39")
@pytest.mark.parametrize("which", BUILT)
def test_the_shape_is_that_of_the_source(
    full: Callable[[str], bytes], which: str, tmp_path: Path
) -> None:
    """Imports, initialisers and addresses are those of full.c, as nm places them."""
    data = full(which)
    (tmp_path / "full").write_bytes(data)
    at = addresses(tmp_path / "full")
    shape = shape_of(data)
    assert shape.arch == which.partition("-")[2]
    assert shape.size == len(data)
    assert (shape.entry, shape.init, shape.fini) == (at["_start"], at["initial"], at["final"])
    assert shape.init_array[1] == shape.fini_array[1] == 1
    assert {(i.name, i.weak) for i in shape.imports} == {("kal_write", False), ("kal_option", True)}
    fields = Fields(data)
    assert [fields.name(fields.sym[i]) for i in shape.absolute] == ["constant"]
    assert list(shape.values) == [s.st_value for s in fields.sym]
    assert shape.values[shape.absolute[0]] == 0x1234
    [note] = [n for n in shape.notes if n[0] == b"GNU" and n[1] == 3]
    assert note[2].hex() == shape.build_id
    assert len(shape.build_id) == 40
    assert data[note[3] + 16 :].startswith(note[2])


@pytest.mark.spec("IMG-8", "IMG-9", "IMG-10", "IMG-11", "IMG-21", "IMG-31", "IMG-34", "IMG-38")
@pytest.mark.parametrize("which", BUILT)
def test_the_shape_is_that_of_the_headers(full: Callable[[str], bytes], which: str) -> None:
    """Segments and tables are where the headers put them."""
    fields = Fields(full(which))
    shape = shape_of(bytes(fields.data))
    assert [(s.offset, s.vaddr, s.filesz, s.memsz, s.flags) for s in shape.segments] == [
        (p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz, p.p_flags) for p in fields.load if p.p_memsz
    ]
    last = fields.load[-1]
    assert (shape.lo, shape.hi) == (0, -(-(last.p_vaddr + last.p_memsz) // PAGE) * PAGE)
    dyn = fields.dyn
    assert shape.rela == (dyn.RELA.d_val, len(fields.rela))
    assert shape.jmprel == (dyn.JMPREL.d_val, len(fields.jmprel))
    assert shape.relr == ((dyn.RELR.d_val, len(fields.relr)) if fields.relr else (0, 0))
    relro = fields.phdr.GNU_RELRO
    assert shape.relro[0] == relro.p_vaddr
    assert sum(shape.relro) % PAGE == 0
    assert 0 <= sum(shape.relro) - (relro.p_vaddr + relro.p_memsz) < PAGE
    assert shape.names == (fields.symtab.sh_offset, fields.symtab.sh_size // 24)
    strings = fields.shdr[fields.symtab.sh_link]
    assert shape.strings == (strings.sh_offset, strings.sh_size)


LINKS = {
    "gnu-x86_64": [
        [],
        ["-Wl,-z,separate-code"],
        ["-Wl,-z,noseparate-code"],
        ["-Wl,-z,norelro"],
        ["-Wl,--hash-style=sysv"],
        ["-Wl,--hash-style=gnu"],
        ["-Wl,-z,common-page-size=65536"],
        ["-Wl,-Bsymbolic"],
        ["-Wl,-z,nodelete"],
        ["-Wl,-z,max-page-size=0x200000"],
        ["-Wl,-Ttext-segment=0x2000000"],
        ["-fasynchronous-unwind-tables"],
        ["-Wl,-z,pack-relative-relocs"],
        ["-fcf-protection=full", "-Wl,-z,ibt"],
        ["-s"],
        ["-g"],
        ["-O0"],
        ["-Wl,-z,stack-size=65536"],
        ["-Wl,--build-id=none"],
        ["-fvisibility=hidden"],
    ],
    "gnu-aarch64": [
        [],
        ["-Wl,-z,norelro"],
        ["-Wl,--hash-style=sysv"],
        ["-Wl,--hash-style=gnu"],
        ["-Wl,-Ttext-segment=0x2000000"],
        ["-mbranch-protection=standard", "-Wl,-z,force-bti"],
        ["-Wl,-z,pac-plt"],
        ["-s"],
        ["-fasynchronous-unwind-tables"],
        ["-Wl,-z,separate-code"],
    ],
    "lld-x86_64": [
        [],
        ["-Wl,--pack-dyn-relocs=none"],
        ["-Wl,-z,norelro"],
        ["-Wl,--image-base=0x2000000"],
        ["-s"],
        ["-Wl,-z,separate-code"],
        ["-Wl,-z,separate-loadable-segments"],
        ["-Wl,--no-rosegment"],
        ["-Wl,-z,common-page-size=65536"],
        ["-Wl,--hash-style=gnu"],
        ["-fasynchronous-unwind-tables"],
    ],
    "lld-aarch64": [
        [],
        ["-Wl,--pack-dyn-relocs=none"],
        ["-Wl,-z,separate-code"],
        ["-Wl,-z,force-bti"],
    ],
}


@pytest.mark.spec(
    "IMG-7", "IMG-12", "IMG-13", "IMG-14", "IMG-20", "IMG-23", "IMG-29", "IMG-30", "IMG-38"
)
@pytest.mark.parametrize(
    ("which", "options"),
    [pytest.param(w, o, id=f"{w} {' '.join(o)}") for w, links in LINKS.items() for o in links],
)
def test_what_linkers_write_is_admitted(which: str, options: list[str], tmp_path: Path) -> None:
    """Every layout that the two linkers offer, at segments of 64 KiB, is an image."""
    output = tmp_path / "out.ok"
    command = [*COMPILERS[which], *FLAGS, *options, str(SOURCE), "-o", str(output)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    shape = shape_of(output.read_bytes())
    assert {i.name for i in shape.imports} == {"kal_write", "kal_option"}


@pytest.mark.spec("IMG-13")
@pytest.mark.parametrize("which", BUILT)
def test_segments_of_4_kib_are_refused_with_the_remedy(which: str, tmp_path: Path) -> None:
    """What a linker writes by default on x86-64 names the option that helps."""
    output = tmp_path / "out.ok"
    flags = [*FLAGS, "-Wl,-z,max-page-size=4096"]
    subprocess.run([*COMPILERS[which], *flags, str(SOURCE), "-o", str(output)], check=True)
    with pytest.raises(FormatError, match=r"max-page-size=65536.*\[IMG-13\]"):
        shape_of(output.read_bytes())


EDGES = tomllib.loads((Path(__file__).parents[2] / "testdata/edges.toml").read_text())
EDITS = [
    pytest.param(edit, id=f"{rule}: {what}")
    for rule, edits in EDGES.items()
    for what, edit in edits.items()
]


@pytest.mark.spec(
    "IMG-2", "IMG-6", "IMG-7", "IMG-10", "IMG-13", "IMG-20", "IMG-22", "IMG-23", "IMG-28", "IMG-29",
    "IMG-30", "IMG-31", "IMG-32", "IMG-33", "IMG-34", "IMG-36", "IMG-39", "IMG-40",
)  # fmt: skip
@pytest.mark.parametrize("which", ["lld-x86_64", "lld-aarch64"])
@pytest.mark.parametrize("edit", EDITS)
def test_what_a_rule_lets_through(full: Callable[[str], bytes], edit: str, which: str) -> None:
    """Each rule refuses no more than it says: its limit itself is admitted."""
    shape_of(Fields(full(which)).edit(edit))


NO_ARRAYS = "dyn.INIT_ARRAYSZ.d_val = dyn.FINI_ARRAYSZ.d_val = 0"
IN_ZEROS = "relr[0].value = load[3].p_vaddr + load[3].p_memsz - 16 & -8"


@pytest.mark.spec("IMG-33", "IMG-34")
@pytest.mark.parametrize(
    ("rule", "edit"),
    [
        ("IMG-33", "rela[0].r_addend = 0"),
        ("IMG-34", "u64_set(offset(relr[0].value), 0)"),
        ("IMG-34", f"{IN_ZEROS}; relr[1].value = relr[2].value = 1; {NO_ARRAYS}"),
    ],
)
def test_0_is_no_address_of_an_image_that_begins_higher(
    rule: str, edit: str, tmp_path: Path
) -> None:
    """An image linked at 0x2000000 has its first page there, and a relative 0 lies outside it."""
    output = tmp_path / "high.ok"
    command = [*COMPILERS["lld-x86_64"], *FLAGS, "-Wl,--image-base=0x2000000", str(SOURCE)]
    subprocess.run([*command, "-o", str(output)], check=True)
    assert shape_of(output.read_bytes()).lo == 0x2000000
    with pytest.raises(FormatError) as refusal:
        shape_of(Fields(output.read_bytes()).edit(edit))
    assert refusal.value.rule == rule


@pytest.mark.spec("IMG-4", "IMG-18", "IMG-20", "IMG-32", "IMG-35")
@pytest.mark.parametrize(
    ("rule", "edit"),
    [
        ("", "phdr.GNU_STACK.p_type = PT_RISCV_ATTRIBUTES"),
        ("IMG-18", "rela[-1].r_type = R.TPOFF"),
        ("IMG-32", "rela[-1].r_type = R.NONE"),
        ("IMG-35", "rela[-1].r_type = R.COPY"),
        ("IMG-35", "rela[-1].r_type = R.IRELATIVE"),
    ],
)
def test_images_for_riscv64_are_read(full: Callable[[str], bytes], rule: str, edit: str) -> None:
    """They are judged by their own processor's relocations and headers, and nothing runs them."""
    data = Fields(full("lld-riscv64")).edit(edit)
    if not rule:
        assert shape_of(data).machine == 243
        return
    with pytest.raises(FormatError) as refusal:
        shape_of(data)
    assert refusal.value.rule == rule


@pytest.mark.spec("IMG-40")
@pytest.mark.parametrize("edit", ["ehdr.e_shnum = ehdr.e_shoff = 0", "symtab.sh_size = 24"])
def test_names_come_from_the_dynamic_symbols_for_want_of_others(
    full: Callable[[str], bytes], edit: str
) -> None:
    """Without a .symtab, or with an empty one, names are those of DT_SYMTAB."""
    fields = Fields(full("lld-x86_64"))
    shape = shape_of(fields.edit(edit))
    assert shape.names == (fields.sym[0].at, len(fields.sym))
    assert shape.strings == (fields.strtab, fields.dyn.STRSZ.d_val)


@pytest.mark.spec("ERR-1", "IMG-1", "IMG-6", "IMG-9")
@pytest.mark.parametrize("which", ["lld-x86_64", "lld-aarch64"])
def test_every_prefix_is_refused(full: Callable[[str], bytes], which: str) -> None:
    """A file cut at any byte is no image."""
    data = full(which)
    for size in range(len(data)):
        with pytest.raises(FormatError):
            shape_of(data[:size])


@pytest.mark.spec("IMG-1")
def test_more_than_4_gib_is_refused(full: Callable[[str], bytes], tmp_path: Path) -> None:
    """A good image with a tail of holes is one up to 4 GiB, and none above."""
    path = tmp_path / "large.ok"
    path.write_bytes(full("lld-x86_64"))
    with path.open("r+b") as file:
        file.truncate((1 << 32) + 1)
        read_shape(View.of_fd(file.fileno(), 1 << 32))
        with pytest.raises(FormatError, match=r"\[IMG-1\]"):
            read_shape(View.of_fd(file.fileno(), (1 << 32) + 1))


@pytest.mark.spec("IMG-9")
def test_only_what_is_judged_is_read(
    full: Callable[[str], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open file gives the same shape as its bytes, and most of it is never read."""
    data = full("gnu-x86_64")
    path = tmp_path / "at-an-offset"
    path.write_bytes(b"?" * 4099 + data)
    read = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda f, n, at: read.append(n) or pread(f, n, at))
    with path.open("rb") as file:
        shape = read_shape(View.of_fd(file.fileno(), len(data), 4099))
    want = shape_of(data)
    assert shape.values == want.values
    assert [i.name for i in shape.imports] == [i.name for i in want.imports]
    assert (shape.notes, shape.names, shape.build_id) == (want.notes, want.names, want.build_id)
    assert 64 < sum(read) < len(data) // 10


@pytest.mark.spec("IMG-28", "ERR-2")
def test_a_name_cannot_move_the_cursor(full: Callable[[str], bytes]) -> None:
    """The name of a symbol at fault is shown with its control bytes escaped."""
    fields = Fields(full("lld-x86_64"))
    symbol = fields.symbol("shown")
    at = fields.strtab + symbol.st_name
    fields.data[at : at + 5] = b"\x1b[2J\xff"
    with pytest.raises(FormatError) as refusal:
        shape_of(fields.edit(f"sym[{fields.sym.index(symbol)}].st_shndx = SHN_COMMON"))
    assert "symbol \\x1b[2J\\xff is in reserved section 0xfff2" in str(refusal.value)
    assert re.search(r"\(at byte 0x[0-9a-f]+\) \[IMG-28\]$", str(refusal.value))
