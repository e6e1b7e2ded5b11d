"""`okld symbolize IMAGE ADDR...`: names for link addresses. Source: SPEC chapter 6."""

from __future__ import annotations

from okld.base.errors import OkError, printable
from okld.cli import render
from okld.cli.complain import complain
from okld.cli.members import named
from okld.syms.answer import Miss
from okld.syms.table import Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

SORT_FROM = 8  # addresses; about as many passes over a table cost what sorting it costs
HEX = frozenset("0123456789abcdefABCDEF")


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("image", metavar="FILE[:MEMBER]", help="an ELF file")
    parser.add_argument(
        "addresses",
        metavar="ADDR",
        nargs="+",
        type=_address,
        help="a link address in hexadecimal, with or without 0x",
    )


def run(args: Namespace, out: TextIO) -> int:
    """Name each address; end with 1 if one has no name."""
    with named(args.image) as image:
        table = Symbols(image.only().view)
    if table.damage:
        complain(f"{printable(args.image)}: {table.damage}")
    few = len(args.addresses) < SORT_FROM
    found = map(table.lookup, args.addresses) if few else table.lookup_many(args.addresses)
    status = 0
    for address, answer in zip(args.addresses, found, strict=True):
        out.write(render.answer(args.image, address, answer, as_json=args.json))
        if isinstance(answer, Miss):
            status = 1
    return status


def _address(word: str) -> int:
    digits = word[2:] if word[:2] in ("0x", "0X") else word
    if not digits or not HEX.issuperset(digits) or len(digits.lstrip("0")) > 16:
        raise OkError(f"no address: {word} (hexadecimal, at most 64 bits)")
    return int(digits, 16)
