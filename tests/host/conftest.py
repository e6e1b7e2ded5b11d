"""Programs made of the host's C files and of a test's: with sanitizers, and for AArch64."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from running import small_host  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[2]
HOST = ROOT / "okrun" / "host"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion"]
COMPILERS = {
    "sanitized": ["gcc", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "aarch64": ["aarch64-linux-gnu-gcc", "-O2", "-fPIE", "-static-pie"],
}
PROCESSORS = {"sanitized": "x86_64", "aarch64": "aarch64"}
EMULATORS = {"sanitized": [], "aarch64": ["qemu-aarch64"]}

Build = Callable[..., list[str]]


@pytest.fixture(scope="session", params=COMPILERS)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """
    Return a call that makes a program, once, and gives the command that runs it.

    It takes the test's C file and the names of the host's files, without `.c`; `enter` is the
    processor's.
    """
    place = tmp_path_factory.mktemp(request.param)
    generate = [sys.executable, ROOT / "okld" / "iface" / "generate.py"]
    subprocess.run([*generate, "--list", place / "surface.gen.h"], check=True)
    include = ["-I", place, "-I", HOST, "-I", ROOT / "okld" / "sdk" / "include"]

    def make(test: str, *host: str) -> list[str]:
        program = place / Path(test).stem
        if not program.exists():
            files = {"enter": f"enter_{PROCESSORS[request.param]}.S"}
            sources = [Path(__file__).with_name(test)]
            sources += [HOST / files.get(name, f"{name}.c") for name in host]
            flags = ["-std=gnu11", "-fno-omit-frame-pointer", *WARNINGS, *include]
            compiler = COMPILERS[request.param]
            subprocess.run([*compiler, *flags, *sources, "-pthread", "-o", program], check=True)
        return [*EMULATORS[request.param], str(program)]

    return make
