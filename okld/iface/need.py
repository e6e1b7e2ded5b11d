"""
Declared against used: what an image says that it needs, and what its imports show.

Source: SPEC NOTE-5 and chapter 5.
"""

from __future__ import annotations

from okld.base.errors import Refusal, printable
from okld.iface.note import Note, read_note
from okld.iface.table import interface_of, interfaces_in, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from okld.image.shape import Shape

_UNSTATED_VERSION = (
    0x140000  # what NOTE-5 says of an image without a note; no later version changes it
)


class Interfaces:
    """
    The interfaces of one image.

    What it declares is in order of position; what it uses is in order of the symbol table, an
    interface standing where its first function does.

    Attributes:
        version: The openkal version it needs: major << 32, minor << 16, patch.
        required: Interfaces without which it does not start.
        optional: Interfaces it can do without.
        used: The functions it imports, by interface.
        undeclared: Interfaces it imports functions of and does not declare.
        unknown: Imports that are no function of the surface.
        declared_by: `note`, or `imports` for an image that has none.
        stack: Bytes of stack it wants; 0 for the default.
        required_word: `required`, a bit each by position.
        optional_word: `optional`, a bit each by position.
    """

    __slots__ = (
        "declared_by",
        "optional",
        "optional_word",
        "required",
        "required_word",
        "stack",
        "undeclared",
        "unknown",
        "used",
        "version",
    )

    def __init__(
        self,
        note: Note,
        declared_by: Literal["note", "imports"],
        functions: dict[str, list[str]],
        unknown: tuple[str, ...],
    ) -> None:
        """Compare the declaration with the functions that are imported, by interface."""
        declared = note.required | note.optional
        self.version = note.version
        self.required = interfaces_in(note.required)
        self.optional = interfaces_in(note.optional)
        self.used = {name: tuple(names) for name, names in functions.items()}
        self.undeclared = tuple(i for i in functions if not declared >> position_of(i) & 1)
        self.unknown = unknown
        self.declared_by = declared_by
        self.stack = note.stack
        self.required_word = note.required
        self.optional_word = note.optional


def interfaces_of(shape: Shape) -> Interfaces:
    """
    Return what the image declares and uses; imports alone never make it fail.

    Raises:
        FormatError: NOTE-1, NOTE-2 or NOTE-3.

    Source: SPEC NOTE-5, NEED-3.
    """
    functions: dict[str, list[str]] = {}
    unknown = []
    strong = weak = 0  # interface words
    for imported in shape.imports:
        try:
            interface = interface_of(imported.name)
        except KeyError:
            unknown.append(imported.name)
            continue
        if interface is None:
            continue
        functions.setdefault(interface, []).append(imported.name)
        if imported.weak:
            weak |= 1 << position_of(interface)
        else:
            strong |= 1 << position_of(interface)
    note = read_note(shape)
    if note is not None:
        return Interfaces(note, "note", functions, tuple(unknown))
    implied = Note(_UNSTATED_VERSION, strong, weak & ~strong, 0)
    return Interfaces(implied, "imports", functions, tuple(unknown))


def require_declared(interfaces: Interfaces) -> None:
    """
    Return when every import is on the surface and of an interface that is declared.

    Raises:
        Refusal: NEED-1, naming the first import that is not on the surface; or NEED-2, naming the
            first import of an interface that is not declared, and the interface.
    """
    if interfaces.unknown:
        name = printable(interfaces.unknown[0])
        raise Refusal("NEED-1", f"import {name} is not on the openkal surface")
    if interfaces.undeclared:
        first = interfaces.undeclared[0]
        name = interfaces.used[first][0]
        raise Refusal("NEED-2", f"import {name} is of {first}, which the image does not declare")
