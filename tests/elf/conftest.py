"""One shared object of each class and byte order."""

from __future__ import annotations

import subprocess

import pytest

SOURCE = (
    "int shown = 3; static int hidden[5]; int f(int x) { return x + hidden[x]; } extern int other;"
)
SOURCE += " int g(void) { return other; }"
TARGETS = {
    "32, least first": ("i386-linux-gnu", 32, "<"),
    "32, most first": ("mips-linux-gnu", 32, ">"),
    "64, least first": ("x86_64-linux-gnu", 64, "<"),
    "64, most first": ("powerpc64-linux-gnu", 64, ">"),
}


@pytest.fixture(scope="session", params=TARGETS)
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bytes, int, str]:
    """Return the bytes of a shared object, its class and its byte order."""
    target, bits, order = TARGETS[request.param]
    directory = tmp_path_factory.mktemp(target)
    (directory / "a.c").write_text(SOURCE)
    abi = ["-mabi=elfv2"] if target.startswith("powerpc64") else []
    command = ["clang", f"--target={target}", *abi, "-fPIC", "-c", "a.c", "-o", "a.o"]
    subprocess.run(command, cwd=directory, check=True)
    subprocess.run(["ld.lld", "-shared", "a.o", "-o", "a.so"], cwd=directory, check=True)
    return (directory / "a.so").read_bytes(), bits, order
