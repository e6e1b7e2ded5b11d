"""Whatever the bytes are, the gate gives a shape or one typed error; a shape keeps its promises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import lief
import pytest

from okld.base.errors import FormatError
from okld.base.limits import PAGE
from okld.base.view import View
from okld.image.shape import Shape, read_shape

lief.logging.disable()
RULES = set(
    re.findall(
        r"^### (IMG-\d+)  ", (Path(__file__).parents[2] / "SPEC.md").read_text(), re.MULTILINE
    )
)
R, W, X = 4, 2, 1


@pytest.mark.spec("ERR-1")
def test_a_mutant_is_refused_by_a_clause_or_is_an_image(
    mutators: dict[str, Any], block: range
) -> None:
    """Nothing but a refusal by a clause is raised; another reader finds what passes sound."""
    names = sorted(mutators)
    refused = passed = 0
    for number in block:
        name = names[number % len(names)]
        data = mutators[name].mutant(number)
        try:
            shape = read_shape(View.of_bytes(data))
        except FormatError as refusal:
            refused += 1
            faults = [] if refusal.rule in RULES and str(refusal).isprintable() else [str(refusal)]
        except Exception as other:
            raise AssertionError(f"mutant {number} of {name}") from other
        else:
            passed += 1
            faults = list(unsound(data, shape))
        assert not faults, (name, number, faults)
    assert refused > len(block) // 10
    assert passed > len(block) // 100


def unsound(data: bytes, shape: Shape) -> Iterable[str]:
    """Yield what lief finds in *data* that no image may have, or that the shape tells otherwise."""
    binary = lief.ELF.parse(data)
    if binary is None:
        yield "lief finds no ELF file"
        return
    loads = [s for s in binary.segments if s.type == lief.ELF.Segment.TYPE.LOAD and s.virtual_size]
    ranges = [(s.virtual_address, s.virtual_address + s.virtual_size) for s in loads]
    if ranges != [(s.vaddr, s.vaddr + s.memsz) for s in shape.segments]:
        yield "other segments"
    for s in loads:
        flags = int(s.flags)
        if (flags & W and flags & X) or not flags & R:
            yield f"permissions {flags}"
        if s.file_offset + s.physical_size > len(data) or s.physical_size > s.virtual_size:
            yield "bytes that are not in the file"
        if flags & X and s.physical_size != s.virtual_size:
            yield "code that is not in the file"
    for (_, end), (start, _) in pairwise(ranges):
        if -(-end // PAGE) > start // PAGE:
            yield "a shared page"
    entry = binary.header.entrypoint
    if not any(
        s.virtual_address <= entry < s.virtual_address + s.physical_size and int(s.flags) & X
        for s in loads
    ):
        yield "an entry that is no code"
    if binary.has_interpreter or binary.libraries:
        yield "an interpreter or a library"
    yield from unsound_relocations(binary, loads, shape)


def unsound_relocations(binary: Any, loads: list[Any], shape: Shape) -> Iterable[str]:
    writable = [
        (s.virtual_address, s.virtual_address + s.virtual_size) for s in loads if int(s.flags) & W
    ]
    dynamic = next(s for s in binary.segments if s.type == lief.ELF.Segment.TYPE.DYNAMIC)
    start, end = dynamic.virtual_address, dynamic.virtual_address + dynamic.virtual_size
    for relocation in binary.dynamic_relocations:
        at = relocation.address
        if not any(a <= at and at + 8 <= b for a, b in writable) or (start - 8 < at < end):
            yield f"a relocation at {at:#x}"
        if "RELATIVE" in str(relocation.type) and not shape.lo <= relocation.addend <= shape.hi:
            yield f"an addend {relocation.addend:#x}"
        if re.search("COPY|IRELATIV|TLS|TPREL|TPOFF|DTP", str(relocation.type)):
            yield f"{relocation.type}"
