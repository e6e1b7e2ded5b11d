"""What a trap asks, what is right, and the table of all traps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from trap_shop import Shop

from okld.syms.options import Options

Place = tuple[str, int | None]


@dataclass(frozen=True)
class Said:
    """
    An answer, whosoever it is.

    Attributes:
        names: Raw names of functions, the innermost first; none: nothing was said.
        offset: Bytes from the symbol's start; None: not told, or not asked for.
        places: (file name without directories, line) of each, as far as they are told.
    """

    names: tuple[str, ...] = ()
    offset: int | None = None
    places: tuple[Place | None, ...] = ()

    def __str__(self) -> str:
        if not self.names:
            return "nothing"
        places = [f" {p[0]}:{p[1] or '?'}" if p else "" for p in self.places]
        places += [""] * (len(self.names) - len(places))
        first, *others = map("".join, zip(self.names, places, strict=False))
        offset = f" (+{self.offset:#x})" if self.offset is not None else ""
        return " < ".join([first + offset, *others])

    def is_right(self, want: Said) -> bool:
        """Say whether this is *want*, as far as *want* goes; an offset need not be told."""
        if self.names[: len(want.names)] != want.names or bool(self.names) != bool(want.names):
            return False
        if want.offset is not None and self.offset not in (None, want.offset):
            return False
        return self.places[: len(want.places)] == want.places


@dataclass(frozen=True)
class Question:
    """
    One address of one file, and what is right.

    Attributes:
        address: Of any kind that `lookup` takes.
        want: The right answer; what is left out of it is not asked for.
        options: How we are asked.
        log: Text for `okld symbolize` with *words*, whose line *row* is to tell of *want*; then
            *address* is only what other tools are asked.
        tools: Whether other tools can be asked the same.
        given: The address as they take it, where that is another number.
        llvm: Further options of llvm-symbolizer.
    """

    path: Path
    address: int
    want: Said
    options: Options = field(default_factory=lambda: Options(debug_dirs=(), cache=False))
    log: str = ""
    row: int = 0
    words: tuple[str, ...] = ()
    tools: bool = True
    given: int | None = None
    llvm: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trap:
    """One row of the table: how its files are built, and what is asked of them."""

    number: int
    title: str
    build: Callable[[Shop], list[Question]]


TRAPS: dict[int, Trap] = {}


def trap(number: int, title: str) -> Callable[..., Callable[[Shop], list[Question]]]:
    """Enter a function that builds a trap's files into the table."""

    def enter(build: Callable[[Shop], list[Question]]) -> Callable[[Shop], list[Question]]:
        assert number not in TRAPS
        TRAPS[number] = Trap(number, title, build)
        return build

    return enter
