"""`okld symbols FILE`: the symbols of a program file; with --index, all that answers need.

Source: IDX-11.
"""

from __future__ import annotations

from okld.base.errors import OkError, Refusal, printable
from okld.cli import quick, render
from okld.cli.complain import complain
from okld.cli.members import named
from okld.cli.values import require
from okld.image.open import Naming, foreign_kind
from okld.syms.options import DEBUG_DIRS, Options
from okld.syms.symbolizer import Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

    from okld.cli.quick import Option
    from okld.image.open import OpenFile

OPTIONS: tuple[Option, ...] = (
    ("--index", "index", True, "", False, "build the whole index of the file, on every processor"),
    ("--debug-dir", "debug_dirs", None, "DIR", [], "where debug files are (/usr/lib/debug)"),
    ("--sysroot", "sysroot", None, "DIR", None, "where absolute paths begin"),
    ("--debuginfod", "debuginfod", None, "URL", [], "a server to ask for debug files"),
    ("--no-external-debug", "external", False, "", True, "read no other file than FILE"),
)

EPILOG = """\
The index is kept in the user's cache, for `okld symbolize` with the same options; see okld cache.
Without --index no other file than FILE is read.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.epilog = EPILOG
    parser.add_argument("file", metavar="FILE[:MEMBER]")
    quick.declare(parser, OPTIONS)


def run(args: Namespace, out: TextIO) -> int:
    """List the named symbols in the table's order, or build the index."""
    require(args)
    with Naming(args.file), named(args.file) as found:
        if args.index:
            if found.bundle is not None:
                raise OkError(f"{args.file} is a bundle: an index is of an image in its own file")
            return _index(found.only(), args, out)
        options = Options(external=False, cache=False)
        with Symbols(found.only(), options=options, keep_open=True) as symbols:
            if symbols.damage:
                complain(f"{printable(args.file)}: {symbols.damage}")
            out.writelines(render.symbol_list(symbols.table(), args.file, as_json=args.json))
    return 0


def _index(file: OpenFile, args: Namespace, out: TextIO) -> int:
    """Build the index, and say how large it is."""
    from okld.base.progress import Bar
    from okld.syms.elf_sources import ElfSources
    from okld.syms.index.build import Failed, build

    options = Options(
        debug_dirs=tuple(args.debug_dirs) or DEBUG_DIRS,
        sysroot=args.sysroot or "",
        debuginfod=tuple(args.debuginfod),
        external=args.external,
    )
    kind = foreign_kind(file)
    if kind:
        what = f"it is a {kind} file, and an index is of ELF files alone: others are read each time"
        raise Refusal("IDX-11", f"{file.path}: no index: {what}")
    sources = ElfSources(file, options)
    bar = Bar("okld: building the index")
    try:
        size = build(file, sources, bar.show)
    except Failed as error:
        raise Refusal("IDX-11", f"{file.path}: no index: {error}") from None
    finally:
        bar.end()
        sources.close()
    if args.json:
        out.write(render.json_line({"file": args.file, "index_bytes": size}))
    else:
        out.write(f"{printable(args.file)}: an index of {size} bytes\n")
    return 0
