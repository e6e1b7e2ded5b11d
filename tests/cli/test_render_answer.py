"""What `okld symbolize` writes, made from answers that are stated here."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from okld.cli import render_answer
from okld.cli.render_answer import Text
from okld.syms.answer import Found, Frame, Miss
from okld.syms.logs.query import Query
from okld.syms.logs.site import Site
from okld.syms.logs.wording import Wording

ANY = st.text(st.characters(codec=None, exclude_categories=()))


def plain(name: str) -> str:
    return name


def nothing(_notes: object) -> None:
    """Say nothing."""


def found(name: str = "f", **more) -> Found:
    return Found(name, 4, **{"value": 16, "size": 8, "kind": "function", "symbol": name, **more})


@pytest.mark.spec("CLI-2", "ADR-8")
@given(ANY)
@example('\x7f\x80\udcff\ud800\U0001f600"\\/\b\f\n\r\t\0')
def test_a_string_is_written_as_json_writes_it(text):
    """Whatever is in it."""
    assert render_answer.quoted(text) == json.dumps(text)


@pytest.mark.spec("CLI-2", "ADR-8")
def test_every_key_of_an_answer():
    """An object a line, with what `json` reads back as it was stated."""
    frames = (
        Frame("inner", "/s/a.h", 3, 5, inlined=True),
        Frame("", None, None, None, inlined=False),
    )
    answer = found(
        "_Zf", symbol="_Zf.cold", version="V1", aliases=("g", '"'), frames=frames, notes=("lost",)
    )
    text = render_answer.json_line("0x14", "a.out", ".symtab", answer, str.upper)
    assert text.count("\n") == 1
    frame = {"function": "inner", "demangled": "INNER", "file": "/s/a.h", "line": 3, "column": 5}
    none = {"function": "", "demangled": "", "file": None, "line": None, "column": None}
    assert json.loads(text) == {
        "schema": 1,
        "address": "0x14",
        "module": "a.out",
        "name": "_Zf",
        "offset": 4,
        "value": 16,
        "size": 8,
        "kind": "function",
        "aliases": ["g", '"'],
        "symbol": "_Zf.cold",
        "version": "V1",
        "demangled": "_ZF",
        "frames": [{**frame, "inlined": True}, {**none, "inlined": False}],
        "notes": ["lost"],
        "approximate": False,
        "source": ".symtab",
    }


@pytest.mark.spec("CLI-2", "ADR-8")
def test_a_miss_as_json():
    """Its name is null, and it has a reason, and what was lost on the way."""
    text = render_answer.json_line("0x14", "a.out", "", Miss("between symbols", ("lost",)), plain)
    assert json.loads(text) == {
        "schema": 1,
        "address": "0x14",
        "module": "a.out",
        "name": None,
        "reason": "between symbols",
        "notes": ["lost"],
    }


CHAIN = (
    Frame("inner", "/s/a.h", 3, 5, inlined=True),
    Frame("middle", "/s/a.c", 30, None, inlined=True),
    Frame("f", "/s/a.c", None, None, inlined=False),
)


@pytest.mark.spec("ADR-8")
@pytest.mark.parametrize(
    ("answer", "want"),
    [
        (found(), "f+0x4"),
        (found(frames=(Frame("f", "/s/a.c", 7, 2, inlined=False),)), "f+0x4 /s/a.c:7:2"),
        (found(frames=(Frame("f", "/s/a.c", 7, None, inlined=False),)), "f+0x4 /s/a.c:7"),
        (found(frames=(Frame("f", "/s/a.c", None, None, inlined=False),)), "f+0x4 /s/a.c:?"),
        (found(frames=(Frame("f", None, None, None, inlined=False),)), "f+0x4 ??"),
        (found(frames=CHAIN), "f+0x4 /s/a.h:3:5 in inner"),
        (found(symbol="f.cold"), "f.cold+0x4"),
        (found(symbol="g"), "f+0x4"),
        (found(kind="ifunc"), "f+0x4 (ifunc resolver)"),
        (found(kind="ifunc", symbol="g"), "f+0x4"),
        (found(approximate=True), "f+0x4 (approximate)"),
        (found("a\x1b[31mb"), "a\\x1b[31mb+0x4"),
        (Miss("between symbols"), "?? (between symbols)"),
    ],
)
def test_a_line_for_people(answer, want):
    """The address, the name, the place in it, and where that is in the source."""
    assert Text(plain, nothing, inlines=False).line("0x14", answer) == f"0x14 {want}\n"


@pytest.mark.spec("ADR-8")
def test_callers_are_on_lines_of_their_own():
    """Each says where the one before was inlined."""
    assert Text(str.upper, nothing, inlines=True).line("0x14", found(frames=CHAIN)) == (
        "0x14 F+0x4 /s/a.h:3:5 in INNER\n"
        "    inlined at /s/a.c:30 in MIDDLE\n"
        "    inlined at /s/a.c:? in F\n"
    )


@pytest.mark.spec("ADR-8", "ADR-9")
def test_misses_and_notes_are_noticed():
    """A miss is for the status, a note for standard error."""
    told: list[tuple[str, ...]] = []
    text = Text(plain, told.append, inlines=False)
    text.line("0x14", found(notes=("lost", "more")))
    assert (text.missed, told) == (False, [("lost", "more")])
    text.line("0x14", Miss("between symbols"))
    assert (text.missed, len(told)) == (True, 1)


NAMES = [
    ("_ZN1AC4Ei", "_ZN1AC2Ei.part.0", True),
    ("_ZN1AD4Ev", "_ZN1AD1Ev.cold", True),
    ("_ZN1AC2Ei", "_ZN1AC2Ei.cold", True),
    ("_ZN1ACI4Ei", "_ZN1ACI2Ei.constprop.0.isra.0", True),
    ("f", "f.cold", True),
    ("_ZN1AC4Ei", "_ZN1AC2Ei", False),
    ("_ZN1AC4Ei", "_ZN1BC2Ei.cold", False),
    ("_ZN1A2E4v", "_ZN1A2E5v.cold", False),
    ("_ZN1AC4Ei", "_ZN1ACxEi.cold", False),
    ("C4", "C2.cold", False),
    ("f", "g.cold", False),
    ("f", "fg.cold", False),
]


@pytest.mark.spec("ADR-8", "DEM-4", "LOG-2")
@pytest.mark.parametrize(("name", "symbol", "is_clone"), NAMES)
def test_the_name_of_a_clone(name, symbol, is_clone):
    """Stands where the offset counts from it, constructors' too, of which each has a number."""
    got = found(name, symbol=symbol)
    shown = symbol if is_clone else name
    assert Text(plain, nothing, inlines=True).line("0x4", got) == f"0x4 {shown}+0x4\n"
    site = Site(Query("m"), 0, 0)
    assert Wording(str, inlines=False).answer(site, (got,)) == f"{shown}+0x4".encode()


@pytest.mark.spec("ADR-8", "ADR-6")
def test_the_last_caller_is_called_as_the_function_is():
    """Where debug information has less of its name than the symbol tells."""
    frames = (
        Frame("inner", "/a.c", 1, 2, inlined=True),
        Frame("middle", "/a.c", 3, 4, inlined=True),
        Frame("operator()", "/a.c", 5, 6, inlined=False),
    )
    whole = "_ZZ1fvENKUlvE_clEv"
    got = found(whole, frames=frames)
    assert Text(plain, nothing, inlines=True).line("0x4", got) == (
        f"0x4 {whole}+0x4 /a.c:1:2 in inner\n"
        "    inlined at /a.c:3:4 in middle\n"
        f"    inlined at /a.c:5:6 in {whole}\n"
    )
