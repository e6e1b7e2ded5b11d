"""Implementations of the surface in libraries, made of this directory's C files, and images."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from running import (  # noqa: F401 - fixtures
    COMPILERS,
    Runner,
    aarch64_host,
    build,
    command,
    one_line,
    run,
    small_host,
)

from okld.iface.table import FUNCTIONS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOST = ROOT / "okrun/host"
NOT_OURS = {"prof.c", "debug.c", "native.c"}
"""Files beside the native implementation's that are the runner's own."""

OVERRIDDEN = ("kal_memory_granularity", "kal_fs_info", "kal_fs_file_info")
"""Functions of the native implementation that lesser.c wraps."""

LEFT_OUT = {"version.c", "exec.c", "space.c"}
"""Files of the native implementation that the lesser one has not."""

Library = Callable[..., Path]


@pytest.fixture(scope="session")
def sources():
    """Return where the sources of this room's images are."""
    return HERE / "src"


def compile_all(machine: str, place: Path, sources: list[Path], options: tuple[str, ...]) -> None:
    """Compile files for a library, in a directory of their own."""
    place.mkdir(parents=True)
    generate = [sys.executable, ROOT / "okld/iface/generate.py", "--list", place / "surface.gen.h"]
    subprocess.run(generate, check=True)
    include = [f"-I{path}" for path in (place, HOST, HOST / "kal", ROOT / "okld/sdk/include")]
    # A library has no thread-local storage of the model that okhost's own is of.
    flags = ["-std=gnu11", "-O1", "-g", "-fPIC", "-fno-omit-frame-pointer", "-Dtls_model(model)="]
    words = [COMPILERS[machine], *flags, *include, *options, "-c", *sources]
    subprocess.run(words, cwd=place, check=True)


def compile_implementation(name: str, machine: str, place: Path) -> None:
    """Compile what the implementation of that name is made of."""
    if name == "told":
        compile_all(machine, place, [HERE / "told.c"], ())
        return
    lesser = name == "lesser"
    without = NOT_OURS | LEFT_OUT if lesser else NOT_OURS
    native = [path for path in HOST.glob("kal/*.c") if path.name not in without]
    renamed = [f"-D{n}=native_{n.removeprefix('kal_')}" for n in OVERRIDDEN if lesser]
    compile_all(machine, place / "native", native, tuple(renamed))
    runner = [HOST / f"{part}.c" for part in ("map", "plan", "text")]
    compile_all(machine, place / "glue", [HERE / "glue.c", *runner], ())
    if lesser:
        compile_all(machine, place / "lesser", [HERE / "lesser.c"], ())


@pytest.fixture(scope="session")
def library(tmp_path_factory) -> Library:
    """
    Return a call that makes an implementation, once, and gives its path.

    It is `told`, or the native one in a library: `native` as it is, or `lesser`; and that again
    without some functions.
    """
    folder = tmp_path_factory.mktemp("libraries")

    def library(name: str, machine: str = "x86_64", lacking: tuple[str, ...] = ()) -> Path:
        place = folder / f"{name}-{machine}"
        if not place.exists():
            compile_implementation(name, machine, place)
        path = folder / f"{'-'.join((name, *lacking))}.{machine}.so"
        if not path.exists():
            script = path.with_suffix(".map")
            names = "; ".join(["okrun_impl_begin", *(n for n in FUNCTIONS if n not in lacking)])
            script.write_text(f"{{ global: {names}; local: *; }};\n")
            words = [COMPILERS[machine], "-shared", "-pthread", f"-Wl,--version-script={script}"]
            subprocess.run([*words, *place.rglob("*.o"), "-o", path], check=True)
        return path

    return library


class Runners:
    """
    Runs images of one processor, as the host program is built and by libraries.

    Attributes:
        machine: The processor.
        root: What images find as "/".
    """

    def __init__(self, make: tuple[object, ...], root: str, host: Path | None, emulator: Path):
        self.machine, self.root = str(make[-1]), root
        self._make, self._host, self._emulator = make, host, emulator

    def __call__(self, library: Path | None = None) -> Runner:
        """Return what runs images by a library, or by the host program's own implementation."""
        options: list[object] = ["--impl", library] if library else []
        if self._host:
            host = self._host.with_name("okhost-impl") if library else self._host
            options += ["--host", host, "--emulator", self._emulator]
        return Runner(*self._make, options)


@pytest.fixture(params=["x86_64", "aarch64"])
def runners(request, command, build, tmp_path_factory):  # noqa: F811 - they are fixtures
    """Return Runners of this processor, and of an emulated one."""
    host, root, emulator = None, "/", tmp_path_factory.mktemp("emulator") / "qemu"
    if request.param == "aarch64":
        host, root = request.getfixturevalue("aarch64_host"), "/usr/aarch64-linux-gnu"
        # okhost-impl and libraries need a C library, which qemu looks for beneath another root.
        emulator.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L {root} "$@"\n')
        emulator.chmod(0o755)
    return Runners((command("okrun"), build, request.param), root, host, emulator)
