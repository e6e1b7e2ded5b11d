"""Changes to the trust file: a line more, or a name less; other lines stay as they are.

Source: TRU-7, TRU-8.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.bundle.trust import parse_line, parse_trust
from okld.bundle.trust_file import read_trust_file, require_own_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okld.bundle.trust import Entry


def add(path: str, line: str) -> Entry:
    """
    Add a *line* that names a key to the trust file at *path*, which is made where there is none.

    Raises:
        FormatError: TRU-1 or TRU-2, if it is no such line, or the file has one that is wrong.
        Refusal: TRU-7, if the key is there already; TRU-5, if somebody else can change the file.
        Unreadable: If the system does not let it be changed.
    """
    new = parse_line(line)

    def change(data: bytes) -> bytes:
        for entry in parse_trust(data):
            if entry.key.blob == new.key.blob:
                names = ",".join(entry.principals)
                raise Refusal("TRU-7", f"key is there already, on line {entry.line}, for {names}")
        if data and not data.endswith(b"\n"):
            data += b"\n"
        return data + line.encode() + b"\n"

    _change(path, change)
    return new


def remove(path: str, word: str) -> tuple[Entry, ...]:
    """
    Take a principal, or the key with a fingerprint, out of the trust file; return what it was in.

    A line that names others too stays, for them.

    Raises:
        Refusal: TRU-8, if neither is there; TRU-5, as `add`.
        FormatError: As `add`.
        Unreadable: As `add`.
    """
    gone: list[Entry] = []

    def change(data: bytes) -> bytes:
        entries = parse_trust(data)
        lines = data.decode().split("\n")
        for entry in reversed(entries):  # from the end on, numbers stay true
            if entry.key.fingerprint == word:
                left: list[str] = []
            elif word in entry.principals:
                left = [name for name in entry.principals if name != word]
            else:
                continue
            gone.append(entry)
            if any(not name.startswith("!") for name in left):
                lines[entry.line - 1] = _field(left) + _after_names(lines[entry.line - 1])
            else:
                del lines[entry.line - 1]
        if not gone:
            raise Refusal("TRU-8", f"no principal and no fingerprint {word} in {path}")
        return "\n".join(lines).encode()

    _change(path, change)
    return tuple(reversed(gone))


def _after_names(line: str) -> str:
    """Return what follows the first field of a line."""
    text = line.strip(" \t\r")
    if text.startswith('"'):
        return text[1:].partition('"')[2]
    return text[len(text.replace("\t", " ").partition(" ")[0]) :]


def _field(names: list[str]) -> str:
    """Return names as the first field of a line."""
    text = ",".join(names)
    return f'"{text}"' if " " in text or text.startswith("#") else text


def line_of(principal: str, public_key: str) -> str:
    """
    Return the line that makes the key in the text of a public key file that of *principal*.

    Raises:
        FormatError: TRU-1, if the name cannot stand in a line.
    """
    wrong = not principal.isprintable() or principal[:1] == "!" or set(principal) & set('",')
    if wrong or not principal.strip():
        raise FormatError("TRU-1", f"'{principal}' cannot be the name of a principal")
    return f"{_field([principal])} {public_key}"


def _change(path: str, change: Callable[[bytes], bytes]) -> None:
    """Put *change* of a file's bytes in its place, by rename: a reader sees one or the other."""
    directory = os.path.dirname(path) or "."
    try:
        os.makedirs(directory, 0o700, exist_ok=True)
        require_own_directory(directory)
        with _alone(directory):
            data = change(read_trust_file(path))
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise Unreadable("trust file", path, error) from None
    except ValueError:
        raise OkError(f"{path}: no such path") from None


@contextmanager
def _alone(directory: str) -> Iterator[None]:
    """Keep others who change the trust file out, for as long."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _replace(path: str, data: bytes) -> None:
    new = f"{path}.new"
    with suppress(FileNotFoundError):  # what a process left that was killed here
        os.unlink(new)
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise
