"""MiniDebugInfo."""

from __future__ import annotations

import lzma
import zlib

import pytest

from okld.base.errors import FormatError
from okld.base.limits import MAX_MINIDEBUG
from okld.base.view import View
from okld.syms.elf_file import ElfFile
from okld.syms.minidebug import minidebug


@pytest.fixture
def with_section(whole, tmp_path, run):
    """Return a stripped program with a section `.gnu_debugdata` of the bytes given."""

    def made(data: bytes) -> ElfFile:
        (tmp_path / "data").write_bytes(data)
        run("strip", whole, "-o", "stripped")
        run("objcopy", "--add-section=.gnu_debugdata=data", "stripped", "mini")
        return ElfFile(View.of_bytes((tmp_path / "mini").read_bytes()), "mini")

    return made


@pytest.mark.spec("DBG-7")
@pytest.mark.parametrize("preset", ["-0", "-6", "-9e"])
def test_the_packed_file_is_read(whole, with_section, preset, tmp_path, run):
    """The symbols that xz packed are there, whatever preset it was told."""
    run("objcopy", "--only-keep-debug", "-R", ".debug_*", whole, "symbols")
    packed = run("xz", preset, "--stdout", "symbols")
    elf = minidebug(with_section(packed))
    assert elf is not None
    table = elf.raw(elf.index(".symtab"))
    plain = ElfFile(View.of_bytes((tmp_path / "symbols").read_bytes()))
    assert table.size > 24
    assert bytes(table.window(0, table.size, "", "")) == bytes(
        plain.raw(plain.index(".symtab")).window(0, table.size, "", "")
    )
    assert elf.path == "mini(.gnu_debugdata)"


@pytest.mark.spec("DBG-7")
def test_most_files_have_none(whole, opened):
    """No section, no file."""
    assert minidebug(opened(whole)) is None


@pytest.mark.spec("DBG-7")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends early"),
        (b"not xz at all", "format"),
        (lzma.compress(b"\x7fELF" + bytes(100_000))[:60], "ends early"),
        (lzma.compress(b"no ELF file, but packed"), "no ELF file"),
        (lzma.compress(bytes(MAX_MINIDEBUG + 1), preset=0), "limit"),
    ],
    ids=["empty", "no xz", "cut", "no ELF", "bomb"],
)
def test_what_is_none_is_refused(with_section, data, message):
    """A named limit, or what is wrong, never an exception of the library's."""
    with pytest.raises(FormatError, match=message):
        minidebug(with_section(data))


@pytest.mark.spec("DBG-7")
def test_inflating_takes_no_more_memory_than_xz_itself(with_section):
    """A stream that asks for a dictionary of a gigabyte is refused."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(bytes(5000), filters=filters))
    # The dictionary's size is the byte after the filter's id, 0x21, and its length, 1.
    at = packed.index(b"\x21\x01") + 2
    packed[at] = 38  # 2 GiB
    header = 12 + (packed[12] + 1) * 4
    packed[header - 4 : header] = zlib.crc32(packed[12 : header - 4]).to_bytes(4, "little")
    with pytest.raises(FormatError, match=r"[Mm]emory"):
        minidebug(with_section(bytes(packed)))
