"""How an answer is written: what is known, in one form, without a byte that a terminal acts on."""

from __future__ import annotations

import io

import pytest

from okld.syms.answer import Found, Frame
from okld.syms.logs.engine import rewrite

UNNAMED = b"    #0 0x1000  (/bin/x+0x1000)\n"
NAMED = b"    #0 0x1000 in ns::f(int) (/bin/x+0x1000)\n"


class Knows:
    """Gives one answer to everything."""

    def __init__(self, name, *frames, aliases=()):
        self.found = Found(
            name, 4, value=0, size=9, kind="function", symbol=name, frames=frames, aliases=aliases
        )

    def resolve(self, query):
        return (self.found,)

    def is_trampoline(self, query):
        return False


def written(line, resolver, **options):
    sink = io.BytesIO()
    counts = rewrite(io.BytesIO(line), sink, resolver, **options)
    assert (counts.named, counts.missed) == (1, 0)
    return sink.getvalue()


def frame(file, line, column, *, function="f", inlined=False):
    return Frame(function, file, line, column, inlined=inlined)


@pytest.mark.spec("LOG-2")
@pytest.mark.parametrize(
    ("frames", "want"),
    [
        ((), b"f+0x4"),
        ((frame(None, None, None),), b"f+0x4"),
        ((frame("/s/f.c", None, None),), b"f+0x4 (/s/f.c)"),
        ((frame("/s/f.c", 7, None),), b"f+0x4 (/s/f.c:7)"),
        ((frame("/s/f.c", 7, 3),), b"f+0x4 (/s/f.c:7:3)"),
        ((frame("/s/\x1b[2J\n.c", 7, 3),), b"f+0x4 (/s/\\x1b[2J\\x0a.c:7:3)"),
        ((frame("/s/\udcff.c", 7, 3),), b"f+0x4 (/s/\\xff.c:7:3)"),
        ((frame("/s/\u00e9.c", 7, 3),), "f+0x4 (/s/\u00e9.c:7:3)".encode()),
    ],
)
def test_what_is_known(frames, want):
    """What is not known is left out; control bytes and bytes that are not UTF-8 are escaped."""
    assert written(UNNAMED, Knows("f", *frames)) == UNNAMED.replace(b"  (", b" in " + want + b" (")


@pytest.mark.spec("LOG-2")
def test_control_bytes_in_a_name():
    """A function's name is not able to write a line of its own."""
    assert b" in f\\x0a\\x1b+0x4 (" in written(UNNAMED, Knows("f\n\x1b"))


@pytest.mark.spec("LOG-2")
@pytest.mark.parametrize("known", ["ns::f(int)", "_ZN2ns1fEi", "ns::f"])
def test_the_name_that_a_line_has(known):
    """The log's name is the answer's if it is that for people, or differs in parameters alone."""
    names = {"_ZN2ns1fEi": "ns::f(int)"}
    resolver = Knows(known, frame("/s/f.c", 7, 3, function=known))
    named = written(NAMED, resolver, name_of=lambda raw: names.get(raw, raw))
    assert named == NAMED.replace(b"(int) (", b"(int) (/s/f.c:7:3) (")


@pytest.mark.spec("LOG-2")
@pytest.mark.parametrize("other", [Knows("g"), Knows("g", aliases=("h",)), Knows("")])
def test_another_name(other):
    """Where the answer has another name the line has both."""
    name = other.found.name.encode() or b"??"
    assert written(NAMED, other) == NAMED.replace(b"(int) (", b"(int) " + name + b"+0x4 (")


@pytest.mark.spec("LOG-2")
def test_an_alias():
    """A name that is one of several of the same place is the answer's."""
    assert written(NAMED, Knows("g", aliases=("ns::f(int)",))) == NAMED


@pytest.mark.spec("LOG-2")
def test_inlined_functions_of_which_little_is_known():
    """Each has its line, with `??` for what is not known."""
    frames = (frame(None, None, None, function="", inlined=True), frame("/s/f.c", 7, 3))
    named = written(UNNAMED, Knows("f", *frames), inlines=True)
    assert named.splitlines() == [
        b"    #0 0x1000 in ?? (??) (inlined)",
        b"    #0 0x1000 in f+0x4 (/s/f.c:7:3) (/bin/x+0x1000)",
    ]


@pytest.mark.spec("LOG-16")
def test_json_stays_json():
    """Names and files are escaped as JSON strings, whatever is in them."""
    line = b'{"frames":[{"imageOffset":1,"imageIndex":0}],"usedImages":[{"path":"x"}]}\n'
    named = written(line, Knows('f"\n', frame('/s/"\udcff.c', 7, 3)))
    added = b'"symbol":"f\\"\\n","symbolLocation":4,"sourceFile":"/s/\\"\\udcff.c","sourceLine":7,'
    assert named == line.replace(b'{"imageOffset"', b"{" + added + b'"imageOffset"')
