"""Arguments of a command, read by argparse; a mistake is one line like any other refusal."""

from __future__ import annotations

import argparse
import sys

from okld.base.errors import OkError
from okld.cli.quick import JSON, declare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from _typeshed import SupportsWrite

WIDTH = 80


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise OkError(f"{message}; see {self.prog} --help")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # That of argparse passes over a standard output that cannot be written.
        (file or sys.stdout).write(message)


def _formatter(prog: str) -> argparse.HelpFormatter:
    # Asking for the terminal's width would import shutil, for every command, help or not.
    return argparse.HelpFormatter(prog, width=WIDTH)


def parse(
    name: str,
    summary: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    words: Sequence[str],
) -> argparse.Namespace | None:
    """
    Return the arguments of the command *name*, or None where its help was asked for and is shown.

    A command that presets `options` takes options that nobody declared, and finds them there.

    Raises:
        OkError: If they are not as *add_arguments* says.
    """
    parser = _Parser(
        prog=f"okld {name}", description=summary, allow_abbrev=False, formatter_class=_formatter
    )
    declare(parser, (JSON,))
    add_arguments(parser)
    try:
        args, unknown = parser.parse_known_intermixed_args(words)
    except SystemExit:  # only --help ends so: `error` raises
        return None
    if parser.get_default("options") is not None:
        args.options = unknown
    elif unknown:
        what = "no such option" if unknown[0].startswith("-") else "one argument too many"
        parser.error(f"{what}: {' '.join(unknown)}")
    return args
