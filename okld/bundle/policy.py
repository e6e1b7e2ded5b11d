"""What is asked of a bundle's signature. Source: TRU-6."""

from __future__ import annotations

from attrs import frozen

from okld.base.errors import Refusal
from okld.bundle.signing import check
from okld.bundle.trust import Trusted, Unknown, who

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.bundle.signing import Signature
    from okld.bundle.trust import Entry

POLICIES = ("any", "signed", "trusted")
"""From the least strict to the strictest: no signature that is wrong; one; one that is trusted."""


@frozen(kw_only=True)
class Standing:
    """
    How a bundle stands with its signature.

    Attributes:
        signature: What is known of it, or None: the bundle is not signed.
        signer: Whose it is, or None: the bundle is not signed.
    """

    signature: Signature | None = None
    signer: Trusted | Unknown | None = None


def require(
    policy: str, manifest: bytes, signature: bytes | None, trust: tuple[Entry, ...], now: int
) -> Standing:
    """
    Return how a bundle stands, by its manifest and the signature in it, where *policy* lets it.

    *now* is in seconds since 1970.

    Raises:
        FormatError: As `check`.
        Refusal: As `check`; TRU-6, if the policy asks for more.
    """
    if signature is None:
        if policy != "any":
            raise Refusal("TRU-6", f"bundle is not signed, and the policy is '{policy}'")
        return Standing()
    checked = check(manifest, signature)
    signer = who(checked, trust, now)
    if policy == "trusted" and isinstance(signer, Unknown):
        key = checked.key.fingerprint
        raise Refusal("TRU-6", f"the signer's key {key} is not trusted: {signer.reason}")
    return Standing(signature=checked, signer=signer)
