"""Compressed sections: every format, every window, every lie."""

from __future__ import annotations

import errno
import os
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from backports import zstd
from made import SOURCE

from okld.base.errors import FormatError, Refusal, Unreadable
from okld.base.limits import MAX_DEBUG_SECTION, MAX_RATIO, MAX_ZSTD_WINDOW, SMALL_SECTION
from okld.base.view import View
from okld.syms import inflate
from okld.syms.inflate import BLOCK, inflated, inflated_gnu
from okld.syms.sections import Sections

CLASSES = {
    "64, least first": ("x86_64-linux-gnu", "objcopy"),
    "32, least first": ("i386-linux-gnu", "objcopy"),
    "32, most first": ("mips-linux-gnu", "mips-linux-gnu-objcopy"),
    "64, most first": ("powerpc64-linux-gnu", "powerpc64-linux-gnu-objcopy"),
}
FORMATS = {
    "zlib": ["llvm-objcopy-19", "--compress-debug-sections=zlib"],
    "zstd": ["llvm-objcopy-19", "--compress-debug-sections=zstd"],
    "zlib-gnu": ["", "--compress-debug-sections=zlib-gnu"],
}
ZLIB, ZSTD = 1, 2


@pytest.fixture(scope="session")
def text() -> bytes:
    """Return bytes like debug information's: not random, nowhere the same, of many blocks."""
    choose = random.Random(4).choices
    words = [bytes(choose(range(256), k=9)) for _ in range(500)]
    return b"".join(choose(words, k=9 * BLOCK // 9 + 1000))


def section(method: int, stated: int, packed: bytes) -> View:
    """Return a section with `SHF_COMPRESSED` of a 64-bit file."""
    return View.of_bytes(struct.pack("<IIQQ", method, 0, stated, 1) + packed)


def packed_by(method: int, data: bytes) -> bytes:
    return zlib.compress(data) if method == ZLIB else zstd.compress(data)


@pytest.mark.spec("DBG-1")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_format_in_every_class_and_order(kind, form, tmp_path, run, opened):
    """What a tool compressed reads as the file that it was made from."""
    target, objcopy = CLASSES[kind]
    (tmp_path / "a.c").write_text(SOURCE)
    abi = ["-mabi=elfv2"] if target.startswith("powerpc64") else []
    run("clang-19", f"--target={target}", *abi, "-g", "-O1", "-fPIC", "-c", "a.c", "-o", "a.o")
    run("ld.lld-19", "-shared", "a.o", "-o", "plain.so")
    tool, option = FORMATS[form]
    run(tool or objcopy, option, "plain.so", "packed.so")
    listed = run("readelf", "-tW", "packed.so")
    assert (b".zdebug_info" if form == "zlib-gnu" else form.upper().encode()) in listed
    plain, packed = (Sections.of_elf(opened(tmp_path / f"{n}.so")) for n in ("plain", "packed"))
    for name in ("info", "abbrev", "line", "str", "line_str", "addr"):
        assert packed.size(name) == plain.size(name) > 0
        assert bytes(packed.whole(name)) == bytes(plain.whole(name))


@pytest.mark.spec("DBG-1", "DBG-5")
@pytest.mark.parametrize("method", [ZLIB, ZSTD])
def test_every_window_is_of_the_same_bytes(method, text, monkeypatch):
    """Forwards, backwards, across blocks, with few blocks and few states held."""
    monkeypatch.setattr(inflate, "STATES_EVERY", BLOCK)
    monkeypatch.setattr(inflate, "MAX_INFLATED_STATES", 3)
    monkeypatch.setattr(inflate, "MAX_INFLATED_HELD", 2 * BLOCK)
    monkeypatch.setattr(inflate, "MAX_ZSTD_HELD", 2 * BLOCK)
    source = inflated(section(method, len(text), packed_by(method, text)), 64, "<")
    assert source.size == len(text)
    random_number = random.Random(method).randrange
    edges = [(0, 1), (len(text) - 1, 1), (BLOCK - 1, 2), (BLOCK, 1), (0, len(text)), (5, 0)]
    places = [
        (at, random_number(3 * BLOCK)) for at in (random_number(len(text)) for _ in range(60))
    ]
    for at, size in edges + places:
        size = min(size, len(text) - at)
        assert bytes(source.window(at, size, "text", "LIN-1")) == text[at : at + size]
    with pytest.raises(FormatError) as refused:
        source.window(len(text) - 1, 2, "text", "LIN-1")
    assert refused.value.rule == "LIN-1"


@pytest.fixture
def in_file(text, tmp_path) -> Iterator[View]:
    """Return a section in a file, with its text compressed by zlib."""
    path = tmp_path / "section"
    path.write_bytes(struct.pack("<IIQQ", ZLIB, 0, len(text), 1) + zlib.compress(text))
    with path.open("rb") as file:
        yield View.of_fd(file.fileno(), path.stat().st_size)


@pytest.mark.spec("DBG-5")
def test_a_window_anywhere_costs_a_little_inflating(in_file, text, monkeypatch):
    """After one pass, no more of the file is read than between two states that are kept."""
    monkeypatch.setattr(inflate, "STATES_EVERY", BLOCK)
    monkeypatch.setattr(inflate, "MAX_INFLATED_HELD", BLOCK)
    source = inflated(in_file, 64, "<")
    read = []
    pread = os.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        read.append(size)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", counted)
    source.window(len(text) - 1, 1, "text", "LIN-1")
    assert sum(read) >= in_file.size - 24
    for number in (0, 7, 2, 8, 4, 5):
        read.clear()
        assert (
            bytes(source.window(number * BLOCK, 1, "text", "LIN-1")) == text[number * BLOCK :][:1]
        )
        assert sum(read) < in_file.size / 4


@pytest.mark.spec("DBG-1")
def test_a_read_that_failed_leaves_no_trace(in_file, text, monkeypatch):
    """Where the system refuses once, in whatever block, the next answer is right all the same."""
    pread = os.pread
    for failing in range(1, in_file.size // inflate.INPUT):
        left = [failing]

        def refused(fd: int, size: int, offset: int, left: list[int] = left) -> bytes:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, "no")
            return pread(fd, size, offset)

        monkeypatch.setattr(os, "pread", pread)
        source = inflated(in_file, 64, "<")
        monkeypatch.setattr(os, "pread", refused)
        with pytest.raises(Unreadable):
            source.window(0, len(text), "text", "LIN-1")
        assert bytes(source.window(0, len(text), "text", "LIN-1")) == text


@pytest.mark.spec("DBG-1")
def test_frames_of_zstd_follow_each_other(text):
    """A stream may be of several frames."""
    pieces = [text[at : at + 300_000] for at in range(0, len(text), 300_000)]
    packed = b"".join(zstd.compress(piece) for piece in pieces)
    source = inflated(section(ZSTD, len(text), packed), 64, "<")
    assert bytes(source.window(0, len(text), "text", "LIN-1")) == text


@pytest.mark.spec("DBG-1")
@pytest.mark.parametrize("method", [ZLIB, ZSTD])
@pytest.mark.parametrize("lie", [-1, 1, BLOCK, -BLOCK])
def test_a_size_that_is_not_the_streams_is_refused(method, lie, text):
    """A stream that ends before, or goes on after, the stated size is damaged."""
    source = inflated(section(method, len(text) + lie, packed_by(method, text)), 64, "<")
    for _ in range(2):
        with pytest.raises(FormatError) as refused:
            source.window(source.size - 1, 1, "text", "LIN-1")
        assert refused.value.rule == "DBG-1"
    assert bytes(source.window(7, 9, "text", "LIN-1")) == text[7:16]


@pytest.mark.spec("DBG-1")
@pytest.mark.parametrize("method", [ZLIB, ZSTD])
@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_stream_is_refused(method, damage, text):
    """What was read before the damage stays right, also when it is asked for after the error."""
    packed = bytearray(packed_by(method, text))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    elif damage == "empty":
        packed.clear()
    else:
        packed[len(packed) // 2 :] = bytes(len(packed) // 2)
    source = inflated(section(method, min(len(text), SMALL_SECTION), bytes(packed)), 64, "<")
    with pytest.raises(FormatError) as refused:
        source.window(source.size - 1, 1, "text", "LIN-1")
    assert refused.value.rule == "DBG-1"
    if damage != "empty":
        assert bytes(source.window(3, 4, "text", "LIN-1")) == text[3:7]


@pytest.mark.spec("DBG-1")
@pytest.mark.parametrize("raw", [b"", bytes(23), struct.pack("<IIQQ", 3, 0, 1, 1)])
def test_a_header_that_says_nothing_known_is_refused(raw):
    """A cut header, and a method that the gABI has not."""
    with pytest.raises(FormatError) as refused:
        inflated(View.of_bytes(raw), 64, "<")
    assert refused.value.rule == "DBG-1"


@pytest.mark.spec("DBG-1")
@pytest.mark.parametrize("raw", [b"", b"ZLIB1234567", b"GZIP" + bytes(20)])
def test_an_old_header_that_says_nothing_known_is_refused(raw):
    """The same of a section named `.zdebug_*`."""
    with pytest.raises(FormatError) as refused:
        inflated_gnu(View.of_bytes(raw))
    assert refused.value.rule == "DBG-1"


@pytest.mark.spec("DBG-2")
@pytest.mark.parametrize("method", [ZLIB, ZSTD])
def test_a_bomb_is_refused_before_it_is_inflated(method):
    """A section may be so many times its compressed size, and no more; a small one any."""
    packed = packed_by(method, bytes(SMALL_SECTION))
    assert len(packed) * MAX_RATIO < SMALL_SECTION
    small = inflated(section(method, SMALL_SECTION, packed), 64, "<")
    assert bytes(small.window(0, SMALL_SECTION, "zeros", "LIN-1")) == bytes(SMALL_SECTION)
    for stated in (SMALL_SECTION + 1, 1 << 40, (1 << 64) - 1):
        with pytest.raises(FormatError) as refused:
            inflated(section(method, stated, packed), 64, "<")
        assert refused.value.rule == "DBG-2"


@pytest.mark.spec("DBG-2")
def test_no_section_is_larger_than_offsets_reach(tmp_path):
    """However large the file is that it would come from."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(struct.pack("<IIQQ", ZLIB, 0, MAX_DEBUG_SECTION + 1, 1))
        file.truncate(1 << 31)
    with path.open("rb") as file, pytest.raises(FormatError) as refused:
        inflated(View.of_fd(file.fileno(), 1 << 31), 64, "<")
    assert refused.value.rule == "DBG-2"


@pytest.mark.spec("DBG-2")
def test_a_zstd_stream_looks_back_so_far_and_no_further(text):
    """A stream that would need gigabytes of memory is refused."""
    level = zstd.CompressionParameter
    options = {level.window_log: MAX_ZSTD_WINDOW + 1, level.content_size_flag: 0}
    packed = zstd.ZstdCompressor(options=options)
    stream = packed.compress(text) + packed.flush()
    with pytest.raises(FormatError) as refused:
        inflated(section(ZSTD, len(text), stream), 64, "<").window(0, 1, "text", "LIN-1")
    assert refused.value.rule == "DBG-1"


@pytest.mark.spec("DBG-3")
def test_without_zstd_the_message_says_how_to_get_it(monkeypatch):
    """One line, with the command."""
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Refusal, match=r"pip install backports\.zstd \[DBG-3\]$"):
        inflated(section(ZSTD, 1, zstd.compress(b"1")), 64, "<")


MEASURE = """
import sys
from okld.base.view import View
from okld.syms.inflate import inflated
with open(sys.argv[1], "rb") as file:
    source = inflated(View.of_fd(file.fileno(), int(sys.argv[2])), 64, "<")
    for _ in range(2):
        for at in range(0, source.size, 1 << 20):
            source.window(at, 1, "text", "LIN-1")
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.spec("DBG-5")
def test_reading_a_large_section_takes_little_memory(tmp_path):
    """Every part of 256 MiB, twice, in 64 MiB: most of which is Python's own."""
    size = 1 << 28
    path = tmp_path / "section"
    piece = random.Random(1).randbytes(1 << 20)
    stream = zlib.compressobj(0)
    with path.open("wb") as file:
        file.write(struct.pack("<IIQQ", ZLIB, 0, size, 1))
        for _ in range(size >> 20):
            file.write(stream.compress(piece))
        file.write(stream.flush())
    command = [sys.executable, "-c", MEASURE, str(path), str(path.stat().st_size)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True)
    assert done.stderr == b""
    assert int(done.stdout) < 64 << 10  # KiB
