"""Reads the usual words of a command without argparse, whose import costs as much as an answer.

A command states its options once, in a table: `read` takes what is written in the usual way, and
`declare` tells argparse the same, for help, for mistakes and for all that is rare.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from typing import Any

    Option = tuple[str, str, Any, str, Any, str]
    """
    Flags, separated by spaces; the attribute; what it becomes, or None where a word follows; what
    help calls that word; what the attribute is without the option, a list where the option can be
    repeated; what the option does.
    """


JSON = ("--json", "json", True, "", False, "write JSON, schema 1")
"""The option of every command."""


class Words:
    """What was written, an attribute for each option and for each place of a word."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, options: Sequence[Option]) -> None:
        """Begin with what holds without any of *options*."""
        for _flags, name, _value, _metavar, default, _help in options:
            setattr(self, name, default.copy() if isinstance(default, list) else default)


def read(words: Sequence[str], options: Sequence[Option]) -> tuple[Words, list[str]] | None:
    """
    Return what *words* say, and those of them that belong to no option, in order.

    None is returned for what argparse has to judge: an option that is not in the table, or is
    written in another way than whole and apart from others, one that lacks its word, two of which
    each says another thing than the other, and "--".
    """
    options = (JSON, *options)
    chosen: dict[str, Any] = {}
    by_flag = {flag: option for option in options for flag in option[0].split()}
    given, rest = Words(options), []
    following = iter(words)
    for word in following:
        if word[:1] != "-" or word == "-":
            rest.append(word)
            continue
        flag, equals, text = word.partition("=") if word[:2] == "--" else (word, "", "")
        if flag not in by_flag:
            return None
        _flags, name, value, _metavar, default, _help = by_flag[flag]
        if value is not None:
            if equals or chosen.setdefault(name, value) != value:
                return None
            setattr(given, name, value)
            continue
        text = text if equals else next(following, "-")
        if text[:1] == "-" and not equals:
            return None
        if isinstance(default, list):
            getattr(given, name).append(text)
        else:
            setattr(given, name, text)
    return given, rest


def declare(parser: ArgumentParser, options: Sequence[Option]) -> None:
    """Tell *parser* of *options*; of those that say one thing in several ways, one is taken."""
    ways = {option[1] for option in options if option[2] is not None}
    groups = {name: parser.add_mutually_exclusive_group() for name in sorted(ways)}
    for flags, name, value, metavar, default, text in options:
        words = flags.split()
        if value is None:
            action = "append" if isinstance(default, list) else "store"
            parser.add_argument(
                *words, dest=name, action=action, metavar=metavar, default=default, help=text
            )
        else:
            groups[name].add_argument(
                *words, dest=name, action="store_const", const=value, default=default, help=text
            )
