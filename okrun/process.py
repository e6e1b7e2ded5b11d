"""An image as a child process, over the same admission, plan and host as the command."""

from __future__ import annotations

import os
import subprocess
from typing import IO, TYPE_CHECKING

from okrun.granting import close, open_grants
from okrun.hosts import runner
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
    impl: str = "",
    emulator: str = "",
    policy: str = "",
    remember: bool = True,
    dirs: Sequence[str | tuple[str, str]] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """
    Run an image and wait for its end.

    Args:
        image: The image's path, or a bundle's, ``:`` and the name of a member after it where one is
            wanted; its argv[0], as given.
        args: Its further arguments.
        env: Its whole environment; None for this process's own.
        prof: What to measure, as ``WHAT[,WHAT...][:DIR]``; OKRUN_PROF is not read, OKRUN_PROF_RUN
            is (REP-5).
        stdin: As for `subprocess.run`, like *stdout*, *stderr*, *input* and *timeout* (in seconds).
        host: A host program other than the installed one.
        impl: A library that implements the surface, bound in place of the host program's own.
        emulator: A program to run the host with.
        policy: What a bundle's signature has to be: "any", "signed" or "trusted"; the strictest of
            this, OKRUN_POLICY and the user's settings holds.
        remember: Whether a bundle's admission may be remembered, or have been.
        dirs: The directories that it is given, each ``PATH``, ``PATH=NAME`` or a tuple of both;
            None for the working directory (as ".") and "/".

    Returns:
        The image's status: what it returned or gave to ``kal_exit``, or -n when signal n ended it.

    Raises:
        OkError: If the image is refused or cannot be read, or there is no host program.
        OSError: If the system refuses to start the host.
        subprocess.TimeoutExpired: If the image did not end in *timeout*; it has been killed.
    """
    what = measuring(prof, "prof")
    grants = None if dirs is None else open_grants(dirs, ())
    try:
        start = prepare(
            os.fsdecode(image),
            what,
            host,
            impl=impl,
            policy=policy,
            remember=remember,
            grants=grants,
            runner=runner(host, impl, emulator, policy, remember),
        )
    except BaseException:
        close(grants.fds if grants else ())
        raise
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
        close(start.fds)
