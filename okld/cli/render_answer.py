"""What `okld symbolize` writes of an answer, as text and as JSON. Nothing here reads a file."""

from __future__ import annotations

from okld.base.errors import printable
from okld.syms.answer import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from okld.syms.answer import Found, Frame, Miss

    Demangle = Callable[[str], str]

MAX_KEPT = 1 << 15  # names; some 10 MB at most but for the longest
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
_ESCAPES |= {"\f": "\\f"}


class Text:
    """
    Writes answers for people, and keeps how names and paths look: they come again and again.

    Attributes:
        missed: Whether an address had no name.
    """

    def __init__(
        self, demangle: Demangle, tell: Callable[[tuple[str, ...]], None], *, inlines: bool
    ) -> None:
        """
        Begin with nothing kept.

        Args:
            demangle: Gives what people read for a raw name, and every other name as it is.
            tell: Is given the notes of each answer that has some.
            inlines: Whether callers that functions were inlined into are shown.
        """
        self.missed = False
        self._demangle = demangle
        self._tell = tell
        self._inlines = inlines
        self._names: dict[str, str] = {}
        self._paths: dict[str, str] = {}

    def line(self, word: str, found: Found | Miss) -> str:
        """Return the line of an answer to *word*, with one for each caller if those are shown."""
        if found.notes:
            self._tell(found.notes)
        if found.name is None:
            self.missed = True
            return f"{word} ?? ({found.reason})\n"
        head, tail = self.ends(found)
        text = f"{word} {head}+{found.offset:#x}{tail}"
        if found.frames:
            first = found.frames[0]
            text += f" {self._where(first)}{self._chain(found.frames, found.name)}"
        return text + "\n"

    def ends(self, found: Found) -> tuple[str, str]:
        """
        Return what stands before and behind the offset; a clone, of which that is the offset, is
        called by its own name.
        """
        name = shown_name(found)
        tail = " (ifunc resolver)" if found.kind == "ifunc" and name == found.symbol else ""
        return self.name(name), f"{tail} (approximate)" if found.approximate else tail

    def path(self, file: str) -> str:
        """Return the path of a file, of which the line and the column follow."""
        path = self._paths.get(file)
        if path is None:
            if len(self._paths) >= MAX_KEPT:
                self._paths.clear()
            path = self._paths[file] = printable(file)
        return path

    def caller(self, frame: Frame, function: str = "") -> str:
        """
        Return the line of a caller, from the end of the line before on; "" where callers are not
        shown. Debug information may have less of a name than is known of the *function*.
        """
        if not self._inlines:
            return ""
        return f"\n    inlined at {self._where(frame)} in {self.name(function or frame.function)}"

    def _chain(self, frames: tuple[Frame, ...], function: str) -> str:
        """Return what stands behind the place of the innermost of *frames*, those of *function*."""
        if not frames[0].inlined:
            return ""
        last = frames[-1]
        callers = [self.caller(each, function if each is last else "") for each in frames[1:]]
        return f" in {self.name(frames[0].function)}{''.join(callers)}"

    def _where(self, frame: Frame) -> str:
        if frame.file is None:
            return "??"
        column = f":{frame.column}" if frame.column else ""
        return f"{self.path(frame.file)}:{frame.line or '?'}{column}"

    def name(self, raw: str) -> str:
        """Return how a raw name looks."""
        shown = self._names.get(raw)
        if shown is None:
            if len(self._names) >= MAX_KEPT:
                self._names.clear()
            shown = self._demangle(raw)
            if not shown or not shown.isprintable():
                shown = printable(shown) or "??"
            self._names[raw] = shown
        return shown

    def names(self, raws: list[str]) -> list[str]:
        """Return how each of many raw names looks, of which none comes again."""
        shown = [*map(self._demangle, raws)]
        is_plain = all(shown) and "".join(shown).isprintable()
        return shown if is_plain else [*map(self.name, raws)]


def json_line(word: str, module: str, source: str, found: Found | Miss, demangle: Demangle) -> str:
    """Return an answer as one line of JSON of schema 1, ASCII only. Source: CLI-2."""
    head = f'{{"schema": 1, "address": {quoted(word)}, "module": {quoted(module)}, "name": '
    if found.name is None:
        return f'{head}null, "reason": {quoted(found.reason)}, "notes": {_list(found.notes)}}}\n'
    frames = ", ".join([_frame(frame, demangle) for frame in found.frames])
    approximate = "true" if found.approximate else "false"
    return (
        f'{head}{quoted(found.name)}, "offset": {found.offset:d}, "value": {found.value:d}, '
        f'"size": {found.size:d}, "kind": {quoted(found.kind)}, "aliases": {_list(found.aliases)}, '
        f'"symbol": {quoted(found.symbol)}, "version": {_or_null(found.version)}, '
        f'"demangled": {quoted(demangle(found.name))}, "frames": [{frames}], '
        f'"notes": {_list(found.notes)}, "approximate": {approximate}, '
        f'"source": {quoted(source)}}}\n'
    )


def _frame(frame: Frame, demangle: Demangle) -> str:
    name = frame.function
    return (
        f'{{"function": {quoted(name)}, "demangled": {quoted(demangle(name))}, '
        f'"file": {_or_null(frame.file)}, '
        f'"line": {frame.line or "null"}, "column": {frame.column or "null"}, '
        f'"inlined": {"true" if frame.inlined else "false"}}}'
    )


def _or_null(text: str | None) -> str:
    return quoted(text) if text else "null"


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    """Return *text* as a string of JSON, as `json.dumps` does, whose import costs an answer."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join([_escaped(char) for char in text])}"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if " " <= char <= "~":
        return char
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"
