"""What a look-up gives: the symbol that an address belongs to, or why there is none."""

from __future__ import annotations

from okld.elf.tables import STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.syms.choose import Symbol

KINDS = {STT_FUNC: "function", STT_GNU_IFUNC: "ifunc", STT_OBJECT: "object", STT_NOTYPE: "label"}


class Found:
    """
    The symbol that an address belongs to.

    Attributes:
        name: Its name, without a version.
        offset: Bytes from its first byte to the address.
        value: Its link address.
        size: In bytes; 0: the table does not say.
        kind: "function", "ifunc" (the address is in its resolver), "object" or "label".
        aliases: Names of the equals that were not chosen, in the order of SYM-5: of the first
            MAX_ALIASES, those of at most MAX_ALIAS bytes.
    """

    __slots__ = ("aliases", "kind", "name", "offset", "size", "value")

    def __init__(self, symbol: Symbol, offset: int, aliases: tuple[str, ...]) -> None:
        """Say that an address is *offset* bytes into *symbol*."""
        self.name = symbol.name
        self.offset = offset
        self.value = symbol.value
        self.size = symbol.size
        self.kind = KINDS[symbol.type]
        self.aliases = aliases

    def __repr__(self) -> str:
        """Return what tells answers apart, for people."""
        return f"Found(name={self.name!r}, offset={self.offset:#x})"


class Miss:
    """
    No symbol, and why.

    Attributes:
        name: None, so that answers can be told apart by it.
        reason: One of the reasons of SYM-6.
    """

    __slots__ = ("reason",)
    name = None

    def __init__(self, reason: str) -> None:
        """State the reason."""
        self.reason = reason

    def __repr__(self) -> str:
        """Return the reason, for people."""
        return f"Miss(reason={self.reason!r})"
