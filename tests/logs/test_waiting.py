"""Frames that come before what they are read with wait for it, so long and no longer."""

from __future__ import annotations

import io

import pytest

from okld.syms.answer import Found
from okld.syms.logs.engine import MAX_HELD, Engine
from okld.syms.logs.kernel import MAX_WAIT
from okld.syms.logs.wording import Wording

RELEASE = b"6.1.0-57-test"
FRAME = b"WARNING: CPU: 0 PID: 1 at fs/x.c:12 helper+0x0/0x2\n"
MODULE = b" outer+0x<<after_middle-outer>>/0x<<die-outer>> [my_mod]\n"
OTHER = b"a line of other things\n"
TELLING = {
    "oops": b"CPU: 1 PID: 42 Comm: cat Tainted: G           OE      %s #1 Debian 6.1.1\n",
    "clean": b"CPU: 1 PID: 42 Comm: x y Not tainted %s #1\n",
    "old": b"Pid: 1, comm: swapper Not tainted %s #1\n",
    "hung task": b"[  242.1]       Not tainted %s #1\n",
    "tainted hung task": b"[  242.1]       Tainted: G        W         %s #1\n",
    "lockdep": b"[    1.2] %s #1 Not tainted\n",
    "tainted lockdep": b"[    1.2] %s #1 Tainted: G        W        \n",
    "boot": b"[    0.0] Linux version %s (x@y) (gcc 12) #1 SMP\n",
    "perf": b"# os release : %s\n",
}


class Feed:
    """An engine, and what it has written since the last look."""

    def __init__(self, resolver):
        self._sink = io.BytesIO()
        self._engine = Engine(self._sink.write, resolver, Wording(str, inlines=False))
        self.finish = self._engine.finish

    def __call__(self, lines: bytes) -> bytes:
        self._engine.feed(lines)
        return self.written()

    def written(self) -> bytes:
        data = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return data


class Asked:
    """Knows everything; an answer is called as what was asked."""

    def resolve(self, query):
        name = f"{query.module}@{query.release}@{query.build_id}"
        return (Found(name, 1, value=0, size=9, kind="function", symbol=name),)

    def is_trampoline(self, query):
        return False


@pytest.fixture
def feed():
    return Feed(Asked())


@pytest.mark.spec("LOG-12")
@pytest.mark.parametrize("told", TELLING.values(), ids=TELLING)
def test_a_release_that_comes_after_the_frames(files, told):
    """The first lines of a report get the names of the kernel that a later one tells."""
    told = told % RELEASE
    log = files.fill(FRAME + b"Modules linked in: my_mod\n" + MODULE + told + OTHER)
    sources = files.rewrite(log).splitlines()
    assert sources[0].startswith(FRAME[:-1] + b" (/src/program.c:")
    assert b" [my_mod]" in sources[2]
    assert b" (/src/program.c:" in sources[2]
    assert files.rewrite(told + FRAME) == told + sources[0] + b"\n"
    assert sources[3:] == [told[:-1], OTHER[:-1]]


@pytest.mark.spec("LOG-12")
def test_what_tells_no_release():
    """Is text that only looks so."""
    for line in (
        b"a painted wall of 1.2 #3\n",
        b"Not tainted food, 6.1 #1\n",
        b"the version 1.2 #3 was tainted\n",
    ):
        feed = Feed(Asked())
        assert feed(FRAME + line) == b""
        feed.finish()
        assert feed.written().startswith(FRAME[:-1] + b" vmlinux@@+0x1\n")


@pytest.mark.spec("LOG-12")
def test_a_build_id_that_comes_after_the_frames(feed):
    """The kernel's own frames get it; those of modules keep the ones that they have."""
    module = b" f+0x1/0x2 [m %s]\n" % (b"ab" * 20)
    told = b"CPU: 0 PID: 1 Comm: x Not tainted 6.1 #1 SMP %s\n" % (b"cd" * 20)
    assert feed(FRAME + module) == b""
    first, second, third = feed(told).splitlines(True)
    assert b"vmlinux@6.1@" + b"cd" * 20 in first
    assert b"m@6.1@" + b"ab" * 20 in second
    assert third == told


@pytest.mark.spec("LOG-12", "LOG-1")
def test_a_release_is_not_waited_for_for_ever(feed):
    """Of a log that has none MAX_WAIT lines are held back, once, and in order."""
    assert feed(FRAME + OTHER * (MAX_WAIT - 1)) == b""
    written = feed(OTHER)
    assert written.startswith(FRAME[:-1] + b" vmlinux@@+0x1\na line")
    assert written.count(b"\n") == MAX_WAIT + 1
    assert feed(FRAME).startswith(FRAME[:-1])
    told = TELLING["clean"] % RELEASE
    assert feed(told) == told
    assert b"vmlinux@6.1.0-57-test@" in feed(FRAME)


@pytest.mark.spec("LOG-1", "LOG-18")
def test_long_lines_end_the_wait(feed):
    """No more than MAX_HELD bytes are held back."""
    line = b"x" * 100_000 + b"\n"
    written = feed(FRAME + line * (MAX_HELD // len(line)))
    written += feed(line)
    assert written.startswith(FRAME[:-1] + b" vmlinux")
    assert written.count(line) == MAX_HELD // len(line) + 1


@pytest.mark.spec("LOG-12")
def test_a_report_without_a_release_says_so(files):
    """The log has none, and the note is right."""
    said = []
    assert files.rewrite(FRAME + OTHER, said=said) == FRAME + OTHER
    assert said == [
        "vmlinux: the log has not told the kernel's release (--module vmlinux=FILE names a file)"
    ]
    said = []
    files.rewrite(FRAME + TELLING["clean"] % RELEASE, said=said)
    assert said == []


@pytest.mark.spec("LOG-5", "LOG-15")
def test_two_waits_at_once(feed):
    """A report within lines that are held back for another reason is read with its own end."""
    crash = b"    #0 f+0x1 (prog+0x10)\n    #1 prog+0x20\nokld symbolize /%s/prog 0x10 0x1f\n"
    apple = b"0   a   0x0000000100001000 0x100000000 + 4096\n"
    images = b"0x100000000 - 0x100003fff prog (0) <%s> /opt/prog\n\n" % (b"0" * 32)
    assert feed(FRAME + crash % b"one" + crash % b"two" + apple + images) == b""
    lines = feed(TELLING["clean"] % RELEASE).splitlines()
    assert b"vmlinux@6.1.0-57-test@" in lines[0]
    assert [b"/one/prog@" in line for line in lines[1:4]] == [True, True, False]
    assert [b"/two/prog@" in line for line in lines[4:7]] == [True, True, False]
    assert b"/opt/prog@@" in lines[7]


@pytest.mark.spec("LOG-5")
@pytest.mark.parametrize("frame", ["okhost", "implementation", "0x7f0000001234"])
def test_frames_elsewhere_are_part_of_a_report(feed, frame):
    """Whatever a frame of the report is in, the command after it has the path for all."""
    report = f"    #0 prog+0x10\n    #1 {frame}\n    #2 prog+0x20\n    ...\n".encode()
    assert feed(report) == b""
    lines = feed(b"okld symbolize /opt/prog 0x10 0x1f\n").splitlines()
    assert [b"/opt/prog@@" in line for line in lines] == [True, False, True, False, False]


@pytest.mark.spec("LOG-5", "LOG-1")
def test_a_report_is_written_with_its_last_line(feed):
    """Nothing behind it is waited for; and frames that have a path wait for no command."""
    assert feed(b"okrun: prog: SIGSEGV\n    pc 0x10 sp 0x20 fp 0x30\n") != b""
    assert feed(b"    #0 prog+0x10\n") == b""
    assert feed(b"okld symbolize /opt/prog 0x10\n").count(b"\n") == 2
    assert feed(b"#1 /opt/prog+0x10\n") != b""
