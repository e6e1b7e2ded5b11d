"""The quick reader of a command's words says what argparse says, or nothing."""

from __future__ import annotations

import random

import pytest

from okld.cli import quick, symbolize
from okld.cli.arguments import parse

WORDS = ["a.out", "0x10", "main+0x4", "-", "x=y", ""]
"""Words that belong to no option, or to the one before them."""


def by_argparse(words):
    return vars(parse("symbolize", "", symbolize.add_arguments, words))


@pytest.mark.spec("ADR-1")
def test_every_option_in_every_usual_form_is_read_as_argparse_reads_it():
    """Alone, before, between and after words; with "=" or without; once and twice."""
    forms = []
    for flags, _name, value, *_ in (quick.JSON, *symbolize.OPTIONS):
        for flag in flags.split():
            if value is not None:
                forms.append([flag])
            else:
                forms.append([flag, "word"])
                forms += [[f"{flag}=word"], [f"{flag}="], [f"{flag}=a=b"]]
    for form in forms:
        before, between = [*form, "a.out", "1"], ["a.out", *form, "1"]
        for words in (form, before, between, ["a.out", "1", *form * 2]):
            got = symbolize.read(words)
            assert got is not None
            assert vars(got) == by_argparse(words), words


@pytest.mark.spec("ADR-1")
def test_words_at_random_are_read_alike_or_left_to_argparse():
    """The quick reader never says something else."""
    chance = random.Random(4)
    flags = [flag for flags, *_ in symbolize.OPTIONS for flag in flags.split()]
    read = 0
    for _ in range(2000):
        words = [chance.choice(chance.choice((WORDS, flags))) for _ in range(chance.randrange(6))]
        got = symbolize.read(words)
        if got is not None:
            read += 1
            assert vars(got) == by_argparse(words), words
    assert read > 500


@pytest.mark.spec("ADR-1", "CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["a.out", "-h"],
        ["--nope"],
        ["--json=1"],
        ["--sysroot"],
        ["--sysroot", "-i"],
        ["-iv"],
        ["--", "-1"],
        ["-1"],
        ["--inline"],
    ],
)
def test_what_is_rare_or_wrong_is_left_to_argparse(words):
    """Which says what is wrong, or reads it."""
    assert symbolize.read(words) is None


@pytest.mark.spec("ADR-1")
def test_defaults_are_not_shared():
    """A list that one reading filled is empty in the next."""
    first = symbolize.read(["--debug-dir", "a"])
    second = symbolize.read([])
    assert (first.debug_dirs, second.debug_dirs) == (["a"], [])
