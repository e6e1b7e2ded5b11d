"""
The installed commands, images to run, and both processors to run them on.

For the conftest.py of a room that says with a fixture `sources` where its images' sources are.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "testdata/images"
COMPILERS = {"x86_64": "gcc", "aarch64": "aarch64-linux-gnu-gcc"}
COMMANDS = Path(sys.executable).parent
"""The commands are those that were installed with this Python: what users run is what is tested."""

SMALL = ("abort", "stream", "memory", "env", "time", "random")
"""What the host program answers that lacks the rest."""

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if name not in ("OKRUN_PROF", "PYTHONPATH", "PYTHONUNBUFFERED", "CC")
}


@pytest.fixture(scope="session")
def command():
    """Return the path of an installed command."""

    def command(name):
        path = COMMANDS / name
        assert path.exists(), f"{name} is not installed next to {sys.executable}"
        return str(path)

    return command


@pytest.fixture(scope="session")
def build(command, sources, tmp_path_factory):
    """Return a function from a name to an image: committed, or built once of a source."""
    folder = tmp_path_factory.mktemp("images")

    def build(name, machine="x86_64"):
        committed = COMMITTED / f"{name}.{machine}.ok"
        if committed.exists():
            return committed
        image = folder / f"{name}.{machine}.ok"
        if not image.exists():
            words = [command("okld"), "build", sources / f"{name}.c", "-o", image]
            subprocess.run(words, check=True, env=CLEAN | {"CC": COMPILERS[machine]})
        return image

    return build


def _folder_of_all_workers(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def aarch64_host(tmp_path_factory):
    """Return the path of okhost for AArch64, with okhost-impl beside it, built once for all."""
    folder = _folder_of_all_workers(tmp_path_factory)
    build = folder / "okhost-aarch64"
    env = CLEAN | {"PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}
    with open(folder / "okhost-aarch64.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (build / "okhost-impl").exists():
            cross = ROOT / "tests/host/aarch64.ini"
            setup = ["meson", "setup", "--cross-file", cross, build, ROOT]
            subprocess.run(setup, check=True, env=env, stdout=subprocess.PIPE)
            compile_it = ["meson", "compile", "-C", build, "okhost", "okhost-impl"]
            subprocess.run(compile_it, check=True, env=env, stdout=subprocess.PIPE)
    return build / "okhost"


def _host(tmp_path_factory, name, flags, list_of_it=(), more=()):
    """Return the path of a host program that is made with these flags, once for all workers."""
    folder = _folder_of_all_workers(tmp_path_factory) / f"okhost-{name}"
    program, made = folder / "okhost", folder / "okhost.new"
    host = ROOT / "okrun/host"
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            folder.mkdir(exist_ok=True)
            generate = [sys.executable, ROOT / "okld/iface/generate.py"]
            subprocess.run([*generate, "--list", folder / "surface.gen.h", *list_of_it], check=True)
            sources = [*host.glob("*.c"), *host.glob("kal/*.c"), host / "enter_x86_64.S", *more]
            always = ["-std=gnu11", "-pthread", "-fno-omit-frame-pointer"]
            include = [f"-I{place}" for place in (folder, host, ROOT / "okld/sdk/include")]
            words = ["gcc", *always, *flags, *include, *sources, "-o", made]
            subprocess.run(words, check=True)
            made.rename(program)
    return program


@pytest.fixture(scope="session")
def small_host(tmp_path_factory):
    """Return the path of a host program that answers few interfaces."""
    hosted = ["--hosted", ",".join(SMALL)]
    return _host(tmp_path_factory, "small", ["-fPIE", "-static-pie"], hosted)


@pytest.fixture(scope="session")
def sanitized_host(tmp_path_factory):
    """Return the path of a host program under AddressSanitizer and UndefinedBehaviorSanitizer."""
    flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    return _host(tmp_path_factory, "sanitized", flags)


@pytest.fixture(scope="session")
def interrupted_host(tmp_path_factory):
    """Return the path of a host program that a signal of a timer interrupts every millisecond."""
    flags = ["-O2", "-fPIE", "-static-pie", f"-I{ROOT / 'tests/host'}"]
    return _host(tmp_path_factory, "interrupted", flags, more=[ROOT / "tests/faults/storm.c"])


class Runner:
    """Runs images of one processor with the installed ``okrun``."""

    def __init__(self, okrun, build, machine, options=()):
        self.machine = machine
        self.options = list(map(str, options))
        self._okrun = okrun
        self._build = build

    def image(self, name):
        """Return the path of an image of these tests."""
        return self._build(name, self.machine)

    def words(self, image, *args, options=()):
        """Return the command that runs an image: a name of these tests, or a path."""
        if isinstance(image, str) and re.fullmatch("[a-z-]+", image):
            image = self.image(image)
        return [self._okrun, *self.options, *options, image, *args]

    def start(self, image, *args, options=(), **more):
        """Start an image and return the process."""
        more.setdefault("env", CLEAN)
        return subprocess.Popen(self.words(image, *args, options=options), **more)

    def __call__(self, image, *args, options=(), **more):
        """
        Run an image to its end; its output is captured, its input empty, where nothing else is
        said.
        """
        more.setdefault("env", CLEAN)
        for stream in ("stdout", "stderr"):
            more.setdefault(stream, subprocess.PIPE)
        if "input" not in more:
            more.setdefault("stdin", subprocess.DEVNULL)
        words = self.words(image, *args, options=options)
        return subprocess.run(words, timeout=120, check=False, **more)


@pytest.fixture
def run(command, build):
    """Run images in the installed host."""
    return Runner(command("okrun"), build, "x86_64")


@pytest.fixture(params=["x86_64", "aarch64"])
def run_on_each(request, command, build):
    """Run images in the installed host, and in an AArch64 host that is emulated."""
    options = []
    if request.param == "aarch64":
        emulator = shutil.which("qemu-aarch64")
        assert emulator is not None, "qemu-aarch64 is not installed"
        options = ["--host", request.getfixturevalue("aarch64_host"), "--emulator", emulator]
    return Runner(command("okrun"), build, request.param, options)


@pytest.fixture
def one_line():
    """Return a check that bytes are one line of okrun's."""

    def one_line(data):
        assert re.fullmatch(rb"okrun: [^\n]+\n", data), data
        return data.decode()

    return one_line
