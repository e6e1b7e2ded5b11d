"""
What is in a block: answers of the symbol table, or the lines and functions of a unit.

Of names, the columns are::

    base                            one number, to which `starts` and `values` are added
    starts, answers                 from where on which answer holds
    kinds                           of each answer: its place in KINDS; MISS: there is only a reason
    values, sizes, names, symbols, versions, flags
    alias ends, aliases, note ends, notes

Of lines::

    base                            to which `starts` and `lows` are added
    starts                          where the second row begins to hold, the third, and so on
    nodes, files, lines, columns    of each row: the function or inlined call, and the place
    names, outers, files, lines, columns, lows      of each function or inlined call

The first row, NOWHERE, holds for all before. Strings, functions and calls are given by their
number, with -1 for none; a file is NO_PLACE where there is not even a line. Source: IDX-6.
"""

from __future__ import annotations

from _bisect import bisect_left, bisect_right

from okld.syms.answer import Found, Frame, Miss
from okld.syms.index.format import Unusable, columns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okld.syms.index.format import Strings
    from okld.syms.index.unit_texts import UnitTexts

KINDS = ("function", "object", "label", "ifunc", "plt")
ORDINARY = 2  # the last of them of which a line says only the name
MISS = 255
APPROXIMATE, THUMB = 1, 2
"""Flags: as `Found.approximate`; the offset is that of the address without its lowest bit."""

NO_PLACE = -2
NOWHERE = -1, NO_PLACE, 0, 0
"""The row of addresses without a place and a function."""

_NAMES, _LINES = 14, 12  # columns


class Names:
    """
    Answers of the symbol table for a part of the address space.

    Attributes:
        size: Bytes of its payload.
    """

    __slots__ = (
        "_answers",
        "_base",
        "_columns",
        "_is_plain",
        "_made",
        "_starts",
        "_strings",
        "size",
    )

    def __init__(self, payload: memoryview) -> None:
        """
        Take the payload of a block.

        Raises:
            Unusable: If it is malformed.
        """
        columns, self._strings = columns_of(payload)
        if len(columns) != _NAMES or len(columns[0]) != 1 or len(columns[1]) != len(columns[2]):
            raise Unusable("a block of names is malformed")
        self._base = columns[0][0]
        self._starts, self._answers = columns[1:3]
        self._columns = columns
        self._made: dict[int, tuple[Found | Miss, int]] = {}
        self._is_plain: bool | None = None
        self.size = len(payload)

    def at(self, address: int) -> Found | Miss:
        """Return the answer for a link address that the directory has led here, to be kept."""
        number = self._answers[bisect_right(self._starts, address - self._base) - 1]
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.answer(number)
        answer, mask = made
        return copied(answer, address & mask) if isinstance(answer, Found) else answer

    def pieces(self, low: int, high: int) -> tuple[int, list[int]]:
        """
        Return the number of the piece that has the link address *low*, and where each that follows
        begins, up to *high*.
        """
        base, starts = self._base, self._starts
        first, last = bisect_right(starts, low - base), bisect_left(starts, high - base)
        return first - 1, [base + start for start in starts[first:last]]

    def number(self, piece: int) -> int:
        """Return the number of a piece's answer."""
        return self._answers[piece]

    def ordinary(self, pieces: Sequence[int]) -> tuple[list[str], list[int]]:
        """
        Return of each of *pieces* the name and the value.

        The name is "" where a line tells more: of what is no function, object or label by its only
        name, or has flags or notes.
        """
        base = self._base
        _, _, _, kinds, values, _, names, symbols, _, flags, _, _, ends, notes = self._columns
        if self._is_plain is None:
            self._strings.decode()
            self._is_plain = bytes(names) == bytes(symbols) and not notes and not any(flags)
        numbers = [self._answers[piece] for piece in pieces]
        told = self._strings.several([names[number] for number in numbers])
        if not self._is_plain or max([kinds[number] for number in numbers]) > ORDINARY:
            for at, number in enumerate(numbers):
                is_other = kinds[number] > ORDINARY or names[number] != symbols[number]
                if is_other or flags[number] or ends[number] > (ends[number - 1] if number else 0):
                    told[at] = ""
        return told, [base + values[number] for number in numbers]

    def is_function(self, piece: int) -> bool:
        """Say whether a piece is a function of a known size."""
        number = self._answers[piece]
        return not self._columns[3][number] and self._columns[5][number] > 0

    def answer(self, number: int) -> tuple[Found | Miss, int]:
        """Return one of the answers, made anew, and which bits of an address count for it."""
        columns, strings = self._columns, self._strings
        if columns[3][number] == MISS:
            return Miss(strings[columns[6][number]]), -1
        flags = columns[9][number]
        answer = Found(
            strings[columns[6][number]],
            0,
            value=self._base + columns[4][number],
            size=columns[5][number],
            kind=KINDS[columns[3][number]],
            symbol=strings[columns[7][number]],
            version=strings[columns[8][number]],
            aliases=_listed(strings, columns[10], columns[11], number),
            approximate=bool(flags & APPROXIMATE),
            notes=_listed(strings, columns[12], columns[13], number),
        )
        return answer, ~1 if flags & THUMB else -1


class Lines:
    """
    What a unit says of its addresses.

    Attributes:
        size: Bytes of its payload.
        texts: What `okld.syms.index.bulk` has made of it.
    """

    __slots__ = ("_base", "_chains", "_columns", "_starts", "_strings", "size", "texts")

    def __init__(self, payload: memoryview) -> None:
        """
        Take the payload of a block.

        Raises:
            Unusable: If it is malformed.
        """
        columns, self._strings = columns_of(payload)
        if len(columns) != _LINES or len(columns[0]) != 1:
            raise Unusable("a block of lines is malformed")
        self._base = columns[0][0]
        self._starts = columns[1]
        self._columns = columns
        self._chains: dict[int, tuple[tuple[Frame, ...], int]] = {}
        self.texts: UnitTexts | None = None
        self.size = len(payload)

    def at(self, address: int) -> tuple[tuple[Frame, ...], int | None]:
        """
        Return the frames of a link address that the directory has led here, innermost first, and
        the lowest address of the function, as `okld.syms.dwarf.unit_table.frames_at` does.
        """
        at = bisect_right(self._starts, address - self._base)
        node, file, line, column = [rows[at] for rows in self._columns[2:6]]
        strings = self._strings
        path = strings[file] if file >= 0 else None
        if node < 0:
            alone = Frame("", path, line or None, column or None, inlined=False)
            return ((alone,) if file != NO_PLACE else ()), None
        name, outer = strings[self._columns[6][node]], self.outers[node]
        first = Frame(name, path, line or None, column or None, inlined=outer >= 0)
        frames, low = self._callers(node) if outer >= 0 else ((), self.low(node))
        return (first, *frames), low

    @property
    def steps(self) -> tuple[int, memoryview, list[memoryview]]:
        """The base, where another row begins to hold, and the columns of the rows."""
        return self._base, self._starts, self._columns[2:6]

    @property
    def strings(self) -> Strings:
        """The unit's strings, by number."""
        return self._strings

    @property
    def outers(self) -> memoryview:
        """For each function or inlined call the number of the one it is inlined into, or -1."""
        return self._columns[7]

    def name(self, node: int) -> str:
        """Return the raw name of a function or inlined call."""
        return self._strings[self._columns[6][node]]

    def low(self, node: int) -> int:
        """Return the lowest address of a function."""
        return self._base + self._columns[11][node]

    def caller(self, node: int) -> Frame:
        """Return the frame that an inlined call went into."""
        names, outers, files, lines, columns, _ = self._columns[6:]
        file, line, column, outer = files[node], lines[node], columns[node], outers[node]
        return Frame(
            self._strings[names[outer]],
            self._strings[file] if file >= 0 else None,
            line or None,
            column or None,
            inlined=outers[outer] >= 0,
        )

    def _callers(self, node: int) -> tuple[tuple[Frame, ...], int]:
        """Return the frames into which an inlined call went, and the function's lowest address."""
        known = self._chains.get(node)
        if known is not None:
            return known
        outers = self.outers
        frames: list[Frame] = []
        inner = node
        while (outer := outers[inner]) >= 0:
            if len(frames) > len(outers):
                raise Unusable("calls that are inlined into themselves")
            frames.append(self.caller(inner))
            inner = outer
        known = self._chains[node] = tuple(frames), self.low(inner)
        return known


def copied(answer: Found, address: int) -> Found:
    """Return *answer* for another address of the same symbol."""
    new: Callable[[type[Found]], Found] = object.__new__  # __init__ costs three times as much
    other = new(Found)
    other.name = answer.name
    other.symbol = answer.symbol
    other.version = answer.version
    other.value = value = answer.value
    other.offset = address - value
    other.size = answer.size
    other.kind = answer.kind
    other.aliases = answer.aliases
    other.frames = answer.frames
    other.approximate = answer.approximate
    other.notes = answer.notes
    return other


def _listed(strings: Strings, ends: memoryview, numbers: memoryview, at: int) -> tuple[str, ...]:
    if not numbers:
        return ()
    start = ends[at - 1] if at else 0
    return tuple(strings[number] for number in numbers[start : ends[at]])
