"""
A reader of plans that was written from the grammar in okrun/host/plan.h, and from nothing else.
"""

import struct
from types import SimpleNamespace

import pytest

from okrun.plan.codec import HEADER


def read(data):
    """Return the parts of a plan; each has to be where the grammar says, and padded with zeros."""
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        padding = data[at : at + -at % 8]
        assert not any(padding)
        at += len(padding)
        return values

    header = dict(zip(HEADER, take(f"{len(HEADER)}Q"), strict=True))
    segments = [take("5Q") for _ in range(header["segment_count"])]
    values = take(f"{header['symbol_count']}Q")
    (kinds,) = take(f"{header['symbol_count']}s")
    strings = []
    for _ in range(7):
        (size,) = take("Q")
        (text,) = take(f"{size + 1}s")
        assert text[-1] == 0
        strings.append(text[:-1])
    assert at == len(data) == header["size"]
    return SimpleNamespace(
        header=header, segments=segments, values=values, kinds=kinds, strings=tuple(strings)
    )


@pytest.fixture(scope="session")
def read_plan():
    return read
