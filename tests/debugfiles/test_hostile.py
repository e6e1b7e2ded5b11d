"""Mutated debug files: bytes, or one typed error."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from made import SOURCE

from okld.base.errors import OkError
from okld.base.view import View
from okld.syms.debugfiles import find, find_alt
from okld.syms.elf_file import ElfFile
from okld.syms.minidebug import minidebug
from okld.syms.options import Options
from okld.syms.sections import Sections

NAMES = ("info", "abbrev", "line", "str", "line_str", "aranges", "rnglists", "ranges")
MUTANTS = 400


def read_all(data: bytes) -> int:
    """Read all that this part reads of a file; return how many sections could be read."""
    read = 0
    with suppress(OkError):
        elf = ElfFile(View.of_bytes(data), "/nowhere/file")
        sections = Sections.of_elf(elf)
        for name in NAMES:
            with suppress(OkError):
                size = sections.size(name)
                sections.window(name, size // 2, size - size // 2)
                sections.window(name, 0, min(size, 100))
                sections.cstring(name, size // 3)
                read += 1
        with suppress(OkError):
            minidebug(elf)
        options = Options(debug_dirs=("/nowhere",))
        with suppress(OkError):
            assert list(find(elf, options)) == []
        with suppress(OkError):
            assert find_alt(elf, options) is None
    return read


@pytest.fixture
def files(tmp_path, run, whole) -> list[bytes]:
    """Return one file of each kind: relocatable, compressed in three ways, with links."""
    (tmp_path / "a.c").write_text(SOURCE)
    run("gcc", "-g", "-c", "a.c", "-o", "a.o")
    run("riscv64-linux-gnu-gcc", "-g", "-c", "a.c", "-o", "riscv.o")
    run("llvm-objcopy-19", "--compress-debug-sections=zlib", "a.o", "zlib.o")
    run("llvm-objcopy-19", "--compress-debug-sections=zstd", whole, "zstd")
    run("objcopy", "--compress-debug-sections=zlib-gnu", whole, "gnu")
    (tmp_path / "link").write_bytes(b"/nowhere/common\0" + bytes(20))
    (tmp_path / "mini").write_bytes(run("xz", "--stdout", whole))
    more = ["--add-section=.gnu_debugaltlink=link", "--add-section=.gnu_debugdata=mini"]
    run("objcopy", f"--add-gnu-debuglink={whole}", *more, whole, "links")
    names = ("a.o", "riscv.o", "zlib.o", "zstd", "gnu", "links")
    return [(tmp_path / name).read_bytes() for name in names]


def mutate(data: bytes, choose: random.Random) -> bytes:
    """Return the file with a few bytes changed, most of them in headers, or cut."""
    changed = bytearray(data)
    headers = int.from_bytes(data[40:48], "little")
    for _ in range(choose.randrange(1, 12)):
        if choose.random() < 0.6:
            at = headers + choose.randrange(len(data) - headers) if headers < len(data) else 0
        else:
            at = choose.randrange(len(data))
        changed[at] = choose.choice((0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256)))
    if choose.random() < 0.1:
        del changed[choose.randrange(len(changed)) :]
    return bytes(changed)


@pytest.mark.spec("DBG-1", "DBG-4", "DBG-7", "DBG-8")
def test_mutants_give_bytes_or_one_error(files):
    """No foreign exception, whatever bytes are changed."""
    choose = random.Random(7)
    assert [read_all(data) > 4 for data in files] == [True] * len(files)
    for number in range(MUTANTS):
        read_all(mutate(files[number % len(files)], choose))
