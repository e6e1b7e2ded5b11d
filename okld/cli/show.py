"""`okld show FILE`: what any ELF, PE or Mach-O file says of itself. Source: CLI-4."""

from __future__ import annotations

from okld.base.errors import FormatError
from okld.cli import render
from okld.iface.open import read_image
from okld.image.open import open_file, read_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.iface.need import Interfaces
    from okld.image.open import OpenFile


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", metavar="FILE")


def run(args: Namespace, out: TextIO) -> int:
    """Describe the file, and what it declares if it is an ok image."""
    with open_file(args.file) as file:
        program, declared = read_program(file), _declared(file)
    out.write(render.program(program, args.file, declared, as_json=args.json))
    return 0


def _declared(file: OpenFile) -> Interfaces | None:
    try:
        return read_image(file).interfaces
    except FormatError:
        return None
