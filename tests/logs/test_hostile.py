"""Logs made to hurt: much of everything, and lines on which patterns could go back and forth."""

from __future__ import annotations

import subprocess
import sys

import pytest

HOSTILE = {
    "words": b"a" * 16_000,
    "digits": b"#" + b"1" * 16_000,
    "numbers": b"#1 " * 5_000,
    "frames": b"#1 0x1 in " * 1_600,
    "brackets": b"#1 0x1 in (" + b" (" * 8_000,
    "closing": b"#0  0x1 in f " + b"()" * 4_000 + b") from /" * 1_000,
    "offsets": b"+0x1" * 4_000,
    "modules": b"/a+0x1 " * 2_300,
    "long module": b"x/" * 2_000 + b"(+0x1)" + b"+0x1" * 2_000,
    "named": b"f+0x1/0x1" * 1_800,
    "kernel": b"Comm: 1.1 #" * 1_400,
    "releases": b"Comm: " + b" 1.1" * 4_000 + b" 0x",
    "tainted": b"Tainted: " + b"G " * 7_900 + b"1.1",
    "painted": b"1." * 7_900 + b" #1 ainted",
    "versions": b" 1.1 #1" * 2_200 + b" ainted",
    "warnings": b"WARNING: at " * 1_000 + b"f+0x1/0x2",
    "addresses": b"0xffffffff81000000 " * 800,
    "spaces": b"#1" + b" " * 16_000 + b"pc 0x",
    "paths": b"#01 pc 0000000000012345  " + b"(+1" * 5_000,
    "perf": b"\t1 " + b": 1 " * 4_000 + b" [unknown] (/x)",
    "events": b": PERF_RECORD_MMAP 1/1: [0x1(0x1) @ 0x1" + b"x" * 16_000,
    "maps": b"1000-2000 r-xp " + b"0" * 16_000,
    "images": b"0 " + b"a " * 8_000 + b"0x1 0x1 + ",
    "listed": b" 0x1 - 0x2 " + b"( ) " * 4_000 + b" + 0x1",
    "strings": b'{"imageOffset":' + b'"\\' * 500_000,
    "objects": b'{"imageOffset":1' * 60_000,
    "frames of json": b'{"imageOffset":1,"imageIndex":1},' * 30_000,
    "glibc": b"(" * 8_000 + b"[0x1]",
    "null": b"#1 " + b"a <null> " * 1_700,
    "dumps": b"#1 0x1 n/a " + b"(a " * 5_000 + b"+ 0x1)",
}

PASS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (500 << 20,) * 2)
from okld.syms.logs.engine import rewrite
from okld.syms.logs.resolver import Resolver
from okld.syms.modules import Modules
said = []
counts = rewrite(sys.stdin.buffer, sys.stdout.buffer, Resolver(Modules(), say=said.append))
print(counts.named, counts.missed, len(said), file=sys.stderr)
"""


def run(log):
    done = subprocess.run([sys.executable, "-c", PASS], input=log, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == log
    return [int(word) for word in done.stderr.split()]


@pytest.mark.spec("LOG-18")
@pytest.mark.parametrize("name", HOSTILE)
def test_no_pattern_goes_back_and_forth(name):
    """A MiB of lines that invite it passes within a limit that only powers of its length break."""
    line = HOSTILE[name] + b"\n"
    run(line * max(1, (1 << 20) // len(line)))


@pytest.mark.spec("LOG-18")
def test_modules_without_end():
    """Each is asked for, little of them is remembered, and messages end after some."""
    log = b"".join(b"    #0 0x1000  (/nowhere/lib%d.so+0x1000)\n" % i for i in range(50_000))
    named, missed, said = run(log)
    assert (named, missed) == (0, 50_000)
    assert said == 32


@pytest.mark.spec("LOG-18")
def test_a_trace_without_end():
    """A report of okrun, of macOS and of a kernel, each of frames alone, pass in bounded memory."""
    for line in (
        b"    #1 f+0x1 (x+0x1)\n",
        b"1   x   0x0000000100001000 0x100000000 + 4096\n",
        b"[    1.0] RIP: 0010:0xffffffff81234567\n",
    ):
        run(line * 30_000)


@pytest.mark.spec("LOG-18")
def test_maps_without_end():
    """Only so many mappings are kept."""
    log = b"".join(
        b"%x-%x r-xp 00000000 fe:00 1 /nowhere/%d\n" % (i << 12, (i + 1) << 12, i)
        for i in range(1 << 16, 5 << 15)
    )
    run(log)
