"""From a file's name to its image, running in this process: open, check, decide, plan, execute.

The file is opened once. What is checked, what the plan describes and what the host maps is that one
open file.
"""

from __future__ import annotations

import os
import stat

from okld.base.errors import Refusal, Unreadable
from okld.base.view import View
from okld.iface.need import interfaces_of
from okld.image.shape import read_shape
from okrun.admission.decide import decide
from okrun.admission.place import places
from okrun.admission.policy import read_policy
from okrun.hosts import NoHost, choose_host, on_path
from okrun.inherited import default_signals
from okrun.plan.make import complete, outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from okrun.admission.decide import Admitted, Host
    from okrun.admission.record import Record
    from okrun.granting import Grants
    from okrun.measuring import Measuring


class Start:
    """
    An image that is ready to run.

    Attributes:
        image: Its path, as it was given.
        admitted: What was admitted.
        name: Its argv[0].
        record: What is known of it as a member of a bundle, or None.
        cache: For people: whether that was remembered, and where not, why.
        host: The program that it will run in.
        impl: The library that this binds in place of its own implementation, or "".
        fds: The image's open file, the plan's, and those of the directories that it is given; all
            above the standard streams, none inherited yet.
    """

    __slots__ = ("admitted", "cache", "fds", "host", "image", "impl", "name", "record")

    def __init__(
        self,
        image: str,
        admitted: Admitted,
        host: Host,
        impl: str,
        fds: tuple[int, ...],
        name: str,
        record: Record | None,
        cache: str,
    ) -> None:
        self.image = image
        self.admitted = admitted
        self.host = host
        self.impl = impl
        self.fds = fds
        self.name = name
        self.record = record
        self.cache = cache

    def command(self, args: Sequence[str], emulator: str = "") -> tuple[str, list[str]]:
        """Return the program to execute and its arguments, its own name first."""
        library = ("--impl", self.impl) if self.impl else ()
        arguments = [*library, str(self.fds[1]), self.name, *args]
        if emulator:
            return on_path(emulator), [emulator, self.host.path, *arguments]
        return self.host.path, ["okhost", *arguments]


def prepare(
    image: str,
    measure: Measuring,
    host_path: str = "",
    *,
    impl: str = "",
    policy: str = "",
    remember: bool = True,
    name: str | None = None,
    file: str = "",
    grants: Grants | None = None,
    runner: bytes = b"",
    progress: Callable[[int, int], None] | None = None,
) -> Start:
    """
    Check an image, or a member of a bundle, decide, and plan its start.

    Args:
        image: A path of either; after that of a bundle may stand ``:`` and the name of a member.
        measure: What is to be measured.
        host_path: A host program other than the installed one.
        impl: A library that is bound in place of the host program's own implementation.
        policy: One that is to hold beside those of the environment and of the user's settings.
        remember: Whether the cache of admissions is used.
        name: The image's argv[0]; None for *image*.
        file: The device and the inode of the file that has to be at *image*, as ``DEV:INO``; "" for
            any. Whoever found the image by another way than its path says so what it found.
        grants: The directories that it is given; None for those of FS-1.
        runner: The plan's `runner`: what starts another image; empty: nothing does.
        progress: Called with bytes read, and of how many, while a bundle's member is hashed.

    Raises:
        NoHost: STAT-2.
        Usage: IMPL-2.
        OkError: ADM-8.
        Unreadable: If the system gives no file of that name.
        Refusal: If it is no regular file, or `decide` refuses.
        FormatError: If it is neither an ok image nor a bundle.
        OSError: If the system refuses the plan its place.
    """
    impl = os.path.abspath(impl) if impl else ""
    host = choose_host(host_path, impl)
    settings, place = places(os.environ)
    policy = read_policy(policy, os.environ, settings)
    fd, path, member = _open(image)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal("", "image is not a regular file")
        found = f"{status.st_dev}:{status.st_ino}"
        if file and file != found:
            what = "another file took its place while it was started"
            raise Refusal("PROC-3", f"{what} (got {found}, limit {file})")
        record, cache, offset, path_of_plan = None, "", 0, image
        if os.pread(fd, 4, 0) == b"PK\3\4":  # no image begins so
            from okrun.bundled import Request, admit

            place = place if remember else None
            request = Request(path, member, policy, settings, place, progress)
            admitted, record, cache = admit(fd, status, host, request)
            plan, offset = record.plan, record.offset
            path_of_plan = f"{path}:{record.member}"
        elif member:
            raise Refusal("OKB-28", f"{path} is no bundle, with a member {member}")
        else:
            shape = read_shape(View.of_fd(fd, status.st_size))
            admitted = decide(shape, interfaces_of(shape), host, policy)
            plan = outline(admitted)
        preopens = grants.encode() if grants else b""
        rest = (measure.directory, measure.run, preopens, runner)
        data = complete(plan, fd, status, offset, os.fsencode(path_of_plan), measure.bits, rest)
        fds = (fd, _in_memory(data), *(grants.fds if grants else ()))
        name = image if name is None else name
        return Start(image, admitted, host, impl, fds, name, record, cache)
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
    default_signals()
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
