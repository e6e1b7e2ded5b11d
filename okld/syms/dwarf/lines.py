"""Line programs: from an address to a file, a line and a column.

Source: DWARF 5, 6.2.5; DWARF 2 to 4, the same section.
"""

from __future__ import annotations

from _bisect import bisect_right
from _operator import length_hint
from _struct import Struct
from itertools import islice

from okld.base.errors import FormatError
from okld.base.limits import MAX_ROWS
from okld.syms.dwarf.codes import (
    LNE_DEFINE_FILE,
    LNE_END_SEQUENCE,
    LNE_SET_ADDRESS,
    LNS_ADVANCE_LINE,
    LNS_ADVANCE_PC,
    LNS_CONST_ADD_PC,
    LNS_COPY,
    LNS_FIXED_ADVANCE_PC,
    LNS_NEGATE_STMT,
    LNS_SET_COLUMN,
    LNS_SET_FILE,
    LNS_SET_ISA,
)
from okld.syms.dwarf.forms import LETTERS
from okld.syms.dwarf.leb import MAX_SHIFT, PAST_THE_END, RULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from okld.syms.dwarf.line_header import LineHeader

    Row = tuple[int, int, int]
    """Number of the file, line, column; the latter two 0 where there is none."""


ENDIAN: dict[str, Literal["little", "big"]] = {"<": "little", ">": "big"}
NEVER = 1 << 128
"""An address that no row has."""

PART = 1 << 16  # opcodes that run from one look at the number of rows to the next
SEQUENCE_END = bytes((0, 1, LNE_END_SEQUENCE))
ROW = 3  # steps of work for a row, beside those for its bytes
SEEN = 8  # steps of work for an opcode that sets an address
SEQUENCE = 20  # steps of work for a sequence, beside those for its bytes
NEAR = 16  # bytes from the end of a sequence to the first address of the next; columns and files


class Sequence:
    """
    Rows for one stretch of addresses.

    Attributes:
        low: The first link address.
        high: The one behind the last.
        starts: Where each row begins, ascending.
        rows: The rows.
    """

    __slots__ = ("high", "low", "rows", "starts")

    def __init__(self, starts: list[int], rows: list[Row], high: int) -> None:
        """State them; the rows in the order of the program."""
        ordered = sorted(starts)
        if ordered != starts:
            rows = [row for _, row in sorted(zip(starts, rows, strict=True), key=lambda r: r[0])]
        self.low = ordered[0]
        self.high = high
        self.starts = ordered
        self.rows = rows


def row_at(header: LineHeader, address: int) -> Row | None:
    """
    Return the row of a link address, by the first sequence that has it, or None.

    Raises:
        FormatError: If the program is not as DWARF has it (LIN-1).
    """
    start = _nearest(header, address) if header.max_ops <= 1 else -1
    for begin in (start, header.start):
        if begin < 0:
            continue
        for sequence in sequences(header, address, begin):
            if sequence.low <= address < sequence.high:
                return sequence.rows[bisect_right(sequence.starts, address) - 1]
            if begin == start:
                break
    return None


def _nearest(header: LineHeader, address: int) -> int:
    """
    Return where the sequence begins that seems to have the address; -1: it cannot be seen.

    Programs have a sequence for each function where each has a section of its own; an address is
    then found by the bytes that set one, close behind those that end a sequence.
    """
    data, size = header.data, header.unit.encoding.address_size
    opcode = bytes((0, size + 1, LNE_SET_ADDRESS))
    number = Struct(header.unit.encoding.order + LETTERS[size]).unpack_from
    nearest, place = -1, -1
    spend = header.unit.units.source.spend
    at = data.find(opcode, header.start)
    while 0 <= at < len(data) - len(opcode) - size:
        (low,) = number(data, at + len(opcode))
        spend(SEEN)
        if nearest < low <= address:
            nearest, place = low, at
        at = data.find(opcode, at + 1)
    end = data.rfind(SEQUENCE_END, max(header.start, place - NEAR), max(place, 0))
    return end + len(SEQUENCE_END) if end >= 0 else -1


def sequences(header: LineHeader, wanted: int = NEVER, start: int = -1) -> Iterator[Sequence]:
    """
    Yield the sequences of a program in its order, without those of code the linker dropped.

    They begin with the one at the position *start* of the program, of which -1 is the first.

    The one that has the address *wanted* is the last, and ends behind the row of that address.

    Raises:
        FormatError: If the program is not as DWARF has it (LIN-1).
    """
    holds = header.unit.units.code.holds
    limit = header.unit.encoding.address_limit
    spend = header.unit.units.source.spend
    try:
        for starts, rows, high in _run(header, wanted, max(start, header.start)):
            spend(SEQUENCE)
            if header.max_ops > 1:
                starts = [_bytes(header, start) for start in starts]
                high = _bytes(header, high)
            if starts and holds(min(starts)) and min(starts) < high <= limit:
                yield Sequence(starts, rows, high)
    except PAST_THE_END:
        raise FormatError(RULE, "a line program is cut") from None


def _run(header: LineHeader, wanted: int, at: int) -> Iterator[tuple[list[int], list[Row], int]]:
    """
    Run the program; yield for each sequence where rows begin, the rows, and the end.

    One loop over an iterator, since each of the millions of opcodes would pay for a call and for a
    position. Where an instruction word has more than one operation (VLIW), addresses count
    operations here: `_bytes` undoes it.
    """
    code = iter(header.data[at:])
    endian = ENDIAN[header.unit.encoding.order]
    base, lengths = header.opcode_base, header.lengths
    unit = header.min_length if header.max_ops <= 1 else 1
    advances, deltas = _special(header, unit)
    address, file, line, column = 0, 1, 1, 0
    starts: list[int] = []
    rows: list[Row] = []
    header.defined.clear()
    holds = header.unit.units.code.holds
    stop = wanted if header.max_ops <= 1 else NEVER
    done = paid = late = 0  # late: opcodes that are only known after all others; they take longer
    left = length_hint(code)
    try:
        while left:
            for opcode in islice(code, PART):
                if opcode >= base:
                    address += advances[opcode]
                    line += deltas[opcode]
                    if address > stop and starts and starts[0] <= stop and holds(starts[0]):
                        _left(header, code, left, ROW * (len(rows) - paid) + late)
                        yield starts, rows, address
                        return
                    starts.append(address)
                    rows.append((file, line, column))
                elif opcode == LNS_SET_COLUMN:
                    column = next(code)
                    if column > 0x7F:
                        column = _longer(code, column, next(code))
                elif opcode == LNS_ADVANCE_LINE:
                    delta = next(code)
                    if delta < 0x80:
                        line += delta if delta < 0x40 else delta - 0x80
                    else:
                        more = next(code)
                        if more < 0x40:
                            line += (more << 7) + delta - 0x80
                        else:
                            line += _longer(code, delta, more, signed=True)
                elif opcode == LNS_COPY:
                    starts.append(address)
                    rows.append((file, line, column))
                elif opcode == LNS_NEGATE_STMT:
                    pass
                elif opcode == LNS_SET_FILE:
                    file = next(code)
                    if file > 0x7F:
                        file = _longer(code, file, next(code))
                elif opcode == 0:
                    size = next(code)
                    if size > 0x7F:
                        size = _longer(code, size, next(code))
                    kind = next(code) if size else -1
                    if kind == LNE_END_SEQUENCE:
                        left = _left(header, code, left, ROW * (len(rows) - paid) + late)
                        yield starts, rows, address
                        done += len(rows)
                        paid = late = 0
                        address, file, line, column, starts, rows = 0, 1, 1, 0, [], []
                    elif kind == LNE_DEFINE_FILE:
                        header.define(len(header.data) - length_hint(code))
                    operand = bytes(islice(code, size - 1)) if size > 1 else b""
                    if kind == LNE_SET_ADDRESS:
                        address = _operand(header, operand)
                elif opcode == LNS_ADVANCE_PC:
                    advance = next(code)
                    if advance > 0x7F:
                        advance = _longer(code, advance, next(code))
                    address += advance * unit
                elif opcode == LNS_CONST_ADD_PC:
                    address += advances[255]
                    late += 1
                elif opcode == LNS_FIXED_ADVANCE_PC:
                    advance = int.from_bytes(bytes((next(code), next(code))), endian)
                    address = _whole(header, address, advance)
                elif opcode >= LNS_SET_ISA:
                    for _ in range(lengths[opcode]):
                        byte = next(code)
                        if byte > 0x7F:
                            _longer(code, byte, next(code))
                else:
                    late += 1
            if done + len(rows) > MAX_ROWS:
                raise FormatError("LIN-14", "rows", got=done + len(rows), limit=MAX_ROWS)
            left = _left(header, code, left, ROW * (len(rows) - paid) + late)
            paid, late = len(rows), 0
    except StopIteration:  # none of a generator's own may leave it
        raise IndexError from None


def _left(header: LineHeader, code: Iterator[int], left: int, more: int) -> int:
    """Take steps of work for what was read since *left* bytes were left, and *more*."""
    now = length_hint(code)
    header.unit.units.source.spend(left - now + more)
    return now


def _longer(code: Iterator[int], first: int, byte: int, *, signed: bool = False) -> int:
    """
    Return the LEB128 number of two bytes or more, whose others are next in *code*.

    Raises:
        FormatError: If it takes more than ten bytes (LIN-1).
    """
    value, shift = first & 0x7F | (byte & 0x7F) << 7, 14
    while byte > 0x7F:
        if shift >= MAX_SHIFT:
            raise FormatError(RULE, "a LEB128 number does not end")
        byte = next(code)
        value |= (byte & 0x7F) << shift
        shift += 7
    return value - (1 << shift) if signed and byte & 0x40 else value


def _special(header: LineHeader, unit: int) -> tuple[list[int], list[int]]:
    """Return by special opcode what it adds to the address and to the line."""
    span = header.line_range
    if not span:
        return [0] * 256, [0] * 256
    ordinals = [opcode - header.opcode_base for opcode in range(256)]
    return [n // span * unit for n in ordinals], [header.line_base + n % span for n in ordinals]


def _operand(header: LineHeader, operand: bytes) -> int:
    if len(operand) not in LETTERS:
        raise FormatError(RULE, "size of an address", got=len(operand))
    address = int.from_bytes(operand, ENDIAN[header.unit.encoding.order])
    return address if header.max_ops <= 1 else _operations(header, address)


def _whole(header: LineHeader, address: int, advance: int) -> int:
    """Return the address advanced by bytes, at the first operation of its word."""
    if header.max_ops <= 1:
        return address + advance
    return _operations(header, _bytes(header, address) + advance)


def _operations(header: LineHeader, address: int) -> int:
    return address // max(header.min_length, 1) * header.max_ops


def _bytes(header: LineHeader, operations: int) -> int:
    return operations // header.max_ops * header.min_length
