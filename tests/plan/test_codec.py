"""The plan's bytes, held to the C header that states the format."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okrun.plan import codec
from okrun.plan.codec import HEADER, encode

HOST = Path(__file__).parents[2] / "okrun/host"
WORD = st.integers(0, 2**64 - 1)
TEXT = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b"/"))


def small_plan() -> bytes:
    header = {name: 0x1000 + at for at, name in enumerate(HEADER)}
    strings = (b"a.ok", b"", b"out/dir1", b"r1", b"3\0.\0", b"", b"k\0")
    return encode(header, [(1, 2, 3, 4, 5)], (6, 7, 8), b"\0\2\3", strings)


def from_c(tmp_path: Path, statements: list[str]) -> list[int]:
    """Return the numbers that a C program which includes plan.h prints."""
    source = tmp_path / "ask.c"
    body = "\n".join(f'printf("%llu\\n", (unsigned long long)({each}));' for each in statements)
    source.write_text(f'#include <stdio.h>\n#include "plan.h"\nint main(void) {{ {body} }}\n')
    program = tmp_path / "ask"
    subprocess.run(["cc", "-I", HOST, source, "-o", program], check=True)
    return [int(line) for line in subprocess.check_output([program]).split()]


@pytest.mark.spec("PLAN-1")
def test_header_is_that_of_the_c_struct(tmp_path):
    """
    Each word of the header lies where the C compiler puts the member of that name, and no member is
    left out.
    """
    offsets = [f"offsetof(struct plan_header, {name})" for name in HEADER]
    want = from_c(tmp_path, [*offsets, "sizeof(struct plan_header)"])
    assert want == list(range(0, 8 * len(HEADER) + 1, 8))


@pytest.mark.spec("PLAN-1")
def test_numbers_are_those_of_the_c_header(tmp_path):
    """Magic, page, kinds of symbols and bits of measuring are those of plan.h."""
    names = {
        "PLAN_MAGIC": codec.MAGIC,
        "PLAN_PAGE": codec.PAGE,
        "PLAN_SYMBOL_IMAGE": codec.SYMBOL_IMAGE,
        "PLAN_SYMBOL_ABSOLUTE": codec.SYMBOL_ABSOLUTE,
        "PLAN_SYMBOL_KAL": codec.SYMBOL_KAL,
        "PLAN_SYMBOL_KAL_WEAK": codec.SYMBOL_KAL_WEAK,
        "PLAN_MEASURE_COUNT": codec.MEASURE_COUNT,
        "PLAN_MEASURE_CALLS": codec.MEASURE_CALLS,
        "PLAN_MEASURE_COUNTERS": codec.MEASURE_COUNTERS,
        "PLAN_MEASURE_PERFMAP": codec.MEASURE_PERFMAP,
        "PLAN_MEASURE_HEAP": codec.MEASURE_HEAP,
    }
    assert from_c(tmp_path, list(names)) == list(names.values())


@pytest.mark.spec("PLAN-1")
def test_parts_follow_the_header_as_the_grammar_says():
    """
    Segments, values, kinds and strings follow in this order, each padded with zero bytes to eight.
    """

    def words(*values: int) -> bytes:
        return b"".join(value.to_bytes(8, "little") for value in values)

    data = small_plan()
    body = (
        words(1, 2, 3, 4, 5)
        + words(6, 7, 8)
        + b"\0\2\3" + bytes(5)
        + words(4) + b"a.ok\0" + bytes(3)
        + words(0) + b"\0" + bytes(7)
        + words(8) + b"out/dir1\0" + bytes(7)
        + words(2) + b"r1\0" + bytes(5)
        + words(4) + b"3\0.\0\0" + bytes(3)
        + words(0) + b"\0" + bytes(7)
        + words(2) + b"k\0\0" + bytes(5)
    )  # fmt: skip
    assert data[8 * len(HEADER) :] == body
    named = dict(zip(HEADER, (data[at : at + 8] for at in range(0, len(data), 8)), strict=False))
    assert named["magic"] == b"kplan3\0\0"
    assert named["size"] == words(len(data))
    assert named["segment_count"] == words(1)
    assert named["symbol_count"] == words(3)
    assert named["entry"] == words(0x1000 + HEADER.index("entry"))


@pytest.mark.spec("PLAN-1")
@given(
    header=st.lists(WORD, min_size=len(HEADER), max_size=len(HEADER)),
    segments=st.lists(st.tuples(WORD, WORD, WORD, WORD, WORD), max_size=3),
    symbols=st.lists(st.tuples(WORD, st.integers(0, 255)), max_size=20),
    strings=st.tuples(TEXT, TEXT, TEXT, TEXT, *[st.binary(max_size=20)] * 3),
)
def test_what_is_written_is_read(read_plan, header, segments, symbols, strings):
    """
    A reader of the grammar finds every word, segment, value, kind and string that was encoded.
    """
    words = dict(zip(HEADER, header, strict=True))
    values = tuple(value for value, _ in symbols)
    kinds = bytes(kind for _, kind in symbols)
    got = read_plan(encode(words, segments, values, kinds, strings))
    computed = ("magic", "size", "segment_count", "symbol_count")
    assert {k: v for k, v in got.header.items() if k not in computed} == {
        k: v for k, v in words.items() if k not in computed
    }
    assert (got.segments, got.values, got.kinds, got.strings) == (segments, values, kinds, strings)
