"""Which mangled name is that of a function of which debug information has only the plain one.

Source: the Itanium C++ ABI, 5.1.3 ("Operator Encodings") and 5.1.2 (`<source-name>`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "_Z"
OPERATOR = "operator"


def mangled_of(plain: str, symbols: Sequence[str]) -> str:
    """
    Return the one of *symbols*, the preferred first, that is the mangled name of a function called
    *plain*, without the suffix of a clone; "" where none is.

    A name is part of its mangled name, but an operator's is not: there, only one may be mangled.
    """
    stems = [symbol.partition(".")[0] for symbol in symbols if symbol.startswith(PREFIX)]
    if plain.startswith(OPERATOR) and not plain[len(OPERATOR) :][:1].isidentifier():
        return stems[0] if len(set(stems)) == 1 else ""
    name = plain.partition("<")[0].lstrip("~")
    part = f"{len(name.encode(errors='surrogateescape'))}{name}"
    return next((stem for stem in stems if name and part in stem), "")
