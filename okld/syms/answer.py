"""What a look-up gives: what an address belongs to, or why that is nothing."""

from __future__ import annotations


class Frame:
    """
    A function that an address belongs to, and where in its source.

    Attributes:
        function: The function's raw name: its linkage name where it has one, else its plain one;
            "" where debug information gives none.
        file: The path of the source file, with the directory it was compiled in; None: unknown.
        line: From 1; None: the compiler made the code for no line (DWARF's line 0), or unknown.
        column: From 1; None: unknown.
        inlined: Whether the function was inlined into the next frame's.
    """

    __slots__ = ("column", "file", "function", "inlined", "line")

    def __init__(
        self,
        function: str,
        file: str | None,
        line: int | None,
        column: int | None,
        *,
        inlined: bool,
    ) -> None:
        """State one frame."""
        self.function = function
        self.file = file
        self.line = line
        self.column = column
        self.inlined = inlined

    def __eq__(self, other: object) -> bool:
        """Say whether both state the same."""
        if not isinstance(other, Frame):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        """Hash what `__eq__` compares."""
        return hash((self.function, self.file, self.line, self.column, self.inlined))

    def __repr__(self) -> str:
        """Return everything, for people."""
        where = f"{self.file}:{self.line}:{self.column}"
        return f"Frame({self.function!r}, {where}{', inlined' if self.inlined else ''})"


class Found:
    """
    What an address belongs to.

    Attributes:
        name: The raw name of the function or object: debug information's for the function that
            covers the address, where there is one, else `symbol`.
        symbol: The symbol's name without its version; "" where only debug information knows.
        version: The symbol's version, or "".
        offset: Bytes from `value` to the address.
        value: The symbol's link address; the function's lowest where there is no symbol.
        size: In bytes; 0: not known.
        kind: "function", "ifunc" (the address is in its resolver), "object", "label" or "plt".
        aliases: Names of the equals that were not chosen, in the order of SYM-5: of the first
            MAX_ALIASES, those of at most MAX_ALIAS bytes.
        frames: Innermost first, the function itself last; empty without debug information.
        approximate: Whether `symbol` is only the nearest below, of a table without sizes.
        notes: What was lost on the way, a line each: a split file that is missing, for example.
    """

    __slots__ = (
        "aliases",
        "approximate",
        "frames",
        "kind",
        "name",
        "notes",
        "offset",
        "size",
        "symbol",
        "value",
        "version",
    )

    def __init__(
        self,
        name: str,
        offset: int,
        *,
        value: int,
        size: int,
        kind: str,
        symbol: str,
        version: str = "",
        aliases: tuple[str, ...] = (),
        frames: tuple[Frame, ...] = (),
        approximate: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        """State an answer."""
        self.name = name
        self.offset = offset
        self.value = value
        self.size = size
        self.kind = kind
        self.symbol = symbol
        self.version = version
        self.aliases = aliases
        self.frames = frames
        self.approximate = approximate
        self.notes = notes

    def __repr__(self) -> str:
        """Return what tells answers apart, for people."""
        return f"Found(name={self.name!r}, offset={self.offset:#x})"


class Miss:
    """
    Nothing, and why.

    Attributes:
        name: None, so that answers can be told apart by it.
        reason: One of the reasons of SYM-6.
        notes: What was lost on the way, as for `Found`.
    """

    __slots__ = ("notes", "reason")
    name = None

    def __init__(self, reason: str, notes: tuple[str, ...] = ()) -> None:
        """State the reason."""
        self.reason = reason
        self.notes = notes

    def __repr__(self) -> str:
        """Return the reason, for people."""
        return f"Miss(reason={self.reason!r})"


def shown_name(found: Found) -> str:
    """
    Return the raw name that stands beside the offset of an answer: the function's, but of a clone,
    of which that is the offset, its symbol's own.
    """
    name, symbol = found.name, found.symbol
    return symbol if symbol != name and _is_clone(symbol, name) else name


def _is_clone(symbol: str, name: str) -> bool:
    """
    Say whether *symbol* is of a clone of the function *name*: that with a dot, and more.

    Constructors and destructors have several symbols, with C1, C2, D0 and so on in them, and GCC
    calls what all are made from C4 and D4; that may be all that debug information has.
    """
    stem = symbol[: len(name)]
    if symbol[len(name) : len(name) + 1] != "." or name[:2] != "_Z":
        return symbol.startswith(f"{name}.")
    other = [at for at in range(len(name)) if name[at] != stem[at]]
    return all(name[at - 1] in "CDI" and (name[at] + stem[at]).isdigit() for at in other)
