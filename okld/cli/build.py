"""`okld build SOURCE... -o IMAGE`: makes an image, and checks it. Source: SDK-1, SDK-2."""

from __future__ import annotations

from okld.cli import render
from okld.sdk.build import build
from okld.sdk.flags import TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

WITH_VALUE = ("-I", "-D", "-U")


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes; other options are for the compiler."""
    parser.epilog = (
        "Other options are handed to the compiler, such as -O2, -g, -flto or -Wl,...; "
        "those with a word are joined to it: -isystemDIR, -MFFILE."
    )
    parser.set_defaults(options=[])
    kinds = "C, C++, assembler, objects, archives"
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help=kinds)
    parser.add_argument("-o", dest="output", metavar="IMAGE", required=True)
    parser.add_argument("--target", choices=TARGETS, help="its processor; else this machine's")
    parser.add_argument("--cc", metavar="COMMAND", help="the compiler; else CC, else what is found")
    for option in WITH_VALUE:
        parser.add_argument(option, dest=option, action="append", default=[], metavar="WORD")


def run(args: Namespace, out: TextIO) -> int:
    """Build the image; with --json say what it declares and uses."""
    valued = [option + word for option in WITH_VALUE for word in getattr(args, option)]
    made = build(
        args.sources,
        args.output,
        target=args.target,
        cc=args.cc,
        options=[*valued, *args.options],
    )
    if args.json:
        out.write(render.interfaces(made, args.output, as_json=True))
    return 0
