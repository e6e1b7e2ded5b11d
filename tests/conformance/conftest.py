"""The conformance suite: images that check an implementation, and what they are given."""

import fcntl
import functools
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import CLEAN, ROOT, Runner, aarch64_host, build, command  # noqa: F401 - fixtures

SOURCES = ROOT / "testdata/src/conformance"
IMAGES = sorted(path.stem for path in SOURCES.glob("*.c"))
ARGUMENTS = {"env": ["", "two words", b"\xff"]}
ENVIRONMENT = {"PATH": CLEAN["PATH"], "CONFORMANCE": "a value", "EMPTY": ""}


class Report(NamedTuple):
    """What an image said, and which functions it called (none, where that was not measured)."""

    status: int
    lines: list[str]
    errors: bytes
    called: set[str]


def pytest_generate_tests(metafunc):
    """Run a test that asks for a name with each image of the suite."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", IMAGES)


@pytest.fixture(scope="session")
def images():
    """Return the names of the suite's images."""
    return IMAGES


@pytest.fixture(scope="session")
def sources():
    """Return where the suite's sources are."""
    return SOURCES


@pytest.fixture(scope="session")
def runner(request, command, build):  # noqa: F811 - they are fixtures
    """Return a function from a processor, or a host program for it, to what runs its images."""

    def runner(machine, host=None):
        options = [] if host is None else ["--host", host]
        if machine == "aarch64":
            emulator = shutil.which("qemu-aarch64")
            assert emulator is not None, "qemu-aarch64 is not installed"
            host = request.getfixturevalue("aarch64_host")
            options = ["--host", host, "--emulator", emulator]
        return Runner(command("okrun"), build, machine, options)

    return functools.cache(runner)


def _terminal():
    """Return both ends of a terminal of 80 columns and 24 rows."""
    keyboard, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    return keyboard, terminal


def _place(folder, image):
    """Make the directory that an image is given."""
    work = folder / "work"
    work.mkdir()
    shutil.copy(image, work / "self.ok")
    (work / "nonsense").write_bytes(b"\1\2 is no program")
    (work / "nonsense").chmod(0o755)
    return work


def _talk(process, name):
    """Be the one outside that an image needs. Returns its two outputs."""
    said = b""
    if name == "process-stop":
        said = process.stderr.readline()
        assert said == b"ready\n"
        process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=240)
    return output, errors


@pytest.fixture(scope="session")
def report(runner, tmp_path_factory):
    """Return a function that runs an image of the suite, once, to its report."""

    def report(name, machine, measured=False, host=None):
        folder = tmp_path_factory.mktemp(name)
        run = runner(machine, host)
        _place(folder, run.image(name))
        options = ["--dir", "work=work", "--dir", "/dev=devices"]
        env = dict(ENVIRONMENT)
        if measured:
            options += [f"--prof=calls:{folder}/reports"]
            env["OKRUN_PROF"] = f"calls:{folder}/reports"  # for the programs that it starts
        words = run.words("work/self.ok", "self.ok", *ARGUMENTS.get(name, ()), options=options)
        ends = _terminal() if name == "terminal" else (os.open(os.devnull, os.O_RDONLY),)
        with subprocess.Popen(
            words,
            cwd=folder,
            env=env,
            stdin=ends[-1],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            output, errors = _talk(process, name)
        for end in ends:
            os.close(end)
        called = set()
        for path in folder.glob("reports/okprof-*.json"):
            called |= {call["name"] for call in json.loads(path.read_text())["calls"]}
        return Report(process.returncode, output.decode().splitlines(), errors, called)

    return functools.cache(report)


@pytest.fixture(scope="session")
def faulty_host(tmp_path_factory):
    """Return the path of a host program with the faults of faulty.c."""
    folder = tmp_path_factory.mktemp("faulty")
    host = ROOT / "okrun/host"
    faults = Path(__file__).parent / "faulty.c"
    generate = [sys.executable, ROOT / "okld/iface/generate.py", "--list", folder / "surface.gen.h"]
    subprocess.run(generate, check=True)
    files = [*host.glob("*.c"), *host.glob("kal/*.c"), host / "enter_x86_64.S", faults]
    include = [f"-I{place}" for place in (folder, host, ROOT / "okld/sdk/include")]
    wraps = {f"-Wl,--wrap={name}" for name in re.findall(r"__wrap_(\w+)", faults.read_text())}
    flags = ["-std=gnu11", "-fPIE", "-static-pie", "-pthread", "-fno-omit-frame-pointer"]
    program = folder / "okhost"
    subprocess.run(["gcc", *flags, *include, *sorted(wraps), *files, "-o", program], check=True)
    return program
