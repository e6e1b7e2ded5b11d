"""Opening a regular file to look at, once and read only; and saying what it is."""

from __future__ import annotations

import errno
import os
import stat

from okld.base.errors import FormatError, Unreadable
from okld.base.limits import MAX_SHOWN
from okld.base.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from okld.base.errors import OkError
    from okld.image.model import ProgramFile

MACHO_MAGICS = tuple(
    bytes.fromhex(magic)
    for magic in ("feedface", "cefaedfe", "feedfacf", "cffaedfe", "cafebabe", "cafebabf")
)


class OpenFile:
    """
    A regular file, open for reading; a context manager that closes it.

    Attributes:
        path: Where it was found, as given; bytes that are not UTF-8 as surrogates.
        fd: The open descriptor.
        status: What the system said of the file when it was opened; None for a part of a file.
        view: Its bytes, from the first to the last that it had when it was opened.
    """

    __slots__ = ("fd", "path", "status", "view")

    def __init__(
        self,
        path: str,
        fd: int,
        size: int,
        offset: int = 0,
        status: os.stat_result | None = None,
    ) -> None:
        """Take over *fd*, an open file, of which *size* bytes from *offset* on are meant."""
        self.path = path
        self.fd = fd
        self.status = status
        self.view = View.of_fd(fd, size, offset)

    def __enter__(self) -> OpenFile:
        """Return the file itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it."""
        os.close(self.fd)


class Naming:
    """
    A context manager: a FormatError that passes gets the name of the file that it is of.

    One that has been through another such, further inside, has one already.
    """

    __slots__ = ("_kinds", "_path")

    def __init__(self, path: str, *others: type[OkError]) -> None:
        """State the path of the file, and which *others* do not name it."""
        self._path = path
        self._kinds: tuple[type[OkError], ...] = (FormatError, *others)

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Name the file."""
        if isinstance(error, self._kinds) and not error.file:
            error.file = self._path


def open_file(path: str | bytes | os.PathLike[str]) -> OpenFile:
    """
    Open *path* without waiting: a FIFO or a device is refused, not read.

    Raises:
        Unreadable: If there is no such file, it is not a regular one, or the system refuses.
    """
    name = os.fsdecode(path)
    try:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise Unreadable("cannot open", name, error) from None
    except ValueError:
        no_nul = OSError(errno.EINVAL, "a path holds no NUL")
        raise Unreadable("cannot open", name, no_nul) from None
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
    except OSError as error:
        os.close(fd)
        raise Unreadable("cannot read", name, error) from None
    return OpenFile(name, fd, status.st_size, status=status)


def foreign_kind(file: OpenFile) -> str:
    """Return "PE" or "Mach-O" where an open file begins as one does, else ""."""
    magic = bytes(file.view.window(0, min(4, file.view.size), "magic", "OBJ-1"))
    return "Mach-O" if magic in MACHO_MAGICS else "PE" if magic[:2] == b"MZ" else ""


def describe(path: str | bytes | os.PathLike[str]) -> ProgramFile:
    """
    Return what the ELF, PE or Mach-O file at *path* says of itself.

    Raises:
        FormatError: If it is none of them (CLI-4).
        Unreadable: If it cannot be opened or read.
    """
    with open_file(path) as file:
        return read_program(file)


def read_program(file: OpenFile) -> ProgramFile:
    """
    Return what an open ELF, PE or Mach-O file says of itself.

    Raises:
        FormatError: If it is none of them, or has more than MAX_SHOWN bytes (CLI-4).
        Unreadable: If the system refuses to read it.
    """
    if file.view.size > MAX_SHOWN:
        raise FormatError("CLI-4", "length of the file", got=file.view.size, limit=MAX_SHOWN)
    magic = bytes(file.view.window(0, min(4, file.view.size), "magic", "CLI-4"))
    if magic == b"\x7fELF":
        from okld.image.full_elf import read_elf as read
    elif magic[:2] == b"MZ":
        from okld.image.full_pe import read_pe as read
    elif magic in MACHO_MAGICS:
        from okld.image.full_macho import read_macho as read
    else:
        raise FormatError("CLI-4", "no ELF, PE or Mach-O file", got=magic.hex() or "nothing", at=0)
    return read(file)
