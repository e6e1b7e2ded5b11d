"""An image as a child process, over the same admission, plan and host as the command."""

from __future__ import annotations

import os
import subprocess
from typing import IO, TYPE_CHECKING

from okrun.launch import prepare
from okrun.measuring import measuring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Stream = int | IO[bytes] | None


def run(
    image: str | bytes | os.PathLike[str],
    args: Sequence[str | bytes] = (),
    *,
    env: Mapping[str, str] | None = None,
    prof: str = "",
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    input: bytes | None = None,
    timeout: float | None = None,
    host: str = "",
    emulator: str = "",
    policy: str = "",
    remember: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    """
    Run an image and wait for its end.

    Args:
        image: The image's path, or a bundle's, ``:`` and the name of a member after it where one is
            wanted; its argv[0], as given.
        args: Its further arguments.
        env: Its whole environment; None for this process's own.
        prof: What to measure, as ``WHAT[,WHAT...][:DIR]``; OKRUN_PROF is not read.
        stdin: As for `subprocess.run`, like *stdout*, *stderr*, *input* and *timeout* (in seconds).
        host: A host program other than the installed one.
        emulator: A program to run the host with.
        policy: What a bundle's signature has to be: "any", "signed" or "trusted"; the strictest of
            this, OKRUN_POLICY and the user's settings holds.
        remember: Whether a bundle's admission may be remembered, or have been.

    Returns:
        The image's status: what it returned or gave to ``kal_exit``, or -n when signal n ended it.

    Raises:
        OkError: If the image is refused or cannot be read, or there is no host program.
        OSError: If the system refuses to start the host.
        subprocess.TimeoutExpired: If the image did not end in *timeout*; it has been killed.
    """
    what = measuring(prof, "prof")
    start = prepare(os.fsdecode(image), what, host, policy=policy, remember=remember)
    try:
        program, command = start.command([os.fsdecode(each) for each in args], emulator)
        return subprocess.run(
            command,
            executable=program,
            pass_fds=start.fds,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            input=input,
            timeout=timeout,
        )
    finally:
        for fd in start.fds:
            os.close(fd)
