"""`okld ldflags`: the options that link for an image in another build system. Source: SDK-4."""

from __future__ import annotations

from okld.cli import render
from okld.sdk.flags import TARGETS, ldflags, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("--target", choices=TARGETS, default=native(), help="its processor")


def run(args: Namespace, out: TextIO) -> int:
    """Write the options, quoted for a shell."""
    out.write(render.words("ldflags", ldflags(args.target), as_json=args.json))
    return 0
