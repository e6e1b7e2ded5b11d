"""Public keys as SSH writes them, of the kinds that signatures are checked of.

Source: RFC 4253 section 6.6 (RSA), RFC 5656 section 3.1 (ECDSA), RFC 8709 section 4 (Ed25519),
OpenSSH's PROTOCOL.u2f (hardware keys).
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from attrs import frozen

from okld.base.errors import FormatError, Refusal
from okld.base.limits import MAX_RSA_BITS, MAX_RSA_EXPONENT, MIN_RSA_BITS
from okld.bundle.wire import Wire

RSA = "ssh-rsa"
ED25519 = "ssh-ed25519"
SK_ED25519 = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"

CURVES = {
    "ecdsa-sha2-nistp256": "nistp256",
    "ecdsa-sha2-nistp384": "nistp384",
    "ecdsa-sha2-nistp521": "nistp521",
    SK_ECDSA: "nistp256",
}
"""The curve of each kind of ECDSA."""

POINTS = {"nistp256": 65, "nistp384": 97, "nistp521": 133}
"""Bytes of a curve's point: 4, then both coordinates."""

KINDS = (ED25519, *CURVES, RSA, SK_ED25519)


@frozen(kw_only=True)
class PublicKey:
    """
    The public half of a key pair.

    Attributes:
        kind: The name that SSH has for the kind of key.
        blob: The key as it stands on the wire, the kind included: equal keys have equal blobs.
        curve: Of ECDSA: the name of its curve; else "".
        point: Of ECDSA: the point, uncompressed; of Ed25519: the 32 bytes of the key; else empty.
        modulus: Of RSA; else 0.
        exponent: Of RSA; else 0.
        application: Of a hardware key: what it was made for, as "ssh:"; else None.
    """

    kind: str
    blob: bytes
    curve: str = ""
    point: bytes = b""
    modulus: int = 0
    exponent: int = 0
    application: bytes | None = None

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the blob as ``ssh-keygen -l`` shows it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest())
        return f"SHA256:{digest.decode().rstrip('=')}"


def read_public_key(blob: bytes) -> PublicKey:
    """
    Return the key whose form on the wire is *blob*.

    Whether a curve has the point, or a modulus the form, is left to who computes with them.

    Raises:
        FormatError: SIG-6, if it is no public key.
        Refusal: SIG-6, if it is of a kind that is not checked; SIG-7, if it is a weak RSA key.
    """
    wire = Wire(blob, "public key", "SIG-6")
    kind = wire.name()
    if kind not in KINDS:
        raise Refusal("SIG-6", unsupported(kind))
    curve, point, modulus, exponent = CURVES.get(kind, ""), b"", 0, 0
    if kind == RSA:
        exponent, modulus = wire.positive(), wire.positive()
        _require_strength(exponent, modulus)
    else:
        if curve and wire.name() != curve:
            raise wire.fault("names another curve than its kind has")
        point = wire.string()
        if len(point) != POINTS.get(curve, 32) or (curve and point[0] != 4):
            raise wire.fault("has a point of another form than its kind's", got=len(point))
    application = wire.string() if kind in (SK_ED25519, SK_ECDSA) else None
    wire.end()
    return PublicKey(
        kind=kind,
        blob=blob,
        curve=curve,
        point=point,
        modulus=modulus,
        exponent=exponent,
        application=application,
    )


def _require_strength(exponent: int, modulus: int) -> None:
    bits = modulus.bit_length()
    if bits < MIN_RSA_BITS:
        raise Refusal("SIG-7", f"rsa key is too short ({bits} bits, at least {MIN_RSA_BITS})")
    if bits > MAX_RSA_BITS:
        raise Refusal("SIG-7", f"rsa key is too long ({bits} bits, at most {MAX_RSA_BITS})")
    if exponent % 2 == 0 or exponent < 3 or exponent > MAX_RSA_EXPONENT or modulus % 2 == 0:
        raise FormatError("SIG-7", "rsa key has numbers that no rsa key has")


def read_key_text(kind: str, text: str) -> PublicKey:
    """
    Return the key of the two words with which a line of a public key file begins.

    Raises:
        FormatError: SIG-6, if they are no public key.
        Refusal: As `read_public_key`.
    """
    if kind not in KINDS:
        raise Refusal("SIG-6", unsupported(kind))
    try:
        blob = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise FormatError("SIG-6", "public key is not in base64") from None
    key = read_public_key(blob)
    if key.kind != kind:
        raise FormatError("SIG-6", f"public key is of kind {key.kind} and is called {kind}")
    return key


def unsupported(kind: str) -> str:
    """Return the words that turn down a *kind* of key."""
    if "-cert-" in kind:
        return f"key of kind {kind[:64]}: certificates are not supported, name the key itself"
    return f"key of kind {kind[:64]} is not supported (there are {' '.join(KINDS)})"
