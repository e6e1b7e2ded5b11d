"""What tools really print of a crash, rewritten: each frame has the line of its call."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "crashes.c"
NUMBERS = {
    match[1]: number
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
    if (match := re.search(r"/\* in (\w+) \*/", line))
}
CALLS = [(name, NUMBERS[name]) for name in ("crash", "caller", "main")]


@pytest.fixture
def build(tmp_path):
    """Build the program that crashes."""

    def run(*options: str) -> Path:
        output = tmp_path / "crashes"
        flags = ["-O2", "-g", "-fno-align-functions", "-fno-optimize-sibling-calls"]
        subprocess.run(["gcc", *flags, *options, SOURCE, "-o", output], check=True)
        return output

    return run


def calls(files, log, given=()):
    """Return the functions of *crashes.c* in a rewritten log, with their lines."""
    named = files.rewrite(log, given=given).decode()
    found = re.findall(r"(\w+)(?:\+0x[0-9a-f]+)? (?:\(\) )?\(\S*/crashes\.c:(\d+)", named)
    return [(name, int(line)) for name, line in found]


@pytest.mark.spec("LOG-6")
@pytest.mark.parametrize("model", ["-pie", "-no-pie"])
def test_address_sanitizer(files, build, model):
    """Its addresses lie in the calls, and count from the load bias."""
    program = build("-fsanitize=address", model, *["-fPIE"] * (model == "-pie"))
    done = subprocess.run([program], capture_output=True, env={"ASAN_OPTIONS": "symbolize=0"})
    log = done.stderr.partition(b"is located")[0]
    assert done.returncode != 0
    assert calls(files, log, [("crashes", str(program))]) == CALLS


@pytest.mark.spec("LOG-7")
@pytest.mark.parametrize("model", ["-pie", "-no-pie"])
def test_backtrace_in_a_handler(files, build, model):
    """The frame after the signal's is exact, all others are return addresses."""
    program = build(model, *["-fPIE"] * (model == "-pie"))
    done = subprocess.run([program, "x"], capture_output=True)
    given = [("crashes", str(program)), ("libc.so.6", libc())]
    want = [("handler", NUMBERS["handler"]), *CALLS]
    assert calls(files, done.stderr, given) == want


def libc():
    """Return the path of the C library that programs are run with."""
    said = subprocess.check_output(["ldd", "/bin/sh"], text=True)
    return next(line.split()[2] for line in said.splitlines() if "libc.so.6" in line)


@pytest.mark.spec("LOG-10", "LOG-4")
def test_gdb(files, build, tmp_path):
    """A stripped program in gdb, whose maps are listed before the frames."""
    program = build("-pie", "-fPIE")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    script = ["run", "info proc mappings", "bt 3"]
    words = [word for line in script for word in ("-ex", line)]
    done = subprocess.run(
        [
            "gdb",
            "-nx",
            "-batch",
            "-iex",
            "set debuginfod enabled off",
            *words,
            "--args",
            stripped,
            "x",
        ],
        capture_output=True,
    )
    assert done.stdout.count(b" in ?? ()") == 4  # the first before the maps
    assert calls(files, done.stdout, [("stripped", str(program))]) == CALLS
