"""What blocks answer is what their tables said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from okld.syms.answer import Found, Miss
from okld.syms.dwarf.unit_table import UnitTable, frames_at
from okld.syms.index.blocks import KINDS, Lines, Names
from okld.syms.index.encode_blocks import lines_block, names_block
from okld.syms.index.format import unseal

NAME = some.text(some.characters(exclude_categories=("Cs",)), max_size=8)
ADDRESS = some.integers(0, 2**64 - 1)
NUMBER = some.integers(0, 2**32 - 1)


@some.composite
def tables(draw):
    """A table of a unit whose indices lead somewhere."""
    files = draw(some.lists(NAME, max_size=4))
    file = some.integers(-1, len(files) - 1)
    places = draw(some.lists(some.tuples(file, NUMBER, NUMBER), max_size=6))
    nodes = []
    for index in range(draw(some.integers(0, 6))):
        outer = draw(some.integers(-1, index - 1))
        row = (draw(NAME), outer, draw(file), draw(NUMBER), draw(NUMBER), draw(ADDRESS))
        nodes.append(row)
    starts = some.lists(ADDRESS, unique=True, max_size=8).map(sorted)
    row_starts, scope_starts = draw(starts), draw(starts)
    return UnitTable(
        ranges=[],
        row_starts=row_starts,
        rows=[draw(some.integers(-1, len(places) - 1)) for _ in row_starts],
        places=places,
        scope_starts=scope_starts,
        scopes=[draw(some.integers(-1, len(nodes) - 1)) for _ in scope_starts],
        nodes=nodes,
        files=files,
    )


@pytest.mark.spec("IDX-6")
@given(tables(), some.lists(ADDRESS, max_size=6))
def test_lines_are_those_of_the_table(table, addresses):
    """A block gives the frames that `frames_at` gives, at every start, around it, and anywhere."""
    block = Lines(unseal(lines_block(table)))
    for start in (*table.row_starts, *table.scope_starts, *addresses):
        for address in {max(0, start - 1), start, min(2**64 - 1, start + 1)}:
            assert block.at(address) == frames_at(table, address)


ANSWER = some.one_of(
    NAME.map(Miss),
    some.builds(
        Found,
        NAME,
        some.just(0),
        value=ADDRESS,
        size=ADDRESS,
        kind=some.sampled_from(KINDS),
        symbol=NAME,
        version=NAME,
        aliases=some.lists(NAME, max_size=3).map(tuple),
        approximate=some.booleans(),
        notes=some.lists(NAME, max_size=2).map(tuple),
    ),
)


@pytest.mark.spec("IDX-6")
@given(some.dictionaries(ADDRESS, ANSWER, min_size=1, max_size=8), some.lists(ADDRESS, max_size=6))
def test_names_are_those_of_the_table(pieces, addresses):
    """From each start on its answer holds, with the offset from its value."""
    ordered = sorted(pieces.items())
    block = Names(unseal(names_block(ordered, thumb=False)))
    for address in (*pieces, *(each for each in addresses if each >= ordered[0][0])):
        want = max((start, answer) for start, answer in _keyed(ordered) if start <= address)[1]
        got = block.at(address)
        if isinstance(pieces[want], Miss):
            assert got.reason == pieces[want].reason
            continue
        for name in Found.__slots__:
            if name != "offset":
                assert getattr(got, name) == getattr(pieces[want], name)
        assert got.offset == address - pieces[want].value


def _keyed(ordered):
    return [(start, start) for start, _ in ordered]
