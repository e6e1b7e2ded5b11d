"""Line programs: from an address to a file, a line and a column.

Source: DWARF 5, 6.2.5; DWARF 2 to 4, the same section.
"""

from __future__ import annotations

from _bisect import bisect_right
from _struct import Struct

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
from okld.syms.dwarf.leb import PAST_THE_END, RULE, sleb, uleb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.syms.dwarf.line_header import LineHeader

    Row = tuple[int, int, int]
    """Number of the file, line, column; the latter two 0 where there is none."""


NEVER = 1 << 128
"""An address that no row has."""

PART = 1 << 16  # bytes of a program that run from one look at the number of rows to the next
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

    One loop, since each of the millions of opcodes would pay for a call. Where an instruction word
    has more than one operation (VLIW), addresses count operations here: `_bytes` undoes it.
    """
    data, end = header.data, len(header.data)
    base, lengths = header.opcode_base, header.lengths
    unit = header.min_length if header.max_ops <= 1 else 1
    advances, deltas = _special(header, unit)
    half = Struct(header.unit.encoding.order + "H").unpack_from
    address, file, line, column = 0, 1, 1, 0
    starts: list[int] = []
    rows: list[Row] = []
    header.defined.clear()
    holds = header.unit.units.code.holds
    stop = wanted if header.max_ops <= 1 else NEVER
    done = paid = late = 0  # late: opcodes that are only known after all others; they take longer
    spend = header.unit.units.source.spend
    while at < end:
        made = done + len(rows)
        if made > MAX_ROWS:
            raise FormatError("LIN-14", "rows", got=made, limit=MAX_ROWS)
        part = min(end, at + PART)
        spend(part - at + ROW * (made - paid) + late)
        paid, late = made, 0
        while at < part:
            opcode = data[at]
            at += 1
            if opcode >= base:
                address += advances[opcode]
                line += deltas[opcode]
                if address > stop and starts and starts[0] <= stop and holds(starts[0]):
                    yield starts, rows, address
                    return
                starts.append(address)
                rows.append((file, line, column))
            elif opcode == LNS_SET_COLUMN:
                column = data[at]
                at += 1
                if column > 0x7F:
                    column, at = uleb(data, at - 1)
            elif opcode == LNS_ADVANCE_LINE:
                delta = data[at]
                at += 1
                if delta > 0x7F:
                    delta, at = sleb(data, at - 1)
                    line += delta
                else:
                    line += delta if delta < 0x40 else delta - 0x80
            elif opcode == LNS_NEGATE_STMT:
                pass
            elif opcode == LNS_COPY:
                starts.append(address)
                rows.append((file, line, column))
            elif opcode == 0:
                size, at = uleb(data, at)
                kind = data[at] if size else -1
                if kind == LNE_SET_ADDRESS:
                    address = _operand(header, at + 1, size - 1)
                elif kind == LNE_END_SEQUENCE:
                    yield starts, rows, address
                    done += len(rows)
                    address, file, line, column, starts, rows = 0, 1, 1, 0, [], []
                elif kind == LNE_DEFINE_FILE:
                    header.define(at + 1)
                at += size
            elif opcode == LNS_ADVANCE_PC:
                advance, at = uleb(data, at)
                address += advance * unit
            elif opcode == LNS_SET_FILE:
                file, at = uleb(data, at)
            elif opcode == LNS_CONST_ADD_PC:
                address += advances[255]
                late += 1
            elif opcode == LNS_FIXED_ADVANCE_PC:
                (advance,) = half(data, at)
                at += 2
                address = _whole(header, address, advance)
            elif opcode >= LNS_SET_ISA:
                for _ in range(lengths[opcode]):
                    _, at = uleb(data, at)
            else:
                late += 1


def _special(header: LineHeader, unit: int) -> tuple[list[int], list[int]]:
    """Return by special opcode what it adds to the address and to the line."""
    span = header.line_range
    if not span:
        return [0] * 256, [0] * 256
    ordinals = [opcode - header.opcode_base for opcode in range(256)]
    return [n // span * unit for n in ordinals], [header.line_base + n % span for n in ordinals]


def _operand(header: LineHeader, at: int, size: int) -> int:
    if size not in LETTERS:
        raise FormatError(RULE, "size of an address", got=size)
    order = header.unit.encoding.order
    (address,) = Struct(order + LETTERS[size]).unpack_from(header.data, at)
    return int(address) if header.max_ops <= 1 else _operations(header, address)


def _whole(header: LineHeader, address: int, advance: int) -> int:
    """Return the address advanced by bytes, at the first operation of its word."""
    if header.max_ops <= 1:
        return address + advance
    return _operations(header, _bytes(header, address) + advance)


def _operations(header: LineHeader, address: int) -> int:
    return address // max(header.min_length, 1) * header.max_ops


def _bytes(header: LineHeader, operations: int) -> int:
    return operations // header.max_ops * header.min_length
