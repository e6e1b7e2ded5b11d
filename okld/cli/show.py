"""`okld show FILE`: what a bundle, or any program file, says of itself. Source: CLI-4."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.cli import render
from okld.cli.members import named
from okld.iface.open import read_image
from okld.image.open import Naming, read_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.bundle.bundle import Bundle
    from okld.iface.need import Interfaces
    from okld.image.open import OpenFile


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", metavar="FILE[:MEMBER]")


def run(args: Namespace, out: TextIO) -> int:
    """Describe the file, and what it declares if it is an ok image."""
    with Naming(args.file), named(args.file) as found:
        if found.bundle is not None and found.word == found.file.path:
            out.write(_bundle(found.bundle, args.file, as_json=args.json))
            return 0
        file = found.only()
        program, declared = read_program(file), _declared(file)
    out.write(render.program(program, args.file, declared, as_json=args.json))
    return 0


def _bundle(bundle: Bundle, path: str, *, as_json: bool) -> str:
    from okld.cli import render_bundle

    signed = bundle.signature is not None
    return render_bundle.bundle(bundle.manifest, path, signed, as_json=as_json)


def _declared(file: OpenFile) -> Interfaces | None:
    try:
        return read_image(file).interfaces
    except FormatError:
        return None
