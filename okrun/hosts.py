"""The program that an image runs in: where it is, and for which processor."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okrun.admission.decide import Host

_SITE = os.path.dirname(os.path.dirname(__file__))
HOSTS = (
    os.path.dirname(os.path.dirname(os.path.dirname(_SITE))) + "/bin/okhost",
    _SITE + "/bin/okhost",
)
"""Where an installer puts the host program: beside the commands of a prefix, or of `--target`."""

_REMEDY = "reinstall okimage, or name a host program with --host PATH"


class NoHost(OkError):
    """The host program is missing, or cannot be executed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"host program: {path}: {reason}; {_REMEDY}", rule="STAT-2")


def installed_host() -> Host:
    """
    Return the host program that was installed with this package.

    Raises:
        NoHost: If there is none in any of its places; it names the first.
    """
    return find_host(next(filter(os.path.exists, HOSTS), HOSTS[0]))


def find_host(path: str) -> Host:
    """
    Return the host program at *path*, which is not executed; a path without "/" is a file of the
    working directory.

    Raises:
        NoHost: If there is none, or it is no ELF program.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            head = os.read(fd, 20)
        finally:
            os.close(fd)
    except OSError as error:
        raise NoHost(path, str(error.strerror)) from None
    if len(head) < 20 or not head.startswith(b"\x7fELF"):
        raise NoHost(path, "not an ELF program")
    # What has no "/" some ways to execute a program look for on PATH.
    program = path if "/" in path else f"./{path}"
    return Host(program, int.from_bytes(head[18:20], "little"))
