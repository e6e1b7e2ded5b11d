"""Whether all that a bundle says is true: of its archive, of each image, of time and signature."""

from __future__ import annotations

from functools import partial

from okld.base.errors import FormatError, OkError
from okld.bundle.bundle import open_bundle, verify_digest
from okld.bundle.manifest import require_current
from okld.bundle.policy import POLICIES, require
from okld.bundle.trust import Trusted
from okld.iface.need import interfaces_of, require_declared
from okld.image.open import open_file
from okld.image.shape import read_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okld.base.view import View
    from okld.bundle.bundle import Bundle
    from okld.bundle.manifest import Member
    from okld.bundle.trust import Entry
    from okld.iface.need import Interfaces
    from okld.image.shape import Shape


class Finding:
    """
    What one check of a bundle found.

    Attributes:
        check: "archive", "manifest", "digest", "image", "expiry" or "signature".
        member: The name of the member that was checked, or "".
        error: Why the answer is no, or None.
        says: What was found where the answer is yes, or "".
    """

    __slots__ = ("check", "error", "member", "says")

    def __init__(self, check: str, member: str, error: OkError | None, says: str) -> None:
        self.check = check
        self.member = member
        self.error = error
        self.says = says


def check_image(bundle: Bundle, member: Member) -> tuple[Shape, Interfaces]:
    """
    Check the image of *member*, and that the manifest says of it what it says of itself.

    Raises:
        FormatError: If it breaks a rule of SPEC chapter 2 or 3; MAN-9.
        Refusal: NEED-1 or NEED-2.
        Unreadable: If the system refuses to read it.
    """
    shape = read_shape(bundle.member_view(member))
    interfaces = interfaces_of(shape)
    require_declared(interfaces)
    for what, got, stated in (
        ("arch", shape.arch, member.arch),
        ("build_id", shape.build_id, member.build_id),
        ("required", " ".join(interfaces.required), " ".join(member.required)),
        ("optional", " ".join(interfaces.optional), " ".join(member.optional)),
    ):
        if got != stated:
            what = f"{what} of {member.name} is not what the manifest states"
            raise FormatError("MAN-9", what, got=got, limit=stated)
    return shape, interfaces


def verify(
    path: str,
    *,
    now: float,
    policy: str = POLICIES[0],
    trust: tuple[Entry, ...] = (),
) -> Iterator[Finding]:
    """
    Give what each check of the bundle at *path* finds, as it is found.

    Where the archive or the manifest breaks a rule, that is the only finding.

    Args:
        path: Of the bundle.
        now: In seconds since 1970-01-01 UTC.
        policy: What is asked of the signature: "any", "signed" or "trusted".
        trust: Whose keys are trusted.

    Raises:
        Unreadable: If there is no such file, or the system refuses to open it.

    Source: OKB-27.
    """
    with open_file(path) as file:
        yield from _verify(file.view, now, policy, trust)


def _verify(view: View, now: float, policy: str, trust: tuple[Entry, ...]) -> Iterator[Finding]:
    try:
        bundle = open_bundle(view)
    except OkError as error:
        yield Finding("manifest" if error.rule.startswith("MAN") else "archive", "", error, "")
        return
    manifest = bundle.manifest
    yield Finding("archive", "", None, f"{len(manifest.members)} images")
    yield Finding("manifest", "", None, f"{manifest.name} {manifest.version}".rstrip())
    for member in bundle.members:
        yield _finding("digest", member.name, partial(_digest, bundle, member))
        yield _finding("image", member.name, partial(_image, bundle, member))
    yield _finding("expiry", "", partial(_expiry, bundle, now))
    yield _finding("signature", "", partial(_signature, bundle, policy, trust, now))


def _finding(check: str, member: str, ask: Callable[[], str]) -> Finding:
    try:
        return Finding(check, member, None, ask())
    except OkError as error:
        return Finding(check, member, error, "")


def _digest(bundle: Bundle, member: Member) -> str:
    verify_digest(bundle, member)
    return f"SHA-256 {member.sha256}, CRC-32 {bundle.crc(member):08x}"


def _image(bundle: Bundle, member: Member) -> str:
    check_image(bundle, member)
    return f"{member.arch}, {member.length} bytes"


def _expiry(bundle: Bundle, now: float) -> str:
    require_current(bundle.manifest, now)
    return bundle.manifest.expires or "never"


def _signature(bundle: Bundle, policy: str, trust: tuple[Entry, ...], now: float) -> str:
    standing = require(policy, bundle.manifest_bytes, bundle.signature, trust, int(now))
    if standing.signature is None or standing.signer is None:
        return "none"
    by = f"by {standing.signature.key.fingerprint}"
    if isinstance(standing.signer, Trusted):
        return f"{by}, of {standing.signer.principal}"
    if not trust:
        return f"{by}; whose that is was not asked"
    return f"{by}, not trusted: {standing.signer.reason}"
