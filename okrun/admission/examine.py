"""Everything about a bundle that a start does not do again: archive, signature, every byte.

This is the slow way, and the only one that finds out; `okrun.admission.cache` remembers it.
"""

from __future__ import annotations

import os

from okld.base.errors import FormatError, Refusal
from okld.base.identity import difference, identity_of
from okld.bundle.bundle import open_bundle, verify_digest
from okld.bundle.trust import Trusted, parse_trust, who
from okld.iface.table import position_of
from okrun.admission.record import Record, Signer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from okld.base.view import View
    from okld.bundle.bundle import Bundle
    from okld.bundle.manifest import Member


def find_signer(bundle: Bundle, trust: bytes, now: int) -> tuple[Signer | None, int]:
    """
    Return who signed a bundle, and the last second since 1970 at which that is so, or 0 for ever.

    A key that is not trusted yet may be later, as one that is may not be.

    Args:
        bundle: The bundle.
        trust: The bytes of the user's trust file.
        now: In seconds since 1970.

    Raises:
        FormatError: SIG-* or TRU-*.
        Refusal: SIG-*.
    """
    if bundle.signature is None:
        return None, 0
    from okld.bundle.signing import check

    signature = check(bundle.manifest_bytes, bundle.signature)
    entries = parse_trust(trust)
    found = who(signature, entries, now)
    ends = [
        end
        for entry in entries
        if entry.key.blob == signature.key.blob
        for end in ((entry.valid_after or 0) - 1, entry.valid_before or 0)
        if end >= now
    ]
    fingerprint = signature.key.fingerprint
    if isinstance(found, Trusted):
        signer = Signer(True, fingerprint, found.principal)
    else:
        signer = Signer(False, fingerprint, found.reason)
    return signer, min(ends, default=0)


def examine(view: View, name: str, arch: str, trust: bytes, now: int) -> tuple[Bundle, Record]:
    """
    Check all of a bundle but its images, and choose the member called *name*, or for *arch*.

    Args:
        view: The bundle.
        name: A member's name, or "".
        arch: The host's processor.
        trust: The bytes of the user's trust file.
        now: In seconds since 1970.

    Returns:
        The bundle, and what is known of the member before a byte of it is read.

    Raises:
        FormatError: OKB-*, MAN-*, SIG-*, or TRU-*.
        Refusal: SIG-* or MAN-10.
        Unreadable: If the system refuses to read.
    """
    bundle = open_bundle(view)
    stated = bundle.select(name or None, arch)
    signer, until = find_signer(bundle, trust, now)
    expires = bundle.manifest.expires_at()
    limits = [until] if until else []
    if expires is not None:
        limits.append(max(expires - 1, 1))
    record = Record()
    record.member = stated.name
    record.offset, record.length = bundle.offset(stated), stated.length
    record.sha256 = stated.sha256
    record.required, record.optional = _word(stated.required), _word(stated.optional)
    record.build_id = stated.build_id
    record.signer = signer
    record.until = min(limits, default=0)
    record.manifest = bundle.manifest_bytes
    record.trust = trust
    return bundle, record


def read_member(
    bundle: Bundle,
    member: Member,
    fd: int,
    status: os.stat_result,
    progress: Callable[[int], None],
) -> None:
    """
    Compare every byte of a member with the manifest's digest.

    *progress* is called with how many bytes have been read, after each block.

    Raises:
        FormatError: OKB-23 or OKB-21, if they differ.
        Refusal: ADM-3, if the file is no longer what *status* says.
        Unreadable: If the system refuses to read.

    Source: ADM-3, ADM-4.
    """
    try:
        verify_digest(bundle, member, progress)
    except FormatError:
        _require_unchanged(fd, status)
        raise
    _require_unchanged(fd, status)


def _require_unchanged(fd: int, status: os.stat_result) -> None:
    changed = difference(identity_of(status), identity_of(os.fstat(fd)))
    if changed:
        raise Refusal("ADM-3", f"the file changed while it was read: its {changed} is another")


def _word(names: tuple[str, ...]) -> int:
    return sum(1 << position_of(name) for name in names)
