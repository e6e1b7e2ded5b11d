"""The installed commands, images to run, and both processors to run them on."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "src"
COMMITTED = ROOT / "testdata/images"
COMPILERS = {"x86_64": "gcc", "aarch64": "aarch64-linux-gnu-gcc"}
COMMANDS = Path(sys.executable).parent
"""The commands are those that were installed with this Python: what users run is what is tested."""

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
def build(command, tmp_path_factory):
    """Return a function from a name to an image: committed, or built once from src/NAME.c."""
    folder = tmp_path_factory.mktemp("images")

    def build(name, machine="x86_64"):
        committed = COMMITTED / f"{name}.{machine}.ok"
        if committed.exists():
            return committed
        image = folder / f"{name}.{machine}.ok"
        if not image.exists():
            words = [command("okld"), "build", SOURCES / f"{name}.c", "-o", image]
            subprocess.run(words, check=True, env=CLEAN | {"CC": COMPILERS[machine]})
        return image

    return build


@pytest.fixture(scope="session")
def aarch64_host(tmp_path_factory):
    """Return the path of a host program for AArch64, built once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    build = folder / "okhost-aarch64"
    env = CLEAN | {"PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}
    with open(folder / "okhost-aarch64.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (build / "okhost").exists():
            cross = ROOT / "tests/host/aarch64.ini"
            setup = ["meson", "setup", "--cross-file", cross, build, ROOT]
            subprocess.run(setup, check=True, env=env, stdout=subprocess.PIPE)
            compile_it = ["meson", "compile", "-C", build, "okhost"]
            subprocess.run(compile_it, check=True, env=env, stdout=subprocess.PIPE)
    return build / "okhost"


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
