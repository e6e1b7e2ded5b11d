"""Logs on standard input: `okld symbolize` rewrites them, and passes on what it does not know."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okld.cli.complain import complain
from okld.cli.stream import blocks
from okld.syms.logs.engine import Engine
from okld.syms.logs.resolver import Resolver
from okld.syms.logs.wording import Wording
from okld.syms.modules import Modules, parse_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO, TextIO

    from okld.cli.quick import Words
    from okld.syms.options import Options


def engine_of(
    args: Words, options: Options, sink: BinaryIO, demangle: Callable[[str], str]
) -> Engine:
    """Return what rewrites the lines that it is fed, to *sink*."""
    given = [parse_module(word) for word in args.modules]
    if args.image is not None:
        given += [(name, args.image) for name in ("", args.image, os.path.basename(args.image))]
    modules = Modules(given, sysroot=options.sysroot, debug_dirs=options.debug_dirs)
    resolver = Resolver(modules, options=options, say=complain)
    return Engine(sink.write, resolver, Wording(demangle, inlines=args.inlines))


def rewrite(args: Words, options: Options, out: TextIO, demangle: Callable[[str], str]) -> bool:
    """
    Rewrite standard input; say whether all of its addresses had names.

    Raises:
        OkError: If objects are wanted, or a module is not given as NAME=FILE.
        Unreadable: If standard input cannot be read.
    """
    if args.json:
        raise OkError("--json takes addresses of a FILE; a log stays what it is")
    engine = engine_of(args, options, out.buffer, demangle)
    for block in blocks():
        engine.feed(block)
        out.buffer.flush()
    engine.finish()
    return not engine.counts.missed
