"""From a file's name to its image, running in this process: open, check, decide, plan, execute.

The file is opened once. What is checked, what the plan describes and what the host maps is that one
open file.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum
import os
import stat

from okld.base.errors import OkError, Refusal, Unreadable
from okld.base.view import View
from okld.iface.need import interfaces_of
from okld.image.shape import read_shape
from okrun.admission.decide import Admitted, Host, decide
from okrun.admission.place import places
from okrun.admission.policy import read_policy
from okrun.plan.codec import MEASURE_CALLS, MEASURE_COUNT, MEASURE_COUNTERS
from okrun.plan.make import complete, outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from okrun.admission.record import Record

_SITE = os.path.dirname(os.path.dirname(__file__))
HOSTS = (
    os.path.dirname(os.path.dirname(os.path.dirname(_SITE))) + "/bin/okhost",
    _SITE + "/bin/okhost",
)
"""Where an installer puts the host program: beside the commands of a prefix, or of `--target`."""

MEASURES = {"calls": MEASURE_CALLS, "count": MEASURE_COUNT, "counters": MEASURE_COUNTERS}
"""What can be measured, by the name that a user gives it."""

_REMEDY = "reinstall okimage, or name a host program with --host PATH"


class NoHost(OkError):
    """The host program is missing, or cannot be executed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"host program: {path}: {reason}; {_REMEDY}", rule="STAT-2")


class Usage(OkError):
    """A request that makes no sense, or that this version does not know."""


class Measuring:
    """
    What is to be measured in one run.

    Attributes:
        bits: Bits of ``MEASURE_*``; 0 for nothing.
        directory: Where the report goes, as bytes of a path; empty when nothing is measured.
        names: What was asked for, in words.
    """

    __slots__ = ("bits", "directory", "names")

    def __init__(self, bits: int, directory: bytes, names: str) -> None:
        self.bits = bits
        self.directory = directory
        self.names = names


def measuring(text: str, source: str) -> Measuring:
    """
    Read ``WHAT[,WHAT...][:DIR]``; *source* is the option or variable that a complaint names.

    Raises:
        Usage: If a WHAT is not known; the message lists those that are.

    Source: PROF-1.
    """
    if not text:
        return Measuring(0, b"", "")
    names, _, directory = text.partition(":")
    bits = 0
    for name in names.split(","):
        if name not in MEASURES:
            raise Usage(f"{source} measures {', '.join(MEASURES)} (got '{name}')", rule="PROF-1")
        bits |= MEASURES[name]
    return Measuring(bits, os.fsencode(directory or "."), names)


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
