"""`okld symbolize [IMAGE] [ADDR...]`: names for addresses. Source: SPEC ADR-n."""

from __future__ import annotations

from okld.base.errors import printable
from okld.cli import quick
from okld.cli.answers import Answers
from okld.cli.complain import complain
from okld.image.open import Naming, open_file
from okld.syms.options import DEBUG_DIRS, Options
from okld.syms.symbolizer import Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from okld.cli.quick import Option, Words
    from okld.image.open import OpenFile
    from okld.syms.logs.engine import Engine

OPTIONS: tuple[Option, ...] = (
    ("-i --inlines", "inlines", True, "", False, "show the callers of inlined functions"),
    ("--no-lines", "lines", False, "", True, "names only: look for no source lines"),
    ("--no-demangle", "demangle", False, "", True, "write names as they are in the file"),
    ("--absolute", "space", "link", "", "", "numbers are link addresses"),
    ("--relative", "space", "image", "", "", "numbers count from where the image is mapped"),
    ("--file-offset", "space", "file", "", "", "numbers count from the start of the file"),
    ("--arch", "arch", None, "NAME", None, "the program of a fat file, by architecture or UUID"),
    ("--debug-dir", "debug_dirs", None, "DIR", [], "where debug files are (/usr/lib/debug)"),
    ("--debug-file", "debug_file", None, "FILE", None, "the debug file itself"),
    ("--sysroot", "sysroot", None, "DIR", None, "where absolute paths begin"),
    ("--debuginfod", "debuginfod", None, "URL", [], "a server to ask for debug files"),
    ("--no-external-debug", "external", False, "", True, "read no other file than the image"),
    ("--no-index", "index", False, "", True, "neither use nor keep an index of the file"),
    ("--module", "modules", None, "NAME=FILE", [], "the file of a module that a log names"),
    ("-v --verbose", "verbose", True, "", False, "say which files answered"),
)

EPILOG = """\
ADDR is a hexadecimal number, with or without 0x; NAME+0xOFFSET is so far behind a symbol or, in a
relocatable file, a section. Without --absolute, --relative or --file-offset a number is a link
address if it lies in a segment, else counted from where the image is mapped if that does. Without
ADDR addresses are read from standard input, a line each; every other line there, and without IMAGE
each line, is one of a log, whose frames get their names. Status: 0 all named, 1 a miss, 2 usage or
a file that cannot be read, 3 answered from a damaged file.
"""

CHECKED = ("arch", "debug_dirs", "debug_file", "sysroot", "debuginfod", "modules")
"""The options whose values name what has to be there."""
MANGLED = ("Z", "R")  # what follows the underscores of C++ and Rust
POOR = ("", ".dynsym", "DT_SYMTAB")
"""The tables that lack most names: a miss in them is for want of a debug file."""
BUNDLE_MAGIC = b"PK\3\4"
DAMAGED = 3


def read(words: Sequence[str]) -> Words | None:
    """Return the arguments, or None where argparse has to judge them."""
    given = quick.read(words, OPTIONS)
    if given is None:
        return None
    args, rest = given
    args.image = rest[0] if rest else None
    args.addresses = rest[1:]
    return args


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.epilog = EPILOG
    parser.add_argument("image", metavar="FILE[:MEMBER]", nargs="?", help="a program file")
    parser.add_argument("addresses", metavar="ADDR", nargs="*", help="what is asked")
    quick.declare(parser, OPTIONS)


def run(args: Words, out: TextIO) -> int:
    """Answer what is asked; the status says whether all could be. Source: ADR-9."""
    if any(getattr(args, name) not in (None, []) for name in CHECKED):
        from okld.cli.values import require

        require(args)
    options = Options(
        debug_dirs=tuple(args.debug_dirs) or DEBUG_DIRS,
        debug_file=args.debug_file or "",
        sysroot=args.sysroot or "",
        debuginfod=tuple(args.debuginfod),
        external=args.external,
        cache=args.index,
        architecture=args.arch or "",
    )
    demangle = _demangle if args.demangle else str
    if args.image is None:
        from okld.cli.logs import rewrite

        return int(not rewrite(args, options, out, demangle))
    with Naming(args.image):
        return _open(args, options, out, demangle)


def _open(args: Words, options: Options, out: TextIO, demangle: Callable[[str], str]) -> int:
    """Answer addresses of a file, or of a member of a bundle."""
    if ":" not in args.image:
        with open_file(args.image) as file:
            size = min(len(BUNDLE_MAGIC), file.view.size)
            if file.view.window(0, size, "magic", "SYM-1") != BUNDLE_MAGIC:
                return _answer(file, args, options, out, demangle)
    from okld.cli.members import named

    with named(args.image) as image:
        return _answer(image.only(), args, options, out, demangle)


def _answer(
    file: OpenFile, args: Words, options: Options, out: TextIO, demangle: Callable[[str], str]
) -> int:
    with Symbols(file, options=options, keep_open=True) as table:
        if table.damage:
            complain(f"{printable(args.image)}: {table.damage}")
        answers = Answers(
            table,
            args.image,
            out,
            demangle,
            space=args.space,
            lines=args.lines,
            inlines=args.inlines,
            as_json=args.json,
        )
        if args.addresses:
            is_whole = answers.words(args.addresses)
        else:
            is_whole = _stream(answers, args, options, out, demangle)
        if args.verbose or (answers.missed and not table.damage and table.source in POOR):
            for note in table.notes:
                complain(f"{printable(args.image)}: {note}")
        out.flush()
        table.grow_index()
        return DAMAGED if table.damage else int(not is_whole)


def _stream(
    answers: Answers, args: Words, options: Options, out: TextIO, demangle: Callable[[str], str]
) -> bool:
    from okld.cli.stream import Stream

    def engine() -> Engine:
        from okld.cli.logs import engine_of

        return engine_of(args, options, out.buffer, demangle)

    return Stream(answers, None if args.json else engine, out).read()


def _demangle(name: str) -> str:
    """Return *name* for people; the demangler is imported for the first that may be mangled."""
    if name[:1] != "_" or name.lstrip("_")[:1] not in MANGLED:
        return name
    from okld.syms.demangle import demangle

    return demangle(name)
