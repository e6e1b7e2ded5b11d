"""The words after ``okprof report`` and ``okprof diff``: options, and the paths among them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from okld.base.errors import OkError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Options(argparse.ArgumentParser):
    """
    The options of one command. Words that are none are paths; after ``--`` every word is one.

    argparse itself takes a path that begins with a dash for an option even there, and where paths
    are too few it says that, rather than which option it does not know.
    """

    def __init__(self, command: str) -> None:
        """Begin, without any option."""
        super().__init__(prog=f"okprof {command}", add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise `OkError` with *message*, which is usage."""
        raise OkError(f"{message}; {self.prog} --help says more")

    def split(self, words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """
        Return the options and the paths that *words* are.

        Raises:
            OkError: If an option is unknown, or lacks what it needs.
        """
        before, after = _at_dashes(words)
        options, others = self.parse_known_args(before)
        unknown = [word for word in others if word.startswith("-") and word != "-"]
        if unknown:
            self.error(f"no such option: {unknown[0]}")
        return options, [*others, *after]


def asks_for_help(words: Sequence[str]) -> bool:
    """Say whether help is asked for: by an option, not by a path of that name."""
    return not {"-h", "--help"}.isdisjoint(_at_dashes(words)[0])


def _at_dashes(words: Sequence[str]) -> tuple[list[str], list[str]]:
    at = words.index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])
