"""Blocks of `okld.syms.index.blocks`, made of what tables and units say."""

from __future__ import annotations

from okld.syms.answer import Found
from okld.syms.index.blocks import APPROXIMATE, KINDS, MISS, NOWHERE, THUMB
from okld.syms.index.encode import Pool, payload_of, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from okld.syms.answer import Miss
    from okld.syms.dwarf.unit_table import UnitTable

    Row = tuple[int, int, int, int]
    """A function or call, a file, a line and a column, as in a block of lines."""


def names_block(pieces: Iterable[tuple[int, Found | Miss]], *, thumb: bool) -> bytes:
    """
    Return the block of a part of the address space.

    Args:
        pieces: From which address on which answer holds, ascending; at least one.
        thumb: Whether the lowest bit of an address in a function is none of it (EM_ARM).

    Raises:
        OverflowError: If it would be too long, or has numbers that no file has.
    """
    numbers: dict[object, int] = {}
    known: list[Found | Miss] = []
    starts: list[int] = []
    answers: list[int] = []
    for start, answer in pieces:
        number = numbers.setdefault(_key(answer), len(known))
        if number == len(known):
            known.append(answer)
        if not answers or answers[-1] != number:
            starts.append(start)
            answers.append(number)
    base = min([starts[0], *(answer.value for answer in known if isinstance(answer, Found))])
    pool = Pool()
    rows = [_row(answer, base, pool, thumb) for answer in known]
    aliases = _listed([a.aliases if isinstance(a, Found) else () for a in known], pool)
    notes = _listed([a.notes if isinstance(a, Found) else () for a in known], pool)
    columns = [
        [base],
        [start - base for start in starts],
        answers,
        *zip(*rows, strict=True),
        *aliases,
        *notes,
    ]
    return seal(payload_of(columns, pool.strings()))


def lines_block(table: UnitTable) -> bytes:
    """
    Return the block of a unit.

    Raises:
        OverflowError: If it would be too long, or has numbers that no file has.
    """
    pool = Pool()
    files = [pool.index(path) for path in table.files] + [-1]  # files[-1]: there is none
    starts, rows = _merged(table, files)
    base = min([*starts[:1], *(node[5] for node in table.nodes)], default=0)
    inlined = [
        (pool.index(name), outer, files[file], line, column, low - base)
        for name, outer, file, line, column, low in table.nodes
    ]
    columns = [
        [base],
        [start - base for start in starts],
        *zip(NOWHERE, *rows, strict=True),
        *_columns(inlined, 6),
    ]
    return seal(payload_of(columns, pool.strings()))


def _merged(table: UnitTable, files: list[int]) -> tuple[list[int], list[Row]]:
    """Return where another place or another function begins, and what holds from there on."""
    changes = [(start, True, row) for start, row in zip(table.row_starts, table.rows, strict=True)]
    changes += [
        (start, False, node) for start, node in zip(table.scope_starts, table.scopes, strict=True)
    ]
    changes.sort(key=lambda change: change[0])
    found: dict[int, Row] = {}
    node, place = NOWHERE[0], NOWHERE[1:]
    for start, is_row, number in changes:
        if not is_row:
            node = number
        elif number < 0:
            place = NOWHERE[1:]
        else:
            file, line, column = table.places[number]
            place = files[file], line, column
        found[start] = node, *place
    starts: list[int] = []
    rows: list[Row] = []
    before = NOWHERE
    for start, row in found.items():
        if row != before:
            starts.append(start)
            rows.append(row)
            before = row
    return starts, rows


def _key(answer: Found | Miss) -> object:
    """Return what is the same for equal answers, whatever their offset."""
    if not isinstance(answer, Found):
        return answer.reason
    return (
        answer.name,
        answer.symbol,
        answer.version,
        answer.value,
        answer.size,
        answer.kind,
        answer.aliases,
        answer.approximate,
        answer.notes,
    )


def _row(answer: Found | Miss, base: int, pool: Pool, thumb: bool) -> tuple[int, ...]:
    """Return the values of an answer in the columns from `kinds` to `flags`."""
    if not isinstance(answer, Found):
        return MISS, 0, 0, pool.index(answer.reason), 0, 0, 0
    flags = APPROXIMATE if answer.approximate else 0
    if thumb and answer.kind in ("function", "ifunc"):
        flags |= THUMB
    return (
        KINDS.index(answer.kind),
        answer.value - base,
        answer.size,
        pool.index(answer.name),
        pool.index(answer.symbol),
        pool.index(answer.version),
        flags,
    )


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> list[Sequence[int]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _listed(lists: list[tuple[str, ...]], pool: Pool) -> tuple[list[int], list[int]]:
    ends: list[int] = []
    numbers: list[int] = []
    for texts in lists:
        numbers += map(pool.index, texts)
        ends.append(len(numbers))
    return ends, numbers
