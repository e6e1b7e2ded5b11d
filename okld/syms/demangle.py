"""Names for people: C++ of the Itanium ABI, and Rust of both schemes.

This is the one file that knows the demangler, and it is imported when a mangled name is met. It is
written in C++ and trusts its input: a name that is deep enough overflows its stack, and one whose
back references double what they name fills the memory. So a name comes to it in this process only
where its answer is short whatever the name means; other names go to a process of their own.

Source: DEM-1 to DEM-6; the Itanium C++ ABI, "Mangling"; Rust's RFC 2603; decision 11.
"""

from __future__ import annotations

from okld.base.limits import MAX_DEMANGLED, MAX_MANGLED, MAX_MANGLED_HERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXES = ("_Z", "_R", "__Z", "__R", "___Z", "____Z")
"""Mach-O puts an underscore before every name; two more mark what clang makes of blocks."""

RUST = ("_R", "__R")

EXPANSIONS = ("Dp", "sp", "sZ", "fl", "fr", "fL", "fR")
"""What prints something once for every element of a parameter pack."""
STRUCTORS = ("C1", "C2", "C3", "C4", "C5", "CI", "D0", "D1", "D2", "D4", "D5")
"""What prints the name of its class again."""
LOG2_CUBE_ROOT_OF_3 = 0.5284
DIGITS_UPPER = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

HASH = "17h"
ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
"""What stands between dollar signs for the characters that no linker takes."""

_library: tuple[Callable[[str], str | None], Callable[[str], str | None]] | None = None
"""The demanglers for C++ and for Rust, once they are imported."""


def is_mangled(name: str) -> bool:
    """Say whether *name* begins as a mangled one."""
    return name.startswith(PREFIXES)


def demangle(name: str) -> str:
    """
    Return *name* as its author wrote it, with parameters, or as it is where it is no mangled name.

    A clone's suffix is kept, as in ``main() [clone .cold]``, and so is what follows an ``@``.

    Source: DEM-1 to DEM-6.
    """
    if not name.startswith(PREFIXES) or len(name) > MAX_MANGLED:
        return name
    stem, at, rest = name.partition("@")
    text = _legacy(stem) if HASH in stem else ""
    if not text:
        text = demangle_here(stem) if is_short(stem) else _apart(stem)
    return text + at + rest if text else name


def demangle_here(name: str) -> str:
    """Return what the library makes of *name*, in this process, or "" where that is nothing."""
    itanium, rust = _library or _import()
    try:
        if name.startswith("_R"):
            text = rust(name)
        elif name.startswith("__R"):
            text = rust(name[1:])
        else:
            text = itanium(name)
    except ValueError:  # no mangled name, no UTF-8, or a NUL in it
        return ""
    return _with_clones(name, text) if text and text.endswith(")") else text or ""


def is_short(name: str) -> bool:
    """
    Say whether what *name* stands for fits memory and stack, whatever it means.

    Back references are edges of a graph, and a part of the name is printed once for each way that
    leads to it: with n references there are at most 3 ** (n / 3) ways. An expansion prints
    something at most once for each character of the name; a constructor or destructor repeats an
    identifier. All that may be one of these is counted, also inside identifiers.

    Source: DEM-5.
    """
    length, room = len(name), MAX_DEMANGLED.bit_length() - 1
    bits = length.bit_length()
    if length > MAX_MANGLED_HERE:
        return False
    expands = "J" in name and not name.startswith(RUST)
    if not expands and 2 * bits + name.count("_") * LOG2_CUBE_ROOT_OF_3 <= room:
        return True  # even if it were made of constructors and references
    if expands:
        room -= bits * sum(map(name.count, EXPANSIONS))
    repeats = sum(map(name.count, STRUCTORS))
    length *= 1 + repeats
    return length.bit_length() + _references(name) * LOG2_CUBE_ROOT_OF_3 <= room


def _references(name: str) -> int:
    """Return how many back references *name* holds at most: each has its letter and ends in "_"."""
    parts = name.split("_")
    if name.startswith(RUST):
        return sum("B" in part for part in parts)
    tails = (part[len(part.rstrip(DIGITS_UPPER)) :] for part in parts)
    return sum("S" in tail or "T" in tail for tail in tails)


def _apart(name: str) -> str:
    if "\n" in name:  # which ends a question there
        return ""
    from okld.syms.demangle_apart import demangle_apart

    return demangle_apart(name)


def _import() -> tuple[Callable[[str], str | None], Callable[[str], str | None]]:
    global _library
    from pycxxfilt import itanium_demangle, rust_demangle

    _library = itanium_demangle, rust_demangle
    return _library


def _with_clones(name: str, text: str) -> str:
    """Return *text* with the suffix of *name*, which the library puts in brackets, as clones."""
    begin = text.rfind(" (")
    suffix = text[begin + 2 : -1]
    if begin < 0 or suffix[:1] not in (".", "$") or not name.endswith(suffix):
        return text
    return text[:begin] + _clones(suffix)


def _clones(suffix: str) -> str:
    """Return " [clone .isra.0] [clone .cold]" for ".isra.0.cold"."""
    clones: list[str] = []
    for part in suffix.split(".")[1:] if suffix[0] == "." else [suffix]:
        if clones and part.isdecimal():
            clones[-1] += "." + part
        else:
            clones.append("." + part if suffix[0] == "." else part)
    return "".join(f" [clone {clone}]" for clone in clones)


def _legacy(name: str) -> str:
    """
    Return the path that a name of Rust's first scheme stands for, without the hash it ends with; ""
    for any other name.

    Source: DEM-3.
    """
    if "_ZN" not in name[:4] or not name.isascii():
        return ""
    at = name.index("_ZN") + 3
    parts: list[str] = []
    while name[at : at + 1].isdigit():
        digits = len(name[at : at + 8]) - len(name[at : at + 8].lstrip("0123456789"))
        begin = at + digits
        at = begin + int(name[at:begin])
        parts.append(name[begin:at])
    if len(parts) < 2 or name[at : at + 1] != "E" or not _is_hash(parts.pop()):
        return ""
    suffix = name[at + 1 :]
    if suffix[:1] not in ("", ".", "$"):
        return ""
    return "::".join(map(_unescaped, parts)) + (_clones(suffix) if suffix else "")


def _is_hash(part: str) -> bool:
    return len(part) == 17 and part[0] == "h" and not part[1:].strip("0123456789abcdef")


def _unescaped(part: str) -> str:
    """Return one part of a path of the first scheme; what is no escape and follows as it is."""
    pieces = part.removeprefix("_" if part.startswith("_$") else "").split("$")
    text = pieces[0].replace("..", "::")
    for index in range(1, len(pieces), 2):
        char = _escape(pieces[index]) if index + 1 < len(pieces) else ""
        if not char:
            return text + "$" + "$".join(pieces[index:])
        text += char + pieces[index + 1].replace("..", "::")
    return text


def _escape(piece: str) -> str:
    """Return the character that *piece* stands for between dollar signs, or ""."""
    if piece[:1] == "u" and 1 < len(piece) <= 7 and not piece[1:].strip("0123456789abcdef"):
        code = int(piece[1:], 16)
        return chr(code) if code <= 0x10FFFF and chr(code).isprintable() else ""
    return ESCAPES.get(piece, "")
