"""Addresses in, lines out: what `okld symbolize` does with one open file. Source: SPEC ADR-n."""

from __future__ import annotations

from okld.base.errors import printable
from okld.base.units import LIMIT, FileOffset, ImageOffset, LinkAddr
from okld.cli import render_answer
from okld.cli.address import named, number, wrong
from okld.cli.complain import complain
from okld.syms.answer import Miss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from okld.syms.answer import Found
    from okld.syms.symbolizer import Symbols

SPACES = {"link": LinkAddr, "image": ImageOffset, "file": FileOffset}
AT_ONCE = 1 << 9  # lines that are written at a time; one with all its callers can have 2 KB
NO_NAME = "no symbol or section of this name"
BEYOND = "outside every segment"


class Answers:
    """Writes answers to addresses of one file."""

    def __init__(
        self,
        table: Symbols,
        module: str,
        out: TextIO,
        demangle: Callable[[str], str],
        *,
        space: str,
        lines: bool,
        inlines: bool,
        as_json: bool,
    ) -> None:
        """
        Write to *out* what *table* knows.

        Args:
            table: The open file.
            module: What it is called in JSON.
            out: Where the answers go.
            demangle: Gives what people read for a raw name, and other names as they are.
            space: What numbers are: a key of SPACES, or "" where their range tells.
            lines: Whether source files and lines are looked for.
            inlines: Whether callers that functions were inlined into are shown.
            as_json: Whether objects are written, not text.
        """
        self._table = table
        self._module = module
        self._out = out
        self._demangle = demangle
        self._text = render_answer.Text(demangle, self._tell, inlines=inlines)
        self._space = SPACES[space] if space else None
        self._lines = lines
        self._as_json = as_json
        self._told: set[str] = set()
        self._has_missed = False

    @property
    def missed(self) -> bool:
        """Whether an address had no name."""
        return self._has_missed or self._text.missed

    def words(self, words: Sequence[str]) -> bool:
        """
        Answer *words*, in order, and say whether all of them, so far, had names.

        Raises:
            OkError: If one is no address; nothing is written then.
        """
        asked = [pair for word in words for pair in self._addresses(word)]
        known = [address for _, address in asked if not isinstance(address, Miss)]
        found = iter(self._table.lookup_many(known, lines=self._lines))
        answers = (each if isinstance(each, Miss) else next(found) for _, each in asked)
        self._write([word for word, _ in asked], answers)
        return not self.missed

    @property
    def is_indexed(self) -> bool:
        """Whether lines of some thousand addresses are told as fast as those of all at once."""
        return self._table.is_indexed and self._lines

    def numbers(self, numbers: Sequence[int]) -> None:
        """Answer *numbers*, in order."""
        typed = self._typed(numbers)
        if self._as_json:
            self._write(map(hex, numbers), self._table.lookup_many(typed, lines=self._lines))
            return
        self._put(self._table.text_many(numbers, typed, self._text, lines=self._lines))

    def _typed(self, numbers: Sequence[int]) -> Iterable[int]:
        """Return *numbers* as the addresses that they are meant to be."""
        return map(self._space, numbers) if self._space else self._table.guess_many(numbers)

    def _addresses(self, word: str) -> list[tuple[str, int | Miss]]:
        """Return every address that *word* can mean, with what it is called in its answer."""
        value = number(word)
        if value is not None:
            return [(f"{value:#x}", each) for each in self._typed((value,))]
        parts = named(word)
        if parts is None:
            raise wrong(word)
        shown = word if self._as_json else printable(word)
        places = self._table.named(*parts)
        return [(shown, p if p < LIMIT else Miss(BEYOND)) for p in places] or [
            (shown, Miss(NO_NAME))
        ]

    def _write(self, words: Iterable[str], found: Iterable[Found | Miss]) -> None:
        line = self._object if self._as_json else self._text.line
        self._put(line(*pair) for pair in zip(words, found, strict=True))

    def _put(self, lines: Iterable[str]) -> None:
        from itertools import islice

        rest = iter(lines)
        while text := "".join(islice(rest, AT_ONCE)):
            self._out.write(text)

    def _object(self, word: str, answer: Found | Miss) -> str:
        if answer.name is None:
            self._has_missed = True
        source = self._table.source
        return render_answer.json_line(word, self._module, source, answer, self._demangle)

    def _tell(self, notes: Iterable[str]) -> None:
        """Say once what was lost on the way."""
        for note in notes:
            if note not in self._told:
                self._told.add(note)
                complain(f"{printable(self._module)}: {note}")
