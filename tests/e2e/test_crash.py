"""An image crashes: the report on standard error, and the report of what was measured."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from okld.syms.answer import Found
from okld.syms.symbolizer import symbols

CALLS = ["crash_three", "crash_two", "crash_one", "main"]
"""Innermost first; from testdata/src/crash.c."""


@pytest.mark.spec("CRASH-1", "STAT-1")
def test_three_calls_deep(run_on_each):
    """
    The signal, the address that crash.c writes, and the calls that led there; then death by that
    signal.
    """
    done = run_on_each("crash")
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, b"")
    assert "SIGSEGV" in said.splitlines()[0]
    assert "0x10" in said.splitlines()[0]
    frames = re.findall(r"#\d+ (\w+)\+0x[0-9a-f]+ \([^ ]+\+0x[0-9a-f]+\)", said)
    assert frames[:4] == CALLS


@pytest.mark.spec("CRASH-1", "SYM-7")
def test_the_command_in_the_report(run_on_each, command):
    """The command that the report ends with gives the same names."""
    said = run_on_each("crash").stderr.decode()
    line = next(x for x in said.splitlines() if "okld symbolize" in x)
    words = shlex.split(line[line.index("okld symbolize") :])
    got = subprocess.check_output([command("okld"), *words[1:], "--json"], text=True)
    assert [json.loads(x)["name"] for x in got.splitlines()][:4] == CALLS


@pytest.mark.spec("CRASH-1", "REP-2")
def test_measured_crash(run_on_each, tmp_path):
    """
    The report of a measured run says that it ended by the signal, and has the calls until then.
    """
    done = run_on_each("crash", options=["--prof=calls:out"], cwd=tmp_path)
    assert done.returncode == -signal.SIGSEGV
    (file,) = tmp_path.glob("out/okprof-*.json")
    report = json.loads(file.read_text())
    assert report["ended"] == {"by": "signal", "status": 128 + 11, "signal": 11}
    counts = {call["name"]: call["count"] for call in report["calls"]}
    assert counts["kal_env_arg_count"] == 1


@pytest.mark.spec("SYM-7", "RI-5")
def test_one_rule_two_readers(run_on_each):
    """
    For every address of the image kal_debug_symbolize and okld give the same name and offset.
    """
    image = run_on_each.image("names")
    table = symbols(str(image))
    headers = subprocess.check_output(["readelf", "-lW", image], text=True)
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    for load in loads:
        start, end = int(load[2], 16), int(load[2], 16) + int(load[5], 16)
        done = run_on_each(image, f"{start:x}", f"{end + 16:x}", "1")
        want = []
        for address in range(start, end + 16):
            found = table.lookup(address)
            named = isinstance(found, Found)
            want.append(
                f"{address:x} {found.name} {found.offset:x}" if named else f"{address:x} -9"
            )
        assert done.stdout.decode().splitlines() == want
    assert isinstance(table.lookup(0x2001000), Found)


@pytest.mark.spec("CRASH-1")
def test_abort_in_the_host(run_on_each):
    """
    Memory that is freed twice is ended by the host's C library, which keeps no frames; the image's
    are found nevertheless.
    """
    done = run_on_each("twice")
    said = done.stderr.decode()
    assert done.returncode == -signal.SIGABRT
    assert f"twice.{run_on_each.machine}.ok: SIGABRT\n" in said
    assert re.findall(r"#\d+ (\w+)\+0x", said)[:2] == ["free_twice", "main"]


@pytest.mark.spec("CRASH-2", "REP-2")
def test_image_file_that_becomes_shorter(run, tmp_path):
    """
    A crash report looks at no code that the file may not have any more: it is written to its end,
    without names, and so is what was measured.
    """
    image = tmp_path / "shrink.ok"
    shutil.copy(run.image("shrink"), image)
    (leaf,) = (s for s in symbols(str(image)) if s.name == "read_and_crash")
    process = run.start(
        image, options=["--prof=calls:out"], cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    while "State:\tS" not in Path(f"/proc/{process.pid}/status").read_text():
        os.sched_yield()  # it still has to come to its read
    os.truncate(image, leaf.value % 0x10000 + 0x1000)  # of a file below 64 KiB, by IMG-13
    said = process.communicate(b"x", timeout=60)[1].decode().splitlines()
    assert process.returncode == -signal.SIGSEGV
    assert said[0] == "okrun: shrink.ok: SIGSEGV, nothing is mapped there (address 0x10)"
    assert said[-1].startswith(f"okld symbolize {image} {leaf.value + 14:#x} ")
    assert len(list(tmp_path.glob("out/okprof-*.json"))) == 1
