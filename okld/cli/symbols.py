"""`okld symbols FILE`: the symbol table of an ELF file."""

from __future__ import annotations

from okld.base.errors import printable
from okld.cli import render
from okld.cli.complain import complain
from okld.cli.members import named
from okld.syms.table import Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", metavar="FILE[:MEMBER]")


def run(args: Namespace, out: TextIO) -> int:
    """List the named symbols in the table's order."""
    with named(args.file) as found:
        table = Symbols(found.only().view)
    if table.damage:
        complain(f"{printable(args.file)}: {table.damage}")
    out.writelines(render.symbol_list(table, args.file, as_json=args.json))
    return 0
