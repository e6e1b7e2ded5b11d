"""The program that an image runs in: where it is, and for which processor."""

from __future__ import annotations

import os

from okld.base import installed
from okld.base.errors import OkError
from okld.image.shape import ARCHITECTURES
from okrun.admission.decide import Host
from okrun.measuring import Usage

ELF, ET_DYN = b"\x7fELF", b"\3\0"

_REMEDY = "reinstall okimage, or name a host program with --host PATH"


class NoHost(OkError):
    """The host program is missing, or cannot be executed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"host program: {path}: {reason}; {_REMEDY}", rule="STAT-2")


def choose_host(path: str, impl: str) -> Host:
    """
    Return the host program at *path*, or the installed one: where *impl* names a library, the one
    that binds such an implementation.

    Raises:
        NoHost: If there is none, or it is no ELF program.
        Usage: IMPL-2.
    """
    host = find_host(path or installed.program("okhost-impl" if impl else "okhost"))
    if impl:
        _require_library(impl, host)
    return host


def runner(host: str, impl: str, emulator: str, policy: str, remember: bool) -> bytes:
    """
    Return the command that starts another image in the way of this start, as the plan's `runner`;
    empty where the command is not installed.

    Its files are absolute, since the other image may have another working directory and PATH.

    Raises:
        Usage: If the emulator is in no directory of PATH.

    Source: PROC-3, IMPL-6.
    """
    import sys

    commands = installed.directory()
    if not commands or not sys.executable:
        return b""
    host = os.path.abspath(host) if host else ""
    impl = os.path.abspath(impl) if impl else ""
    emulator = os.path.abspath(on_path(emulator)) if emulator else ""
    values = (
        ("--host", host), ("--impl", impl), ("--emulator", emulator), ("--policy", policy),
    )  # fmt: skip
    options = [word for name, value in values if value for word in (name, value)]
    if not remember:
        options.append("--no-cache")
    words = (sys.executable, "-I", commands + "okrun", *options)
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def on_path(program: str) -> str:
    """
    Return where an emulator is, by the rules of a shell.

    Raises:
        Usage: If it is in no directory of PATH.
    """
    if "/" in program:
        return program
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = f"{directory or '.'}/{program}"
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise Usage(f"emulator: {program}: not found on PATH")


def find_host(path: str) -> Host:
    """
    Return the host program at *path*, which is not executed; a path without "/" is a file of the
    working directory.

    Raises:
        NoHost: If there is none, or it is no ELF program.
    """
    try:
        head = _head(path)
    except OSError as error:
        raise NoHost(path, str(error.strerror)) from None
    if len(head) < 20 or not head.startswith(ELF):
        raise NoHost(path, "not an ELF program")
    # What has no "/" some ways to execute a program look for on PATH.
    return Host(path if "/" in path else f"./{path}", int.from_bytes(head[18:20], "little"))


def _head(path: str) -> bytes:
    """Return the first 20 bytes of a file: what says that it is ELF, of which type and machine."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, 20)
    finally:
        os.close(fd)


def _require_library(path: str, host: Host) -> None:
    """
    Return when *path* is a shared object of the host program's processor.

    Raises:
        Usage: IMPL-2.
    """
    try:
        head = _head(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Usage(f"--impl: {path}: {reason}", rule="IMPL-2") from None
    if len(head) < 20 or not head.startswith(ELF) or head[16:18] != ET_DYN:
        raise Usage(f"--impl: {path}: not a shared object", rule="IMPL-2")
    machine = int.from_bytes(head[18:20], "little")
    if machine != host.machine:
        made, runs = (ARCHITECTURES.get(m, f"processor {m}") for m in (machine, host.machine))
        what = f"--impl: {path}: it is for {made}, the host program for {runs}"
        raise Usage(what, rule="IMPL-2")
