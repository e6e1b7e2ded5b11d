"""The flags for other build systems."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from okld.base.view import View
from okld.iface.need import interfaces_of, require_declared
from okld.image.shape import read_shape
from okld.sdk.flags import cflags, ldflags

SOURCE = """
#include <openkal/stream.h>
int main(int argc, char** argv)
{
    return kal_stream_write(kal_stdout(), argv[0], (kal_uintptr)argc) != argc;
}
"""


@pytest.mark.spec("SDK-4")
@pytest.mark.parametrize(
    ("target", "cc"),
    [
        ("x86_64", "gcc"),
        ("x86_64", "g++"),
        ("x86_64", "clang"),
        ("x86_64", "clang++ -Wno-deprecated"),
        ("aarch64", "aarch64-linux-gnu-gcc"),
        ("aarch64", "clang --target=aarch64-linux-gnu -fuse-ld=lld"),
    ],
)
def test_flags_make_an_image(write, tmp_path, target, cc):
    """Compiling with one and linking with the other makes what the gate admits."""
    source = write("x.cc" if "++" in cc else "x.c", SOURCE)
    script = f"""
        cd {shlex.quote(str(tmp_path))}
        {cc} $CFLAGS -c {source.name} -o x.o && {cc} x.o $LDFLAGS -o x.ok
    """
    environment = {"CFLAGS": " ".join(cflags(target)), "LDFLAGS": " ".join(ldflags(target))}
    subprocess.run(["sh", "-ec", script], check=True, env={"PATH": "/usr/bin:/bin"} | environment)
    shape = read_shape(View.of_bytes((tmp_path / "x.ok").read_bytes()))
    interfaces = interfaces_of(shape)
    require_declared(interfaces)
    assert shape.arch == target
    assert interfaces.required == ("openkal.stream", "openkal.env")
