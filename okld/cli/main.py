"""`okld COMMAND`: turns what a command raises into one line and a status. Source: CLI-1."""

from __future__ import annotations

import os
import sys

from okld import __version__
from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.cli.complain import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

YES, NO, UNUSABLE = 0, 1, 2
READERS = ("show", "symbols", "symbolize")  # to them other bytes are a file that cannot be read

COMMANDS = {
    "show": "describe a bundle, or an ELF, PE or Mach-O file",
    "interfaces": "which interfaces an image declares, and which it uses",
    "check": "would an image be refused, and by which rule",
    "symbols": "list the symbols of an ELF file",
    "symbolize": "name what lies at an address, or at those of a log",
    "cache": "the indexes of files that are kept",
    "bundle": "put images into a bundle, and sign it",
    "verify": "is all true that a bundle says",
    "extract": "an image of a bundle, as a file of its own",
    "build": "make an image from C, C++ or assembler",
    "cflags": "options that compile for an image",
    "ldflags": "options that link an image",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `okld` with *argv*, the process's own arguments when None, and return its status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if sys.stdout is None:
            raise OkError("standard output is closed")
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        status = _run(arguments, sys.stdout)
        sys.stdout.flush()
    except OkError as error:
        complain(str(error))
        status = _status(arguments, error)
    except MemoryError:
        complain("out of memory")
        status = UNUSABLE
    except OSError as error:  # standard output: everything else comes as an OkError
        if not isinstance(error, BrokenPipeError):
            complain(str(Unreadable("cannot write standard output", "", error)))
        _drop_output()
        status = UNUSABLE
    return status


def _run(arguments: list[str], out: TextIO) -> int:
    if not arguments:
        raise OkError("no command; okld --help lists them")
    name, *rest = arguments
    if name in ("-h", "--help"):
        out.write(_help())
        return YES
    if name == "--version":
        out.write(f"okld {__version__}\n")
        return YES
    if name not in COMMANDS:
        raise OkError(f"no such command: {name}; okld --help lists them")
    command = __import__(f"okld.cli.{name}", fromlist=["run"])
    read = getattr(command, "read", None)
    parsed = read(rest) if read else None
    if parsed is None:
        from okld.cli.arguments import parse

        parsed = parse(name, COMMANDS[name], command.add_arguments, rest)
    if parsed is None:
        return YES
    status: int = command.run(parsed, out)
    return status


def _status(arguments: list[str], error: OkError) -> int:
    """Return 1 where *error* answers what the command was asked, 2 where there is no answer."""
    if isinstance(error, FormatError):
        return UNUSABLE if arguments[0] in READERS else NO
    # Of symbolize, 1 says that an address has no name.
    return NO if isinstance(error, Refusal) and arguments[0] != "symbolize" else UNUSABLE


def _help() -> str:
    rows = "".join(f"  {name:<11} {what}\n" for name, what in COMMANDS.items())
    return (
        "usage: okld COMMAND [options] ...\n\n"
        f"{rows}\n"
        "okld COMMAND --help says more. Every command takes --json.\n"
        "Status: 0 yes, 1 the answer is no, 2 usage or a file that cannot be read.\n"
    )


def _drop_output() -> None:
    """Make the interpreter's own last flush of standard output succeed."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
