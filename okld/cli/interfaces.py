"""`okld interfaces FILE`: declared against used, by an image or by each image of a bundle."""

from __future__ import annotations

from okld.base.errors import OkError, Refusal
from okld.cli import render
from okld.cli.members import named
from okld.iface.open import read_image
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
        help="show nothing as text, and end with 1 unless each image declares it; may be repeated",
    )
    parser.add_argument("image", metavar="FILE[:MEMBER]")


def run(args: Namespace, out: TextIO) -> int:
    """Show what each image declares and uses; with --require say whether it declares each."""
    for name in args.require:
        if name not in INTERFACES:
            raise OkError(f"no such interface: {name} (there are {' '.join(INTERFACES)})")
    lacking = ""
    with named(args.image) as named_images:
        for file in named_images.images():
            found = read_image(file).interfaces
            if args.json or not args.require:
                out.write(render.interfaces(found, file.path, as_json=args.json))
            missing = [name for name in args.require if name not in found.required + found.optional]
            if missing and not lacking:
                lacking = f"{file.path} does not declare {' '.join(missing)}"
    if lacking:
        raise Refusal("", lacking)
    return 0
