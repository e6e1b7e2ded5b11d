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
    starts, places, nodes           from where on which place and which function or call holds; -1
    files, lines, columns           of each place
    names, outers, files, lines, columns, lows      of each function or inlined call

Strings are given by their number, with -1 for none; a number that a column does not have by its
place in another is -1 as well. Source: IDX-6.
"""

from __future__ import annotations

from _bisect import bisect_right
from itertools import repeat

from okld.syms.answer import Found, Frame, Miss
from okld.syms.index.format import Unusable, columns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from okld.syms.index.format import Strings

KINDS = ("function", "object", "label", "ifunc", "plt")
ORDINARY = 2  # the last of them of which a line says only the name
MISS = 255
APPROXIMATE, THUMB = 1, 2
"""Flags: as `Found.approximate`; the offset is that of the address without its lowest bit."""

_NAMES, _LINES = 14, 13  # columns


class Names:
    """
    Answers of the symbol table for a part of the address space.

    Attributes:
        size: Bytes of its payload.
        kept, symbols: What `okld.syms.index.bulk` has made of it.
    """

    __slots__ = (
        "_answers",
        "_base",
        "_columns",
        "_made",
        "_starts",
        "_strings",
        "kept",
        "size",
        "symbols",
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
        self.kept: dict[int, Any] = {}
        self.symbols: dict[int, Any] = {}
        self.size = len(payload)

    def at(self, address: int) -> Found | Miss:
        """Return the answer for a link address that the directory has led here, to be kept."""
        number = self._answers[bisect_right(self._starts, address - self._base) - 1]
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.answer(number)
        answer, mask = made
        return copied(answer, address & mask) if isinstance(answer, Found) else answer

    def numbers(self, addresses: list[int]) -> list[int]:
        """Return for link addresses that the directory has led here which answer each has."""
        base, answers = self._base, self._answers
        inside = [address - base for address in addresses]
        return [answers[at - 1] for at in map(bisect_right, repeat(self._starts), inside)]

    def ordinary(self, number: int) -> tuple[str, int] | None:
        """Return what `all_ordinary` gives for one, or None: `answer` says it all."""
        for _, name, value in self.all_ordinary((number,)):
            return name, value
        return None

    def all_ordinary(self, numbers: Iterable[int]) -> Iterator[tuple[int, str, int]]:
        """
        Give, with their names and values, those of *numbers* of which a line tells nothing else: a
        function, an object or a label by its only name, without flags and notes.
        """
        self._strings.decode()
        _, _, _, kinds, values, _, names, symbols, _, flags, _, _, ends, _ = self._columns
        strings, base = self._strings, self._base
        for number in numbers:
            name = names[number]
            if kinds[number] > ORDINARY or flags[number] or name != symbols[number]:
                continue
            if ends[number] == (ends[number - 1] if number else 0):
                yield number, strings[name], base + values[number]

    def is_sized(self, number: int) -> bool:
        """Say whether an answer is a function's of which the size is known."""
        return self._columns[3][number] == 0 and self._columns[5][number] > 0

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
        kept: What `okld.syms.index.bulk` has made of it.
    """

    __slots__ = (
        "_base",
        "_chains",
        "_columns",
        "_nodes",
        "_places",
        "_starts",
        "_strings",
        "kept",
        "size",
    )

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
        self._starts, self._places, self._nodes = columns[1:4]
        self._columns = columns
        self._chains: dict[int, tuple[tuple[Frame, ...], int]] = {}
        self.kept: dict[int, Any] = {}
        self.size = len(payload)

    def at(self, address: int) -> tuple[tuple[Frame, ...], int | None]:
        """
        Return the frames of a link address that the directory has led here, innermost first, and
        the lowest address of the function, as `okld.syms.dwarf.unit_table.frames_at` does.
        """
        at = bisect_right(self._starts, address - self._base) - 1
        place, node = (self._places[at], self._nodes[at]) if at >= 0 else (-1, -1)
        columns, strings = self._columns, self._strings
        path, line, column = None, 0, 0
        if place >= 0:
            file, line, column = columns[4][place], columns[5][place], columns[6][place]
            path = strings[file] if file >= 0 else None
        if node < 0:
            alone = Frame("", path, line or None, column or None, inlined=False)
            return ((alone,) if place >= 0 else ()), None
        outer = columns[8][node]
        name = strings[columns[7][node]]
        first = Frame(name, path, line or None, column or None, inlined=outer >= 0)
        if outer < 0:
            return (first,), self._base + columns[12][node]
        frames, low = self._callers(node)
        return (first, *frames), low

    def numbers(self, addresses: list[int]) -> tuple[list[int], list[int]]:
        """
        Return for link addresses that the directory has led here the number of the place and of
        the function or inlined call that each has; -1 for none.
        """
        base, places, nodes = self._base, self._places, self._nodes
        inside = [address - base for address in addresses]
        found = list(map(bisect_right, repeat(self._starts), inside))
        if min(found, default=1) < 1:
            return [places[at - 1] if at else -1 for at in found], [
                nodes[at - 1] if at else -1 for at in found
            ]
        return [places[at - 1] for at in found], [nodes[at - 1] for at in found]

    @property
    def places(self) -> list[memoryview]:
        """The number of the file's path, the line and the column of each place; -1 or 0: none."""
        return self._columns[4:7]

    def string(self, number: int) -> str:
        """Return the string of a number."""
        return self._strings[number]

    def call(self, node: int) -> tuple[tuple[Frame, ...], int]:
        """
        Return the frames of a function or inlined call, the innermost without its place, and the
        lowest address of the function.
        """
        outer = self._columns[8][node]
        first = Frame(self._strings[self._columns[7][node]], None, None, None, inlined=outer >= 0)
        if outer < 0:
            return (first,), self._base + self._columns[12][node]
        frames, low = self._callers(node)
        return (first, *frames), low

    def _callers(self, node: int) -> tuple[tuple[Frame, ...], int]:
        """Return the frames into which an inlined call went, and the function's lowest address."""
        known = self._chains.get(node)
        if known is not None:
            return known
        names, outers, files, lines, cols, lows = self._columns[7:13]
        frames: list[Frame] = []
        inner = node
        while (outer := outers[inner]) >= 0:
            file, line, column = files[inner], lines[inner], cols[inner]
            path = self._strings[file] if file >= 0 else None
            name = self._strings[names[outer]]
            frames.append(
                Frame(name, path, line or None, column or None, inlined=outers[outer] >= 0)
            )
            if len(frames) > len(outers):
                raise Unusable("calls that are inlined into themselves")
            inner = outer
        known = self._chains[node] = tuple(frames), self._base + lows[inner]
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
