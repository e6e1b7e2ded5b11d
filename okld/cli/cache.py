"""`okld cache`: the indexes that are kept of files. Source: IDX-12."""

from __future__ import annotations

import os
import time

from okld.base.errors import OkError, printable
from okld.base.identity import identity_of
from okld.cli import render
from okld.syms.index.collect import Kept, collect, forget, kept
from okld.syms.index.format import Unusable
from okld.syms.index.head import Head
from okld.syms.index.reader import folder_path
from okld.syms.index.store import open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any, TextIO

WHAT = ("dir", "list", "gc", "clear")

EPILOG = """\
dir: say where indexes are kept. list: the last used first: when it was, its bytes, and the file.
gc: forget what is too old, too much, or of a file that is another now. clear: forget everything.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.epilog = EPILOG
    parser.add_argument("what", choices=WHAT, metavar="|".join(WHAT))


def run(args: Namespace, out: TextIO) -> int:
    """Do what is asked with the indexes."""
    path = folder_path()
    if path is None:
        raise OkError("there is no place for a cache (set OKLD_CACHE_DIR, or HOME)")
    if args.what == "dir":
        out.write(render.json_line({"dir": path}) if args.json else f"{path}\n")
        return 0
    try:
        store = open_private(path)
    except FileNotFoundError:
        store = -1
    except (OSError, Unusable) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise OkError(f"{path}: {why}") from None
    try:
        out.write(_done(args.what, store, as_json=args.json))
    finally:
        if store >= 0:
            os.close(store)
    return 0


def _done(what: str, store: int, *, as_json: bool) -> str:
    indexes = kept(store) if store >= 0 else []
    if what == "list":
        rows = [_row(index) for index in indexes]
        return render.json_line({"indexes": rows}) if as_json else "".join(map(_line, rows))
    removed = 0
    if store >= 0:
        names = {index.name for index in indexes if what == "clear" or not _is_there(index)}
        removed = forget(store, names)
        if removed < len(names) and names & {index.name for index in kept(store)}:
            raise OkError("indexes cannot be removed; see whether okld cache dir can be written")
        if what == "gc":
            removed += collect(store, time.time_ns())
    return render.json_line({"forgotten": removed}) if as_json else f"{removed} forgotten\n"


def _line(row: dict[str, Any]) -> str:
    what = f"unusable: {row['unusable']}" if row["file"] is None else printable(row["file"])
    return f"{row['used']}  {row['bytes']:>10}  {what}\n"


def _row(index: Kept) -> dict[str, Any]:
    head = index.head
    return {
        "used": time.strftime("%Y-%m-%d", time.gmtime(index.used // 10**9)),
        "bytes": index.size,
        "file": head.path if isinstance(head, Head) else None,
        "key": head.key if isinstance(head, Head) else None,
        "unusable": None if isinstance(head, Head) else head,
    }


def _is_there(index: Kept) -> bool:
    """Say whether the file of an index, and all others that it is of, are the same still."""
    head = index.head
    if isinstance(head, str):
        return False
    try:
        return identity_of(os.stat(head.path)) == head.identity
    except OSError:
        return False
