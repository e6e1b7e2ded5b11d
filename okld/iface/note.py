"""
An image's declaration: the note with owner `openkal` and type 1.

Source: SPEC chapter 3, which has the layout.
"""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.iface.table import INTERFACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.image.shape import Shape

OWNER = b"openkal"
NOTE_TYPE = 1
STACK_LIMIT = 1 << 30  # bytes; NOTE-3

_FIELDS = (4, 4, 8, 8, 8, 8)  # bytes of each, in order
_SIZE = sum(_FIELDS)
_REVISION = 1


class Note:
    """
    What an image declares.

    Attributes:
        version: The openkal version it needs: major << 32, minor << 16, patch.
        required: Interfaces without which it does not start, a bit each by position.
        optional: Interfaces it can do without, a bit each by position.
        stack: Bytes of stack it wants; 0 for the default.
    """

    __slots__ = ("optional", "required", "stack", "version")

    def __init__(self, version: int, required: int, optional: int, stack: int) -> None:
        """Take the fields as they are; `read_note` checks those of a file."""
        self.version = version
        self.required = required
        self.optional = optional
        self.stack = stack

    def encode(self) -> bytes:
        """Return the whole note, as it lies in a `PT_NOTE` of alignment 4."""
        fields = (_REVISION, 0, self.version, self.required, self.optional, self.stack)
        head = b"".join(word.to_bytes(4, "little") for word in (8, _SIZE, NOTE_TYPE))
        words = zip(fields, _FIELDS, strict=True)
        return head + OWNER + b"\0" + b"".join(f.to_bytes(n, "little") for f, n in words)


def read_note(shape: Shape) -> Note | None:
    """
    Return the declaration of the image, or None where it makes none.

    Raises:
        FormatError: NOTE-1, NOTE-2 or NOTE-3.
    """
    found = None
    for owner, kind, descriptor, at in shape.notes:
        if owner == OWNER and kind == NOTE_TYPE:
            if found is not None:
                raise FormatError("NOTE-1", "openkal note: a second one", at=at)
            found = _decode(descriptor, at)
    return found


def _decode(descriptor: bytes, at: int) -> Note:
    """Return the note of *descriptor*, from the note at byte *at* of the file."""
    size = len(descriptor)
    if size != _SIZE:
        raise FormatError("NOTE-1", "openkal note: size", got=size, limit=_SIZE, at=at)
    fields, place = [], 0
    for width in _FIELDS:
        fields.append(int.from_bytes(descriptor[place : place + width], "little"))
        place += width
    revision, flags, version, required, optional, stack = fields
    if revision != _REVISION:
        raise FormatError("NOTE-1", "openkal note: revision", got=revision, limit=_REVISION, at=at)
    if flags:
        raise FormatError("NOTE-1", "openkal note: flags", got=flags, limit=0, at=at)
    both, either = required & optional, required | optional
    if either >> len(INTERFACES):
        limit = (1 << len(INTERFACES)) - 1
        raise FormatError(
            "NOTE-2", "openkal note: no such interface", got=either, limit=limit, at=at
        )
    if both:
        what = "openkal note: required and optional at once"
        raise FormatError("NOTE-2", what, got=both, at=at)
    if stack > STACK_LIMIT:
        raise FormatError("NOTE-3", "openkal note: stack", got=stack, limit=STACK_LIMIT, at=at)
    return Note(version, required, optional, stack)
