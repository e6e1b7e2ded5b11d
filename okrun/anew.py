"""A member of a bundle that no record tells of: every check, every byte, and then a record."""

from __future__ import annotations

import os

from okld.base.identity import identity_of, unsettled
from okld.base.view import View
from okld.bundle.manifest import require_current
from okld.iface.need import interfaces_of
from okld.image.shape import ARCHITECTURES, read_shape
from okrun.admission.decide import decide, require_origin
from okrun.admission.examine import examine, read_member
from okrun.admission.identity import (
    FILE_SYSTEMS,
    exchangeable,
    file_system,
    writable_by_others,
)
from okrun.admission.lease import Lease
from okrun.admission.store import store
from okrun.plan.make import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okrun.admission.decide import Admitted, Host
    from okrun.admission.record import Record
    from okrun.bundled import Request


def find_out(
    fd: int,
    status: os.stat_result,
    host: Host,
    request: Request,
    asked: tuple[str, str, str, str],
    trust: bytes,
    now: int,
) -> tuple[Admitted, Record, str]:
    """
    Admit a member of the bundle that is open as *fd*, of which nothing is remembered.

    Returns:
        The image, what is known of it, and in words whether that will be remembered.

    Raises:
        FormatError, Refusal, Unreadable: As `okrun.bundled.admit`.

    Source: SPEC chapters 16 and 17.
    """
    view = View.of_fd(fd, status.st_size)
    arch = ARCHITECTURES.get(host.machine, "")
    seconds = now // 10**9
    bundle, record = examine(view, request.member, arch, trust, seconds)
    record.asked = asked
    record.identity = identity_of(status)
    record.stored = now
    record.path = os.fsencode(os.path.abspath(request.path))
    require_current(bundle.manifest, seconds)
    require_origin(request.policy, record, seconds)  # before its bytes are read: that may take long
    member = bundle.select(record.member, arch)
    # Held while every byte is read: a writer may have come and gone before the record is stored.
    lease = Lease(fd)

    def progress(done: int) -> None:
        lease.check()
        if request.progress:
            request.progress(done, member.length)

    try:
        read_member(bundle, member, fd, status, progress)
        shape = read_shape(bundle.member_view(member))
        admitted = decide(shape, interfaces_of(shape), host, request.policy, record, seconds)
        lease.check()
        why = lease.refused or _unfit(fd, status, now)
    finally:
        lease.end()
    record.plan = outline(admitted)
    if request.place is None:
        return admitted, record, "not remembered"
    why = why or store(request.place, record, now)
    return admitted, record, f"not remembered: {why}" if why else "remembered"


def _unfit(fd: int, status: os.stat_result, now: int) -> str:
    """Return why what was found out of this file may not hold of it later, or ""."""
    why = writable_by_others(status, os.geteuid()) or unsettled(status, now)
    if not why and file_system(fd) not in FILE_SYSTEMS:
        why = "the file system may not tell of changes"
    return why or exchangeable(status.st_dev)
