"""`okld interfaces IMAGE`: declared against used."""

from __future__ import annotations

from okld.base.errors import OkError, Refusal
from okld.cli import render
from okld.iface.open import open as open_image
from okld.iface.table import INTERFACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="INTERFACE",
        help="show nothing as text, and end with 1 unless the image declares it; may be repeated",
    )
    parser.add_argument("image", metavar="IMAGE")


def run(args: Namespace, out: TextIO) -> int:
    """Show what the image declares and uses; with --require say whether it declares each."""
    for name in args.require:
        if name not in INTERFACES:
            raise OkError(f"no such interface: {name} (there are {' '.join(INTERFACES)})")
    found = open_image(args.image).interfaces
    if args.json or not args.require:
        out.write(render.interfaces(found, args.image, as_json=args.json))
    missing = [name for name in args.require if name not in found.required + found.optional]
    if missing:
        raise Refusal("", f"{args.image} does not declare {' '.join(missing)}")
    return 0
