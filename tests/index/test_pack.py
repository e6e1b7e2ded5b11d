"""Packs: which block an address is in, alone and when packs are put together."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as some

from okld.syms.index.encode import payload_of, seal
from okld.syms.index.encode_pack import pack_bytes, together
from okld.syms.index.format import Unusable, columns_of, unseal
from okld.syms.index.pack import END, FIRST, LINES, NAMES, NOTHING, UNKNOWN, Pack


@some.composite
def parts(draw):
    """Ranges that do not overlap, each with what it is, and the blocks that they speak of."""
    places = draw(some.lists(some.integers(0, 60), unique=True, max_size=12).map(sorted))
    scale = draw(some.sampled_from([1, 1 << 58]))
    ranges, blocks = [], []
    for low, high in zip(places[::2], places[1::2], strict=False):
        part = NOTHING
        if draw(some.booleans()):
            part = FIRST + len(blocks)
            blocks.append(seal(payload_of([[draw(some.integers(0, 2**64 - 1))]], [])))
        ranges.append((low * scale, high * scale, part))
    return ranges, blocks


def written(path, ranges, blocks):
    path.write_bytes(b"".join(pack_bytes(LINES, ranges, blocks)))
    return Pack(os.open(path, os.O_RDONLY), LINES)


def said(pack, address):
    """Return what a pack says of an address: its block's number, or that there is none."""
    part, end = pack.part_at(address)
    assert end > address
    if part < FIRST:
        return part
    columns, _ = columns_of(unseal(pack.block(part)))
    return ("block", columns[0][0])


def wanted(ranges, blocks, address):
    for low, high, part in ranges:
        if low <= address < high:
            if part == NOTHING:
                return NOTHING
            columns, _ = columns_of(unseal(blocks[part - FIRST]))
            return ("block", columns[0][0])
    return UNKNOWN


PROBES = [place * scale + off for scale in (1, 1 << 58) for place in range(62) for off in (0, 1)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("packs") / "pack"


@pytest.mark.spec("IDX-6")
@given(made=parts())
def test_the_part_of_an_address(path, made):
    """Every address has the block of its range, and between ranges nothing is known."""
    pack = written(path, *made)
    for address in (*PROBES, END - 1):
        if address < END:
            assert said(pack, address) == wanted(*made, address)
    pack.close()


@pytest.mark.spec("IDX-7")
@given(several=some.lists(parts(), max_size=4))
def test_packs_put_together(path, several):
    """What several packs know one knows, in each place what the first of them said."""
    packs = [written(path.with_name(f"pack{number}"), *made) for number, made in enumerate(several)]
    one = written(path, *together(packs))
    for address in PROBES:
        if address < END:
            known = (wanted(*made, address) for made in several)
            first = next((each for each in known if each != UNKNOWN), UNKNOWN)
            assert said(one, address) == first
    for pack in (one, *packs):
        pack.close()


@pytest.mark.spec("IDX-5")
def test_every_byte_of_a_pack_counts(path):
    """In a pack with a byte changed, or cut, a block is as it was or cannot be had."""
    blocks = [seal(payload_of([[number]], [b"text"])) for number in (7, 8)]
    ranges = [(10, 20, FIRST), (20, 30, NOTHING), (40, 50, FIRST + 1)]
    good = b"".join(pack_bytes(LINES, ranges, blocks))
    broken = [good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :] for at in range(len(good))]
    broken += [good[:at] for at in range(len(good))]
    for data in broken:
        path.write_bytes(data)
        fd = os.open(path, os.O_RDONLY)
        try:
            pack = Pack(fd, LINES)
        except Unusable:
            os.close(fd)
            continue
        for address in (5, 10, 25, 35, 49, 50):
            try:
                got = said(pack, address)
            except Unusable:
                continue
            assert got == wanted(ranges, blocks, address)
        pack.close()


@pytest.mark.spec("IDX-5")
def test_a_pack_of_another_layer(path):
    """A pack of names is none of lines."""
    path.write_bytes(b"".join(pack_bytes(NAMES, [], [])))
    fd = os.open(path, os.O_RDONLY)
    with pytest.raises(Unusable):
        Pack(fd, LINES)
    os.close(fd)
