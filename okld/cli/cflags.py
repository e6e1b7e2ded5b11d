"""`okld cflags`: the options that compile for an image in another build system. Source: SDK-4."""

from __future__ import annotations

from okld.cli import render
from okld.sdk.flags import TARGETS, cflags, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("--target", choices=TARGETS, default=native(), help="its processor")


def run(args: Namespace, out: TextIO) -> int:
    """Write the options, quoted for a shell."""
    out.write(render.words("cflags", cflags(args.target), as_json=args.json))
    return 0
