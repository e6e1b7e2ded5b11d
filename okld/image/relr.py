"""The relative checked of an image in their compact form; most images have none.

Source: SPEC IMG-34; gABI, "Relative Relocation Table".
"""

from __future__ import annotations

import struct

from okld.base.errors import FormatError
from okld.base.limits import CHUNK, MAX_RELOCATIONS
from okld.base.view import View
from okld.elf.header import PF_W
from okld.elf.tables import RELR_SIZE, WORD_SIZE, below, column
from okld.image.relocs import Checked
from okld.image.segments import Memory, Segment, file_range

_BITMAP = 63  # places that a bitmap covers
_FULL = (1 << 64) - 1  # the bitmap of a long array of pointers
_STEP = CHUNK // 8  # words that are expanded at a time, each into 63 places at most
_QUAD = struct.Struct("<Q")
_BLOCK = 1 << 18  # bytes of the file that are read at a time for the addends found there


def read_relr(checked: Checked, view: View, memory: Memory, address: int, count: int) -> None:
    """
    Check the *count* words of the RELR table at link *address*.

    Raises:
        FormatError: IMG-25, IMG-31, IMG-32, IMG-34, IMG-36.
    """
    table = file_range(memory, address, RELR_SIZE * count, "DT_RELR", "IMG-31")
    base = floor = total = 0
    for start in range(0, count, _STEP):
        at = table + RELR_SIZE * start
        size = RELR_SIZE * min(_STEP, count - start)
        words = column(view.window(at, size, "DT_RELR", "IMG-31"), "Q", 0, 1)
        if start == 0 and words[0] & 1:
            raise FormatError("IMG-34", "DT_RELR begins with a bitmap", got=words[0], at=at)
        places, base = expand(words, base, floor)
        if not places:
            continue
        floor = places[-1] + WORD_SIZE
        total += len(places)
        if total > MAX_RELOCATIONS:
            raise FormatError("IMG-34", "DT_RELR places", got=total, limit=MAX_RELOCATIONS)
        checked.check_places(places, at, 0, in_order=True)
        for segment in memory.segments:
            if segment.flags & PF_W:
                _check_found(checked, view, segment, places)


def expand(words: list[int], base: int, floor: int) -> tuple[list[int], int]:
    """
    Return the places that RELR *words* name, ascending, and the base of a bitmap that follows them.

    *base* is what the call for the words before returned; no place may be below *floor*, where
    their places end.

    Raises:
        FormatError: IMG-34.
    """
    places: list[int] = []
    covered: dict[int, list[int]] = {}  # by bitmap: a table of structures repeats a few of them
    for word in words:
        if not word & 1:
            end = places[-1] + WORD_SIZE if places else floor
            if word < end:
                raise FormatError("IMG-34", "DT_RELR does not ascend", got=word, limit=end)
            places.append(word)
            base = word + WORD_SIZE
            continue
        if word == _FULL:
            places += range(base, base + WORD_SIZE * _BITMAP, WORD_SIZE)
            base += WORD_SIZE * _BITMAP
            continue
        if word not in covered:
            flags = f"{word >> 1:063b}"[::-1]
            covered[word] = [WORD_SIZE * index for index, flag in enumerate(flags) if flag == "1"]
        places += [base + distance for distance in covered[word]]
        base += WORD_SIZE * _BITMAP
    return places, base


def _check_found(checked: Checked, view: View, segment: Segment, places: list[int]) -> None:
    """Check the addends that the file holds at those *places* that are in *segment*."""
    end = segment.vaddr + segment.filesz
    start = below(places, segment.vaddr)
    stop = below(places, end - WORD_SIZE + 1)
    past = below(places, segment.vaddr + segment.memsz)
    if past > stop and (checked.memory.lo or places[stop] < end):
        what = "DT_RELR finds no addend past the file's bytes of a segment"
        raise FormatError("IMG-34", what, got=places[stop])
    while start < stop:
        following = min(below(places, places[start] + _BLOCK), stop)
        _check_block(checked, view, segment, places[start:following])
        start = following


def _check_block(checked: Checked, view: View, segment: Segment, places: list[int]) -> None:
    first = places[0]
    size = places[-1] + WORD_SIZE - first
    data = view.window(segment.offset + first - segment.vaddr, size, "relocated data", "IMG-34")
    if size == WORD_SIZE * len(places):
        addends = column(data, "Q", 0, 1)
    else:
        addends = [_QUAD.unpack_from(data, place - first)[0] for place in places]
    checked.check_addends(addends, "IMG-34")
    if checked.touches(places):
        for place, addend in zip(places, addends, strict=True):
            checked.watch(place, 0, addend)
