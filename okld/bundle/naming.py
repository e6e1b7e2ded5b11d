"""What a bundle and its members may be called, and how a command line names a member."""

from __future__ import annotations

import os

from okld.base.limits import MAX_ENTRY_NAME

MAX_NAME = 64  # characters of the name of a bundle or of a member

_FIRST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_REST = _FIRST | frozenset("._-")


def is_member_name(name: str) -> bool:
    """Say whether a bundle or a member may be called *name*. Source: MAN-4."""
    return len(name) <= MAX_NAME and _is_component(name)


def is_path(name: str) -> bool:
    """Say whether an entry of the archive may be called *name*. Source: OKB-19."""
    return len(name) <= MAX_ENTRY_NAME and all(_is_component(part) for part in name.split("/"))


def _is_component(name: str) -> bool:
    return bool(name) and name[0] in _FIRST and _REST.issuperset(name)


def holds_another(names: list[str]) -> str:
    """Return a name that stands twice in *names*, or is a directory of another; else ""."""
    known = set(names)
    if len(known) < len(names):
        return next(name for name in names if names.count(name) > 1)
    for name in names:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in known:
                return "/".join(parts[:depth])
    return ""


def split_word(word: str) -> tuple[str, str | None]:
    """
    Return the path and the member, or None, that a word of the form ``FILE[:MEMBER]`` names.

    Source: OKB-28.
    """
    path, _colon, name = word.rpartition(":")
    if path and is_member_name(name) and not os.path.lexists(word):
        return path, name
    return word, None
