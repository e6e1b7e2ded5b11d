"""`okld extract FILE.okb[:MEMBER]`: an image of a bundle as a file of its own. Source: OKB-29."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okld.base.output import replacing
from okld.base.view import View
from okld.bundle.bundle import BLOCK, verify_digest
from okld.cli import render_bundle
from okld.cli.members import named
from okld.image.open import Naming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.cli.members import Named


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", metavar="FILE[:MEMBER]")
    parser.add_argument(
        "-o",
        dest="output",
        metavar="PATH",
        help="where to; else beside nothing that is there, FILE[.MEMBER].ok in this directory",
    )


def run(args: Namespace, out: TextIO) -> int:
    """Write the image that is named, once its digest is right; with --json say where it is."""
    with Naming(args.file), named(args.file) as found:
        if found.bundle is None:
            raise OkError(f"{found.file.path} is no bundle of images")
        path = args.output if args.output is not None else _free_path(found)
        image, member = found.only(), found.members[0]
        if os.path.exists(path) and os.path.samefile(path, found.file.fd):
            raise OkError(f"the image cannot take the place of its bundle: {path}")
        with replacing(path, "image") as file:
            for at in range(0, member.length, BLOCK):
                size = min(BLOCK, member.length - at)
                file.write(image.view.window(at, size, "image", "OKB-18"))
            file.flush()
            # Of the copy: whatever changes the bundle meanwhile does not reach it.
            verify_digest(found.bundle, member, copy=View.of_fd(file.fileno(), member.length))
    if args.json:
        out.write(render_bundle.extracted(member, path))
    return 0


def _free_path(found: Named) -> str:
    """Return a path made of the user's words alone, where there is no file yet."""
    stem = os.path.basename(found.file.path).removesuffix(".okb")
    chosen = found.word[len(found.file.path) + 1 :]
    path = f"{stem}.{chosen}.ok" if chosen else f"{stem}.ok"
    if os.path.lexists(path):
        raise OkError(f"{path} is there already; say where to with -o PATH")
    return path
