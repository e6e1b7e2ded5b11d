"""Errors: one line, one form, nothing that a terminal would act on."""

from __future__ import annotations

import pickle

import pytest

from okld.base.errors import FormatError, OkError, Refusal, Unreadable, printable
from okld.base.units import SectionOffset


@pytest.mark.spec("ERR-2")
@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param("kal_write", "kal_write", id="plain"),
        pytest.param("größe €", "größe €", id="letters and signs"),
        pytest.param("a\nb\tc\0", r"a\x0ab\x09c\x00", id="control bytes"),
        pytest.param("\x1b[31m\x7f", r"\x1b[31m\x7f", id="escape and delete"),
        pytest.param("\x9b", r"\xc2\x9b", id="a control of eight bits"),
        pytest.param("\u202e\u200b", r"\xe2\x80\xae\xe2\x80\x8b", id="text direction"),
        pytest.param(b"\xff\xfe", r"\xff\xfe", id="bytes not UTF-8"),
        pytest.param(b"a\xc3\xa9", "aé", id="bytes that are"),
        pytest.param("\udcff\udc80", r"\xff\x80", id="as a path comes from the system"),
        pytest.param("\ud800", r"\xed\xa0\x80", id="a lone surrogate"),
        pytest.param("", "", id="empty"),
    ],
)
def test_printable_shows_and_never_acts(name: str | bytes, want: str) -> None:
    """A byte that a terminal would act on, or that is not UTF-8, is shown as its number."""
    assert printable(name) == want
    assert printable(printable(name)) == want


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize(
    ("error", "want"),
    [
        (FormatError("IMG-1", "too short"), "too short [IMG-1]"),
        (FormatError("IMG-1", "too short", got=63), "too short (got 0x3f) [IMG-1]"),
        (
            FormatError("IMG-5", "table", got=80, limit=64, at=56),
            "table (got 0x50, limit 0x40, at byte 0x38) [IMG-5]",
        ),
        (FormatError("IMG-2", "ident", got="7f45", at=0), "ident (got 7f45, at byte 0x0) [IMG-2]"),
        (
            Refusal("NEED-1", "printf is no name of openkal"),
            "printf is no name of openkal [NEED-1]",
        ),
        (
            Unreadable("image", "no\nsuch", FileNotFoundError(2, "No such file or directory")),
            r"image: no\x0asuch: No such file or directory",
        ),
        (Unreadable("image", "", OSError("odd")), "image: odd"),
        (OkError("what"), "what"),
    ],
)
def test_a_message_is_one_line_of_one_form(error: OkError, want: str) -> None:
    """What, then numbers in hexadecimal, then the rule."""
    assert str(error) == want


@pytest.mark.spec("ERR-1")
def test_callers_read_attributes() -> None:
    """The rule, the place and the system's number need not be found in text."""
    error = FormatError("IMG-9", "past the end", got=2, limit=1, at=64)
    assert (error.rule, error.at) == ("IMG-9", 64)
    assert (OkError("x").rule, OkError("x").at) == ("", None)
    assert (Refusal("NEED-2", "x").rule, Refusal("NEED-2", "x").at) == ("NEED-2", None)
    assert Unreadable("x", "y", PermissionError(13, "Permission denied")).errno == 13
    assert Unreadable("x", "y", OSError("odd")).errno == 0
    assert all(issubclass(kind, OkError) for kind in (FormatError, Refusal, Unreadable))


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize(
    "error",
    [
        FormatError("IMG-1", "length", got=3, limit=64, at=0),
        Refusal("NEED-1", "no"),
        Unreadable("cannot open", "a file", OSError(2, "No such file or directory")),
    ],
)
def test_an_error_reaches_another_process(error):
    """A copy through pickle is the same error, whatever its class is made from."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.spec("SYM-15")
def test_a_section_offset_reaches_another_process():
    """With its section."""
    again = pickle.loads(pickle.dumps(SectionOffset(".text", 3)))
    assert (again, again.section) == (3, ".text")
