"""`okld.open`: an image, checked, with what it declares."""

from __future__ import annotations

from okld.iface.need import interfaces_of, require_declared
from okld.image.open import open_file
from okld.image.shape import read_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from okld.iface.need import Interfaces
    from okld.image.open import OpenFile
    from okld.image.shape import Shape


class Image:
    """
    An ok image that the gate has let through.

    Attributes:
        path: Where it was found, as given.
        shape: What its headers and tables say. Source: SPEC chapter 2.
        interfaces: What it declares and uses. Source: SPEC chapters 3 and 5.
    """

    __slots__ = ("interfaces", "path", "shape")

    def __init__(self, path: str, shape: Shape, interfaces: Interfaces) -> None:
        """Put together what was read from one file."""
        self.path = path
        self.shape = shape
        self.interfaces = interfaces

    def require_declared(self) -> None:
        """
        Return when every import is on the surface and of an interface that is declared.

        Raises:
            Refusal: NEED-1 or NEED-2.
        """
        require_declared(self.interfaces)


def open(path: str | bytes | os.PathLike[str]) -> Image:
    """
    Check the image at *path* and return what it says.

    Raises:
        FormatError: If it is no ok image, with the rule of SPEC chapter 2 or 3 that it breaks.
        Unreadable: If it cannot be opened or read.
    """
    with open_file(path) as file:
        return read_image(file)


def read_image(file: OpenFile) -> Image:
    """
    Check the image in an open file and return what it says.

    Raises:
        FormatError: If it is no ok image, with the rule of SPEC chapter 2 or 3 that it breaks.
        Unreadable: If the system refuses to read it.
    """
    shape = read_shape(file.view)
    return Image(file.path, shape, interfaces_of(shape))
