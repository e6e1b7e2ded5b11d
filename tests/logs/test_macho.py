"""Crash reports of macOS on real programs of it: the slice is chosen by what the log says."""

from __future__ import annotations

import subprocess

import pytest

SOURCE = """
int sink;
__attribute__((noinline)) void first(void) { sink = 1; }
__attribute__((noinline)) void second(void) { sink = 2; first(); sink = 3; }
"""


@pytest.fixture(scope="module")
def fat(tmp_path_factory):
    """Build a library of two architectures; return it, and of each the UUID and the symbols."""
    here = tmp_path_factory.mktemp("macho")
    (here / "two.c").write_text(SOURCE)
    parts = {}
    for arch in ("arm64", "x86_64"):
        piece, part = here / f"{arch}.o", here / f"{arch}.dylib"
        target = ["-target", f"{arch}-apple-macos11", "-O1", "-c", here / "two.c", "-o", piece]
        subprocess.run(["clang-19", *target], check=True)
        flags = ["-dylib", "-arch", arch, "-platform_version", "macos", "11.0", "11.0"]
        subprocess.run(["ld64.lld-19", *flags, "-o", part, piece], check=True)
        said = subprocess.check_output(["llvm-objdump-19", "--macho", "--private-headers", part])
        uuid = next(line.split()[1] for line in said.decode().splitlines() if " uuid " in line)
        names = subprocess.check_output(["llvm-nm-19", part], text=True).splitlines()
        symbols = {line.split()[-1]: int(line.split()[0], 16) for line in names if line[0] == "0"}
        parts[arch] = (uuid, symbols)
    output = here / "two.dylib"
    inputs = [here / f"{arch}.dylib" for arch in parts]
    subprocess.run(["llvm-lipo-19", "-create", *inputs, "-output", output], check=True)
    return output, parts


def report(offset, *, uuid, arch, path):
    base = 0x10B9F0000
    return (
        f"0   two.dylib   0x{base + offset:016x} 0x{base:x} + {offset}\n"
        "\nBinary Images:\n"
        f"       0x{base:x} -        0x{base + 0xFFFF:x} two.dylib {arch} <{uuid}> {path}\n"
    ).encode()


@pytest.mark.spec("LOG-15")
@pytest.mark.parametrize("arch", ["arm64", "x86_64"])
def test_a_slice_by_uuid(files, fat, arch):
    """The UUID of the list of images says which program of a fat file is meant."""
    path, parts = fat
    uuid, symbols = parts[arch]
    log = report(symbols["_second"] + 4, uuid=uuid, arch="", path=path)
    named = files.rewrite(log, given=[("two.dylib", str(path))])
    assert named.splitlines()[0].endswith(b" second+0x4")


@pytest.mark.spec("LOG-17")
def test_another_uuid(files, fat):
    """A file that has no program of the log's UUID is another build: no name, and a note."""
    path, parts = fat
    said = []
    symbols = parts["arm64"][1]
    log = report(symbols["_second"] + 4, uuid="f" * 32, arch="arm64", path=path)
    assert files.rewrite(log, given=[("two.dylib", str(path))], said=said) == log
    assert len(said) == 1
