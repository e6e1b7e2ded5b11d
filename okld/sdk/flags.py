"""
The options with which any C compiler makes ok images.

Source: SPEC SDK-4; IMG-11 to IMG-15 for what the linker is told.
"""

from __future__ import annotations

import os

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "include")
SCRIPT = os.path.join(HERE, "image.ld")
RUNTIME = (os.path.join(HERE, "start.c"), os.path.join(HERE, "mem.c"))
TARGETS = ("x86_64", "aarch64")

_COMPILE = (
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-plt",  # a call of kal_x is one call through the GOT
    "-fno-omit-frame-pointer",  # crash reports walk frame pointers,
    "-mno-omit-leaf-frame-pointer",  # and begin in a leaf as often as not
    "-fno-stack-protector",  # its guard and its failure are a C library's
    "-U_FORTIFY_SOURCE",
    "-ffunction-sections",
    "-fdata-sections",
)
_COMPILE_FOR = {
    "x86_64": (),
    "aarch64": ("-mno-outline-atomics",),  # their helpers ask a C library for the processor
}
LINK = (
    "-shared",
    "-nostdlib",
    "-T",
    SCRIPT,
    "-Wl,--build-id=sha1",
    "-Wl,--gc-sections",
    "-Wl,--hash-style=gnu",
    "-Wl,--no-eh-frame-hdr",
    "-Wl,-z,max-page-size=65536",
    "-Wl,-z,noexecstack",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,text",
    "-lgcc",
)
"""What the linker is told, to stand after the objects and `RUNTIME`."""

CPLUSPLUS = (
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-use-cxa-atexit",
    "-fsized-deallocation",  # kal_free wants the size
)
"""What C++ sources need besides: the features that are off call a C++ library."""


def native() -> str:
    """Return this machine's processor, as `TARGETS` names them."""
    return os.uname().machine


def cflags(target: str | None = None) -> list[str]:
    """
    Return the options to compile with.

    Args:
        target: The processor, of `TARGETS`; this machine's when None.

    Raises:
        KeyError: If *target* is not of `TARGETS`.
    """
    return ["-isystem", INCLUDE, *_COMPILE, *_COMPILE_FOR[target or native()]]


def ldflags(target: str | None = None) -> list[str]:
    """
    Return the options and sources to link with, to stand after the objects; they hold `cflags`.

    The start code is among them as a source, so that one copy serves every target.

    Raises:
        KeyError: If *target* is not of `TARGETS`.
    """
    return [*cflags(target), "-O2", "-x", "c", *RUNTIME, "-x", "none", *LINK]
