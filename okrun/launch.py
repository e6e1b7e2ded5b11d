"""From a file's name to its image, running in this process: open, check, decide, plan, execute.

The file is opened once. What is checked, what the plan describes and what the host maps is that one
open file.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os
import stat

from okld.base.errors import Refusal, Unreadable
from okld.base.view import View
from okld.iface.need import interfaces_of
from okld.image.shape import read_shape
from okrun.admission.decide import decide
from okrun.admission.place import places
from okrun.admission.policy import read_policy
from okrun.hosts import NoHost, find_host, installed_host
from okrun.measuring import Usage
from okrun.plan.make import complete, outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from okrun.admission.decide import Admitted, Host
    from okrun.admission.record import Record
    from okrun.measuring import Measuring


class Start:
    """
    An image that is ready to run.

    Attributes:
        image: Its path, as it was given.
        admitted: What was admitted.
        record: What is known of it as a member of a bundle, or None.
        cache: For people: whether that was remembered, and where not, why.
        host: The program that it will run in.
        fds: The image's open file and the plan's; both above the standard streams, neither
            inherited yet.
    """

    __slots__ = ("admitted", "cache", "fds", "host", "image", "record")

    def __init__(
        self,
        image: str,
        admitted: Admitted,
        host: Host,
        fds: tuple[int, int],
        record: Record | None,
        cache: str,
    ) -> None:
        self.image = image
        self.admitted = admitted
        self.host = host
        self.fds = fds
        self.record = record
        self.cache = cache

    def command(self, args: Sequence[str], emulator: str = "") -> tuple[str, list[str]]:
        """Return the program to execute and its arguments, its own name first."""
        arguments = [str(self.fds[1]), self.image, *args]
        if emulator:
            return _on_path(emulator), [emulator, self.host.path, *arguments]
        return self.host.path, ["okhost", *arguments]


def prepare(
    image: str,
    measure: Measuring,
    host_path: str = "",
    *,
    policy: str = "",
    remember: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Start:
    """
    Check an image, or a member of a bundle, decide, and plan its start.

    Args:
        image: A path of either; after that of a bundle may stand ``:`` and the name of a member.
        measure: What is to be measured.
        host_path: A host program other than the installed one.
        policy: One that is to hold beside those of the environment and of the user's settings.
        remember: Whether the cache of admissions is used.
        progress: Called with bytes read, and of how many, while a bundle's member is hashed.

    Raises:
        NoHost: STAT-2.
        OkError: ADM-8.
        Unreadable: If the system gives no file of that name.
        Refusal: If it is no regular file, or `decide` refuses.
        FormatError: If it is neither an ok image nor a bundle.
        OSError: If the system refuses the plan its place.
    """
    host = find_host(host_path) if host_path else installed_host()
    settings, place = places(os.environ)
    policy = read_policy(policy, os.environ, settings)
    fd, path, member = _open(image)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal("", "image is not a regular file")
        record, cache, offset, name = None, "", 0, image
        if os.pread(fd, 4, 0) == b"PK\3\4":  # no image begins so
            from okrun.bundled import Request, admit

            place = place if remember else None
            request = Request(path, member, policy, settings, place, progress)
            admitted, record, cache = admit(fd, status, host, request)
            plan, offset, name = record.plan, record.offset, f"{path}:{record.member}"
        elif member:
            raise Refusal("OKB-28", f"{path} is no bundle, with a member {member}")
        else:
            shape = read_shape(View.of_fd(fd, status.st_size))
            admitted = decide(shape, interfaces_of(shape), host, policy)
            plan = outline(admitted)
        data = complete(
            plan, fd, status, offset, os.fsencode(name), measure.bits, measure.directory
        )
        return Start(image, admitted, host, (fd, _in_memory(data)), record, cache)
    except BaseException:
        os.close(fd)
        raise


def execute(
    start: Start, args: Sequence[str], emulator: str = "", env: Mapping[str, str] | None = None
) -> NoReturn:
    """
    Become the image, with the environment *env* or, byte for byte, the one of this process.

    Raises:
        NoHost: If the system cannot execute the host program.
        OSError: If it refuses for a reason that is not the program's, as with too many arguments.

    Source: RUN-7, RUN-8.
    """
    program, arguments = start.command(args, emulator)
    for fd in start.fds:
        os.set_inheritable(fd, True)
    # Python ignores these two from its start, and a disposition to ignore outlives an execve.
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
    try:
        if env is None:
            os.execv(program, arguments)
        os.execve(program, arguments, env)
    except (FileNotFoundError, PermissionError) as error:
        raise NoHost(program, str(error.strerror)) from None
    except OSError as error:
        from errno import ENOEXEC

        if error.errno == ENOEXEC:
            reason = "not for this machine's processor (--emulator PROG runs it)"
            raise NoHost(program, reason) from None
        raise OSError(error.errno, f"{program}: {error.strerror}") from None


def _open(image: str) -> tuple[int, str, str]:
    """Open the file that an image is in; return also its path, and a member's name or ""."""
    path, member = image, None
    if ":" in image:
        from okld.bundle.naming import split_word

        path, member = split_word(image)
    try:
        # Without O_NONBLOCK the open of a FIFO waits for somebody to write to it.
        return _above_streams(os.open(path, os.O_RDONLY | os.O_NONBLOCK)), path, member or ""
    except OSError as error:
        raise Unreadable("image", path, error) from None
    except ValueError as error:
        raise Refusal("", f"image: {error}") from None


def _in_memory(data: bytes) -> int:
    fd = _above_streams(os.memfd_create("okrun-plan"))
    try:
        left = data
        while left:
            left = left[os.write(fd, left) :]
    except OSError as error:
        from errno import EFBIG

        os.close(fd)
        if error.errno != EFBIG:
            raise
        return _in_pipe(data)
    return fd


def _in_pipe(data: bytes) -> int:
    """Return a pipe that holds *data*: a limit of file sizes counts for memory, not for pipes."""
    from fcntl import F_SETPIPE_SZ, fcntl

    fd, writer = map(_above_streams, os.pipe())
    try:
        fcntl(writer, F_SETPIPE_SZ, len(data))
        os.set_blocking(writer, False)
        os.write(writer, data)
    except BaseException:
        os.close(fd)
        raise
    finally:
        os.close(writer)
    return fd


def _above_streams(fd: int) -> int:
    """Return *fd*, or a copy above the numbers of the standard streams, which may be closed."""
    low = []
    while fd < 3:
        low.append(fd)
        fd = os.dup(fd)
    for each in low:
        os.close(each)
    return fd


def _on_path(program: str) -> str:
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
