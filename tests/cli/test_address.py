"""Which words are addresses."""

from __future__ import annotations

import pytest

from okld.cli.address import named, number, numbers, wrong

NO_NUMBER = ["", "0x", "zz", "-1", "+1", "1_0", "0x1_0", "1" * 17, " 1", "1 ", "\u0661", "x1"]


@pytest.mark.spec("ADR-3")
@pytest.mark.parametrize(
    ("word", "value"),
    [("0", 0), ("add", 0xADD), ("0X1f", 31), ("0x" + "f" * 16, 2**64 - 1), ("0" * 30 + "1", 1)],
)
def test_a_number(word, value):
    """Is hexadecimal, with 0x or without, of at most 64 bits."""
    assert number(word) == value
    assert numbers(word.encode()) == [value]


@pytest.mark.spec("ADR-3")
@pytest.mark.parametrize("word", NO_NUMBER)
def test_no_number(word):
    """Python reads more as a number than an address can be; a line of it spoils all."""
    assert number(word) is None
    assert numbers(b"1\n" + word.encode() + b"\n2\n") is None


@pytest.mark.spec("ADR-3")
def test_lines_of_numbers():
    """The last one may have no end, and each may end as on other systems."""
    assert numbers(b"") == []
    assert numbers(b"1\r\n0xA\n2") == [1, 10, 2]
    for line in (b"1\r2\n", b"1\r", b"1\r\r\n", b"\r1\n"):
        assert numbers(line) is None


@pytest.mark.spec("ADR-3")
@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("main+0x4", ("main", 4, 0)),
        (".text.f+0x10", (".text.f", 16, 0)),
        ("do_it+0x1/0x20", ("do_it", 1, 32)),
        ("do_it+0X1/0X20", ("do_it", 1, 32)),
        ("operator+(int)+0x1", ("operator+(int)", 1, 0)),
        ("main+4", None),
        ("main", None),
        ("+0x4", None),
        ("main+0x", None),
        ("main+0x1/20", None),
        ("main+0x1/", None),
        ("main+0x1/0xzz", None),
    ],
)
def test_a_name_and_an_offset(word, parts):
    """The offset has its 0x: names can hold a plus themselves."""
    assert named(word) == parts


@pytest.mark.spec("ERR-2", "ADR-3")
@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("x", "x"),
        ("", "''"),
        (" 10", "' 10'"),
        ("10\n", "'10\\x0a'"),
        ("\x1b[31m", "\\x1b[31m"),
        ("f" * 80, "f" * 80),
        ("f" * 100_000, "f" * 80 + "..."),
    ],
)
def test_what_is_said_of_a_word_that_is_none(word, shown):
    """So much of it as is worth reading, and in quotes where it could not be seen."""
    want = f"no address: {shown} (hexadecimal, at most 64 bits, or NAME+0xOFFSET)"
    assert str(wrong(word)) == want
