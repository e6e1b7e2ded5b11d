"""What is no address passes byte for byte, however it comes, in memory that does not grow."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okld.syms.answer import Found, Frame, Miss
from okld.syms.logs.engine import MAX_HELD, MAX_LINE, MAX_TEXT, Engine, rewrite
from okld.syms.logs.wording import Wording

FIXTURES = Path(__file__).parent / "fixtures"
LINES = sorted(
    {line for path in FIXTURES.glob("*.in") for line in path.read_bytes().splitlines(True)}
)
FRAME = b"    #0 0x1000  (/bin/x+0x1000)\n"
NAMED = b"    #0 0x1000 in f+0x1 (/src/f.c:2:3) (/bin/x+0x1000)\n"


class Nobody:
    """Knows nothing."""

    def resolve(self, query):
        return Miss("unknown")

    def is_trampoline(self, query):
        return False


class Everybody(Nobody):
    """Knows everything, and what is asked can be seen in the answer."""

    def resolve(self, query):
        name = f"f{query.address % 7}" if query.is_return else "f"
        frames = (
            Frame("g", "/src/g.c", 1, None, inlined=True),
            Frame(name, "/src/f.c", 2, 3, inlined=False),
        )
        found = Found(name, 1, value=0, size=9, kind="function", symbol=name, frames=frames[1:])
        found.frames = frames if query.module.endswith("d") else frames[1:]
        return (found,)

    def is_trampoline(self, query):
        return query.address % 3 == 0


def passed(pieces, resolver, *, inlines=False):
    """Return what becomes of a log that comes in *pieces*."""
    sink = io.BytesIO()
    engine = Engine(sink.write, resolver, Wording(str, inlines=inlines))
    for piece in pieces:
        engine.feed(piece)
    engine.finish()
    return sink.getvalue()


def cut(log, places):
    places = sorted({place % (len(log) + 1) for place in places} | {0, len(log)})
    return [log[a:b] for a, b in pairwise(places)]


@pytest.mark.spec("LOG-1")
@given(st.lists(st.one_of(st.binary(max_size=80), st.sampled_from(LINES)), max_size=30))
def test_where_nothing_is_known_every_byte_passes(parts):
    """Bytes of any kind, and lines with addresses that nobody knows, are the same afterwards."""
    log = b"".join(parts)
    assert passed([log], Nobody()) == log


WORDS = [b"\n", b"\r\n", b"\0", b"\xff", b" ", b"#0 ", b"x" * 40, b"f+1 ", b"0 x", b"pc", b"[un"]


@pytest.mark.spec("LOG-1")
@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_lines_without_an_address_pass(words):
    """They are the same even where every address is known."""
    log = b"".join(words)
    assert passed([log], Everybody()) == log


@pytest.mark.spec("LOG-1")
@settings(max_examples=300)
@given(
    st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(WORDS)), max_size=30),
    st.lists(st.integers(0, 10_000), max_size=20),
)
def test_how_it_comes_makes_no_difference(parts, places):
    """Cut anywhere, a log becomes the same as in one piece."""
    log = b"".join(parts)
    whole = passed([log], Everybody(), inlines=True)
    assert passed(cut(log, places), Everybody(), inlines=True) == whole


@pytest.mark.spec("LOG-1")
def test_byte_by_byte():
    """All fixtures one after another, fed one byte at a time, become the same."""
    log = b"".join(path.read_bytes() for path in sorted(FIXTURES.glob("*.in")))
    pieces = [log[i : i + 1] for i in range(len(log))]
    assert passed(pieces, Everybody()) == passed([log], Everybody())


@pytest.mark.spec("LOG-1")
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_line_that_is_too_long(end):
    """
    A line of more than MAX_LINE bytes passes, whatever it holds and wherever it is cut; the lines
    around it get their names.
    """
    long = b"x" * (MAX_LINE - 20) + FRAME[:-1] + end
    log = FRAME + long + FRAME * bool(end)
    want = NAMED + long + NAMED * bool(end)
    assert passed([log], Everybody()) == want
    assert passed(cut(log, range(0, len(log), 65_521)), Everybody()) == want


@pytest.mark.spec("LOG-1")
def test_a_frame_in_a_long_line():
    """Formats of text look at lines of up to MAX_TEXT bytes."""
    for size, named in ((MAX_TEXT, True), (MAX_TEXT + 1, False)):
        line = b"x" * (size - len(FRAME) + 1) + FRAME
        assert (passed([line], Everybody()) != line) is named


@pytest.mark.spec("LOG-1")
def test_no_end_of_line_at_the_end():
    """The last line is one without its end, too."""
    assert passed([FRAME[:-1]], Everybody()) == NAMED[:-1]


@pytest.mark.spec("LOG-1")
def test_what_is_there_is_written_before_more_is_waited_for():
    """From a pipe that stays open, each whole line comes out, named, before the next goes in."""
    into, source = os.pipe()
    out, sink = os.pipe()
    with (
        os.fdopen(into, "rb") as reading,
        os.fdopen(sink, "wb") as writing,
        os.fdopen(source, "wb", 0) as log,
        os.fdopen(out, "rb") as result,
    ):
        worker = threading.Thread(target=rewrite, args=(reading, writing, Everybody()))
        worker.start()
        for line, want in ((FRAME, NAMED), (b"plain\n", b"plain\n"), (FRAME, NAMED)):
            log.write(line)
            assert result.read(len(want)) == want
        log.close()
        worker.join(60)
        assert not worker.is_alive()


@pytest.mark.spec("LOG-1")
def test_a_report_that_does_not_end_is_not_waited_for_for_ever():
    """Frames that wait for their list of images are written once MAX_HELD bytes have come."""
    frame = b"0   x   0x0000000100001000 0x100000000 + 4096\n"
    other = b"a line of other things\n"
    sink = io.BytesIO()
    engine = Engine(sink.write, Everybody(), Wording(str, inlines=False))
    engine.feed(frame)
    assert sink.getvalue() == b""
    engine.feed(other * (MAX_HELD // len(other) + 1))
    assert sink.getvalue().startswith(b"0   x   0x0000000100001000 f+0x1 (/src/f.c:2:3)\na line")


STREAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (300 << 20,) * 2)
from okld.syms.logs.engine import rewrite
from okld.syms.logs.resolver import Resolver
from okld.syms.modules import Modules
rewrite(sys.stdin.buffer, sys.stdout.buffer, Resolver(Modules()))
"""


def streamed(blocks):
    """Return the digests of what goes into, and comes out of, a process of little memory."""
    command = [sys.executable, "-c", STREAM]
    before, after = hashlib.sha256(), hashlib.sha256()

    def write():
        for block in blocks:
            before.update(block)
            process.stdin.write(block)
        process.stdin.close()

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        writer = threading.Thread(target=write)
        writer.start()
        while block := process.stdout.read(1 << 20):
            after.update(block)
        writer.join()
    assert process.returncode == 0
    return before.hexdigest(), after.hexdigest()


@pytest.mark.spec("LOG-1")
def test_a_log_of_256_mib():
    """It passes through a process that may not have 300 MiB of addresses in all."""
    line = (
        b"2024-05-01T12:00:00.123Z INFO  server.request method=GET path=/api/v1 status=200 x=%d\n"
    )
    block = b"".join(line % i for i in range(12_000)) + b"    #0 0x1000  (/nowhere/x+0x1000)\n"
    before, after = streamed(block for _ in range((256 << 20) // len(block)))
    assert before == after


@pytest.mark.spec("LOG-1")
def test_a_line_of_100_mb():
    """So does a single line of 100 MB, with no end, and what looks like frames in it."""
    block = b"#1 0x1000  (/nowhere/x+0x1000) \0\xff" * 30_000
    before, after = streamed(block for _ in range(100_000_000 // len(block) + 1))
    assert before == after
