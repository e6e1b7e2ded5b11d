"""The rules of choice: of the symbols of a table, the one that an address belongs to.

Nothing here reads a file or is fast: this is chapter 6 of SPEC.md as it is written, one rule after
the other. Who has many symbols hands in those that can matter.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_GNU_IFUNC = 0, 1, 2, 10
STB_LOCAL, STB_WEAK = 0, 2
SHN_LORESERVE, SHN_XINDEX = 0xFF00, 0xFFFF

TYPES = (STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_NOTYPE)
"""The types that can be an answer, the preferred one first. Source: SYM-2, SYM-5."""


class Symbol:
    """
    One entry of a symbol table.

    Attributes:
        index: Its place in the table, from 0.
        name: Its name without the version; "<corrupt>" where `st_name` leads outside the string
            table.
        version: What follows the first "@" or "@@" of the name in `.symtab`, or "".
        value: Its link address, in bytes; for `STT_TLS` and undefined symbols what `st_value` says.
            On `EM_ARM` the address of a function, without the bit that says Thumb.
        size: In bytes; 0: not known.
        info: `st_info`: type and binding.
        section: `st_shndx`; `SHN_XINDEX` where the index stands in a table of its own.

    Source: System V gABI, chapter 4, "Symbol Table".
    """

    __slots__ = ("index", "info", "name", "section", "size", "value", "version")

    def __init__(
        self,
        *,
        index: int,
        name: str,
        value: int,
        size: int,
        info: int,
        section: int,
        version: str = "",
    ) -> None:
        """Take over the fields of one entry."""
        self.index = index
        self.name = name
        self.version = version
        self.value = value
        self.size = size
        self.info = info
        self.section = section

    @property
    def type(self) -> int:
        """One of `STT_*`."""
        return self.info & 15

    @property
    def binding(self) -> int:
        """One of `STB_*`."""
        return self.info >> 4

    def holds(self, address: int) -> bool:
        """Say whether *address* is one of the symbol's bytes; a size of 0 has none."""
        return self.value <= address < self.value + self.size


def is_mapping(name: str) -> bool:
    """Say whether *name* is a mapping symbol's: `$x`, or `$x.` and more. Source: SYM-2, AAELF64."""
    return name[:1] == "$" and name[1:2] in ("a", "d", "t", "x") and name[2:3] in ("", ".")


def is_placed(section: int) -> bool:
    """Say whether *section* (`st_shndx`) puts a symbol into a section. Source: SYM-2."""
    return 0 < section < SHN_LORESERVE or section == SHN_XINDEX


def may_answer(symbol: Symbol) -> bool:
    """Say whether *symbol* can be an answer at all. Source: SYM-2."""
    named = symbol.name != "" and not is_mapping(symbol.name)
    return named and symbol.type in TYPES and is_placed(symbol.section)


def info_rank(info: int) -> int:
    """Return where symbols of this `st_info` stand among equals, the preferred 0. Source: SYM-5."""
    binding = {STB_LOCAL: 2, STB_WEAK: 1}.get(info >> 4, 0)
    return binding * len(TYPES) + (TYPES.index(info & 15) if info & 15 in TYPES else 0)


INFO_RANKS = bytes(map(info_rank, range(256)))
"""`info_rank` of every value."""


def leading_underscores(name: str) -> int:
    """Return how many underscores *name* begins with."""
    return len(name) - len(name.lstrip("_"))


def rank(symbol: Symbol) -> tuple[int, int, int]:
    """Return the key that sorts equals, the answer first. Source: SYM-5."""
    return INFO_RANKS[symbol.info], leading_underscores(symbol.name), symbol.index


def choose(address: int, symbols: Sequence[Symbol], limit: Callable[[Symbol], int]) -> list[Symbol]:
    """
    Return the symbol that *address* belongs to, and its equals behind it in the order of SYM-5;
    empty: none.

    Args:
        address: A link address.
        symbols: Those of one table, in any order. Left out may be any that do not hold *address*
            and neither have the greatest value up to it nor hold that value.
        limit: Gives the link address up to which a symbol of size 0 may reach, were there no symbol
            after it.
    """
    answers = [symbol for symbol in symbols if may_answer(symbol) and symbol.value <= address]
    holders = [symbol for symbol in answers if symbol.holds(address)]
    if holders:  # SYM-3
        inner = min(holders, key=lambda symbol: (-symbol.value, symbol.size))
        equals = [s for s in holders if (s.value, s.size) == (inner.value, inner.size)]
    else:
        equals = _unsized(address, answers, limit)
    return sorted(equals, key=rank)


def _unsized(address: int, answers: list[Symbol], limit: Callable[[Symbol], int]) -> list[Symbol]:
    """Return the symbols of size 0 that reach *address*. Source: SYM-4."""
    nearest = max((symbol.value for symbol in answers), default=0)
    inside = any(symbol.holds(nearest) for symbol in answers)
    return [
        symbol
        for symbol in answers
        if symbol.value == nearest
        and symbol.size == 0
        and not (inside and symbol.type == STT_NOTYPE)
        and address < limit(symbol)
    ]
