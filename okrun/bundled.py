"""From an open bundle to a member that may run: remembered, or found out and then remembered."""

from __future__ import annotations

from os import environ
from time import time_ns

from okld import __version__  # one distribution has both packages
from okld.base.errors import OkError, Unreadable
from okld.base.view import View
from okld.bundle.trust_file import read_trust_file
from okld.iface.need import interfaces_of
from okld.image.shape import ARCHITECTURES, read_shape
from okrun.admission.cache import look_up
from okrun.admission.decide import Admitted, Host, decide
from okrun.admission.policy import TRUST_FILE
from okrun.admission.record import Miss
from okrun.plan.codec import MAGIC
from okrun.plan.make import is_outline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from okrun.admission.record import Record

MANIFEST_AT = 47  # where every bundle's begins, by OKB-2


class Request:
    """
    What is asked of a bundle.

    Attributes:
        path: The bundle's, as it was given.
        member: The name of one, or "" for the one of the host's processor.
        policy: One of `policy.POLICIES`.
        settings: The directory of the user's trust file, or None.
        place: Where admissions are remembered, or None where they are not to be.
        progress: Called with bytes read, and of how many, while a member is hashed; or None.
    """

    __slots__ = ("member", "path", "place", "policy", "progress", "settings")

    def __init__(
        self,
        path: str,
        member: str,
        policy: str,
        settings: str | None,
        place: str | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.path = path
        self.member = member
        self.policy = policy
        self.settings = settings
        self.place = place
        self.progress = progress


def admit(
    fd: int, status: os.stat_result, host: Host, request: Request
) -> tuple[Admitted, Record, str]:
    """
    Admit a member of the bundle that is open as *fd* to a host.

    Returns:
        The image, what is known of it, and for people whether that was remembered.

    Raises:
        FormatError: If it is no bundle in canonical form, or the member no ok image.
        Refusal: If `decide` refuses, there is no such member, or the file changes meanwhile.
        Unreadable: If the system refuses to read.

    Source: SPEC chapters 16 and 17.
    """
    now = time_ns()
    trust = _trust(request.settings)
    processor = ARCHITECTURES.get(host.machine, "none")
    # A trust file's times without a zone are local: in another zone they are other times.
    made_by = f"{MAGIC:x} {environ.get('TZ', '')!a}"
    asked = (request.member or f":{processor}", request.policy, __version__, made_by)
    try:
        record = look_up(request.place, asked, fd, status, trust, now)
        return _again(record, fd, status, host, now), record, "hit"
    except Miss as miss:
        from okrun.anew import find_out

        admitted, record, kept = find_out(fd, status, host, request, asked, trust, now)
        return admitted, record, f"miss: {miss}; {kept}"


def _again(record: Record, fd: int, status: os.stat_result, host: Host, now: int) -> Admitted:
    """
    Decide again what is remembered: all but the archive, the digest and the signature.

    Raises:
        Miss: If it is refused; whether rightly is found out anew.

    Source: ADM-6.
    """
    try:
        view = View.of_fd(fd, status.st_size)
        size = len(record.manifest)
        if view.window(MANIFEST_AT, size, "manifest", "OKB-24") != record.manifest:
            raise Miss("the manifest is another")
        shape = read_shape(view.part(record.offset, record.length, "member", "OKB-18"))
        policy = record.asked[1]
        admitted = decide(shape, interfaces_of(shape), host, policy, record, now // 10**9)
    except OkError as error:
        raise Miss(f"the record does not hold: {error}") from None
    if not is_outline_of(record.plan, admitted):
        raise Miss("the record has another image's plan")
    return admitted


def _trust(settings: str | None) -> bytes:
    """Return the user's trust file; one that this process may not read is another user's."""
    if settings is None:
        return b""
    try:
        return read_trust_file(f"{settings}/{TRUST_FILE}")
    except Unreadable as error:
        from errno import EACCES, ENOTDIR

        if error.errno in (EACCES, ENOTDIR):
            return b""
        raise
