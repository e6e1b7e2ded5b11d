"""``okrun cache``: what is remembered of earlier starts. Source: CAC-13, CAC-14."""

from __future__ import annotations

import os
import time

from okld.base.errors import OkError, printable
from okld.base.identity import difference, identity_of
from okld.base.view import View
from okld.bundle.bundle import digests
from okrun.admission.cache import FOLDER, open_folder
from okrun.admission.place import cache_dir
from okrun.admission.record import Miss, Record
from okrun.admission.store import collect, kept, records, remove
from okrun.cli.say import complain, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Answers = Generator[str, None, int]
    """What a command says, piece by piece, and its status at the end."""

LIES, UNUSABLE = 1, 2

HELP = """\
usage: okrun cache dir|list|verify|gc|clear

  dir     say where admissions are remembered
  list    the last used first: when it was, the member, and the bundle's path
  verify  hash again what is remembered, and forget what is no longer so; status 1 if any of it
          would have been run all the same
  gc      forget what is too old, too much, or of a file that is no longer there
  clear   forget everything

status: 0; 1 as verify says; 2 usage, or a cache that cannot be used
"""


def run(words: list[str]) -> int:
    """Run one of the commands, and return its status."""
    if words and words[0] in ("--help", "-h"):
        out(HELP)
        return 0
    if len(words) != 1 or words[0] not in ("dir", *_COMMANDS):
        complain("okrun", "usage: okrun cache dir|list|verify|gc|clear")
        return UNUSABLE
    place = cache_dir()
    if place is None:
        complain("okrun", "there is no place for a cache (set OKRUN_CACHE_DIR, or HOME)")
        return UNUSABLE
    path = f"{place}/{FOLDER}"
    if words[0] == "dir":
        out(f"{path}\n")
        return 0
    try:
        folder = open_folder(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        complain("okrun", f"{printable(path)}: {error.strerror}")
        return UNUSABLE
    except Miss as reason:
        complain("okrun", f"{printable(path)}: {reason}")
        return UNUSABLE
    try:
        return _answer(_COMMANDS[words[0]](folder), printable(path))
    finally:
        os.close(folder)


def _answer(answers: Answers, path: str) -> int:
    """Write what a command says, and return its status; of the cache at *path*."""
    while True:
        try:
            text = next(answers)
        except StopIteration as end:
            return int(end.value or 0)
        except OSError as error:
            complain("okrun", f"{path}: {error.strerror}")
            return UNUSABLE
        out(text)


def _list(folder: int) -> Answers:
    for file, record in records(folder):
        used = time.strftime("%Y-%m-%d", time.gmtime(file.used // 10**9))
        what = f"unusable: {record}"
        if isinstance(record, Record):
            what = f"{printable(record.member)}  {printable(record.path)}"
        yield f"{used}  {what}\n"
    return 0


def _verify(folder: int) -> Answers:
    status = 0
    for file, record in records(folder):
        if not isinstance(record, Record):
            remove(folder, file.name)
            yield f"forgotten: unusable: {record}\n"
            continue
        changed, lies = _compare(record)
        if lies:
            status = LIES
        if changed:
            remove(folder, file.name)
        verdict = f"forgotten: {changed}" if changed else "the same"
        yield f"{printable(record.path)}: {printable(record.member)}: {verdict}\n"
    return status


def _compare(record: Record) -> tuple[str, bool]:
    """Return what is another now, or "", and whether the record would have been used even so."""
    try:
        fd = os.open(record.path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return str(error.strerror), False
    try:
        changed = difference(record.identity, identity_of(os.fstat(fd)))
        if changed:
            return f"its {changed} is another", False
        found = digests(View.of_fd(fd, record.length, record.offset))[0]
    except OkError as error:
        return str(error), True
    finally:
        os.close(fd)
    if found != record.sha256:
        return "its bytes are others, and its identity is not", True
    return "", False


def _gc(folder: int) -> Answers:
    removed = 0
    for file, record in records(folder):
        if not isinstance(record, Record) or not _is_there(record):
            removed += remove(folder, file.name)
    removed += collect(folder, time.time_ns())
    yield f"{removed} forgotten\n"
    return 0


def _is_there(record: Record) -> bool:
    try:
        return not difference(record.identity, identity_of(os.stat(record.path)))
    except OSError:
        return False


def _clear(folder: int) -> Answers:
    removed = sum(remove(folder, file.name) for file in kept(folder))
    yield f"{removed} forgotten\n"
    return 0


_COMMANDS: dict[str, Callable[[int], Answers]] = {
    "list": _list,
    "verify": _verify,
    "gc": _gc,
    "clear": _clear,
}
