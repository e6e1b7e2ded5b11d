"""`okld check FILE...`: the gate, and chapter 5 of SPEC.md."""

from __future__ import annotations

from okld.base.errors import OkError, Unreadable
from okld.cli import render
from okld.iface.open import open as open_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("files", metavar="FILE", nargs="+")


def run(args: Namespace, out: TextIO) -> int:
    """Say of each file whether it would be refused, and by which rule."""
    status = 0
    for path in args.files:
        error = _refusal(path)
        out.write(render.verdict(path, error, as_json=args.json))
        if error:
            status = max(status, 2 if isinstance(error, Unreadable) else 1)
    return status


def _refusal(path: str) -> OkError | None:
    try:
        open_image(path).require_declared()
    except OkError as error:
        return error
    return None
