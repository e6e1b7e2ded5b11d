"""`okld check FILE...`: the gate, and chapter 5 of SPEC.md; of a bundle chapter 14 as well."""

from __future__ import annotations

from okld.base.errors import OkError, Unreadable
from okld.cli import render
from okld.cli.members import named
from okld.iface.open import read_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import TextIO

    from okld.cli.members import Named


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("files", metavar="FILE[:MEMBER]", nargs="+")


def run(args: Namespace, out: TextIO) -> int:
    """Say of each image whether it would be refused, and by which rule."""
    status = 0
    for word in args.files:
        for path, error in _verdicts(word):
            out.write(render.verdict(path, error, as_json=args.json))
            if error:
                status = max(status, 2 if isinstance(error, Unreadable) else 1)
    return status


def _verdicts(word: str) -> Iterator[tuple[str, OkError | None]]:
    """Give each image that *word* names, and why it would be refused, or None."""
    try:
        with named(word) as found:
            if found.bundle is None:
                read_image(found.file).require_declared()
                yield word, None
            else:
                yield from _members(found)
    except OkError as error:
        yield word, error


def _members(found: Named) -> Iterator[tuple[str, OkError | None]]:
    from okld.bundle.bundle import verify_digest
    from okld.bundle.verify import check_image

    assert found.bundle is not None
    for member in found.members:
        refusal = None
        try:
            verify_digest(found.bundle, member)
            check_image(found.bundle, member)
        except OkError as error:
            refusal = error
        yield found.image(member).path, refusal
