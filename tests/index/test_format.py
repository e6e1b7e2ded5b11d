"""Blocks: what is written is what is read, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from okld.syms.index.encode import payload_of, seal
from okld.syms.index.format import Unusable, columns_of, unseal

COLUMN = some.one_of(
    some.lists(some.integers(0, 2**64 - 1), max_size=20),
    some.lists(some.integers(-(2**63), 2**63 - 1), max_size=20),
    some.lists(some.integers(-1, 300), max_size=300),
)
TEXT = some.binary(max_size=40)


@pytest.mark.spec("IDX-5")
@given(some.lists(COLUMN, max_size=6), some.lists(TEXT, max_size=10), some.booleans())
def test_what_is_written_is_read(columns, texts, compressed):
    """Columns of any width and sign, and strings of any bytes, come back as they were."""
    block = seal(payload_of(columns, texts), compressed=compressed)
    got, strings = columns_of(unseal(block))
    assert [list(column) for column in got] == columns
    assert len(strings) == len(texts)
    named = [strings[index].encode("utf-8", "surrogateescape") for index in range(len(texts))]
    assert named == texts


@pytest.mark.spec("IDX-5")
@pytest.mark.parametrize("compressed", [True, False])
def test_every_byte_counts(compressed):
    """A block in which one bit of any byte is another, or that is cut anywhere, is none."""
    block = seal(payload_of([[1, 2, 3] * 50, [2**40]], [b"name"] * 9), compressed=compressed)
    assert unseal(block)
    for at in range(len(block)):
        with pytest.raises(Unusable):
            unseal(block[:at] + bytes([block[at] ^ (1 << at % 8)]) + block[at + 1 :])
        with pytest.raises(Unusable):
            unseal(block[:at])


@pytest.mark.spec("IDX-5")
@settings(max_examples=400)
@given(some.binary(max_size=120))
def test_a_payload_that_somebody_made_up(payload):
    """Bytes that are no payload, with a right checksum, are refused or give columns."""
    try:
        columns, strings = columns_of(unseal(seal(payload, compressed=False)))
    except Unusable:
        return
    assert sum(column.nbytes for column in columns) <= len(payload)
    assert len(strings) <= len(payload)


@pytest.mark.spec("IDX-5")
def test_numbers_that_no_file_has():
    """A number of more than 64 bits cannot be written."""
    for column in ([2**64], [-(2**63) - 1], [-1, 2**63]):
        with pytest.raises(OverflowError):
            payload_of([column], [])
