"""`okld interfaces FILE`: declared against used, by an image or by each image of a bundle."""

from __future__ import annotations

from okld.base.errors import OkError, Refusal
from okld.cli import render
from okld.cli.members import named
from okld.iface.open import read_image
from okld.iface.table import INTERFACES
from okld.image.open import Naming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.iface.host import HostProgram
    from okld.iface.open import Image
    from okld.image.open import OpenFile


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="INTERFACE",
        help="show nothing as text, and end with 1 unless each image declares it; may be repeated",
    )
    parser.add_argument(
        "--host",
        nargs="?",
        const="",
        metavar="PATH",
        help="show what the installed host program, or this one, lacks for each image that is of"
        " its processor, and end with 1 where an image cannot run for it",
    )
    parser.add_argument("image", nargs="?", metavar="FILE[:MEMBER]")


def run(args: Namespace, out: TextIO) -> int:
    """Show what each image declares and uses, and what it lacks; say where that is an answer no."""
    for name in args.require:
        if name not in INTERFACES:
            raise OkError(f"no such interface: {name} (there are {' '.join(INTERFACES)})")
    if args.image is None and args.host:  # "--host FILE": the word is no program
        args.image, args.host = args.host, ""
    if args.image is None:
        raise OkError("no file given; see okld interfaces --help")
    host = None
    if args.host is not None:
        from okld.iface.host import ask_host

        host = ask_host(args.host)
    refused: Refusal | None = None
    with Naming(args.image), named(args.image) as named_images:
        images = [_read(file) for file in named_images.images()]
        if host and named_images.bundle and len(images) > 1:
            images = [image for image in images if image.shape.arch == host.arch] or images
        for image in images:
            found = image.interfaces
            if args.json or not args.require:
                out.write(render.interfaces(found, image.path, host, as_json=args.json))
            refused = refused or _refusal(image, args.require, host)
    if refused:
        raise refused
    return 0


def _read(file: OpenFile) -> Image:
    with Naming(file.path):
        return read_image(file)


def _refusal(image: Image, require: list[str], host: HostProgram | None) -> Refusal | None:
    """Return why the answer is no for one image, or None."""
    found = image.interfaces
    missing = [name for name in require if name not in found.required + found.optional]
    if missing:
        return Refusal("", f"{image.path} does not declare {' '.join(missing)}")
    if host is None:
        return None
    from okld.iface.host import require_host

    try:
        require_host(image, host)
    except Refusal as refusal:
        return refusal
    return None
