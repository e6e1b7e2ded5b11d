"""Private keys in files: OpenSSH's format and PEM, also encrypted. Source: SIG-10, SIG-11."""

from __future__ import annotations

import binascii
import warnings

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

from okld.base.errors import FormatError, Refusal
from okld.bundle.public_key import KINDS, read_key_text
from okld.bundle.wire import positive, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Private = Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey

_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_MAGIC = b"openssh-key-v1\0"
_CURVE_HASHES = {256: SHA256(), 384: SHA384(), 521: SHA512()}


class FileKey:
    """
    A private key that this process holds.

    Attributes:
        blob: Its public half, as it stands on the wire.
    """

    __slots__ = ("_private", "blob")

    def __init__(self, private: Private) -> None:
        line = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        kind, text = line.decode().split()
        self.blob = read_key_text(kind, text).blob
        self._private = private

    def sign(self, data: bytes) -> bytes:
        """Return what this key makes of *data*, as it stands on the wire."""
        private = self._private
        if isinstance(private, RSAPrivateKey):
            return string(b"rsa-sha2-512") + string(private.sign(data, PKCS1v15(), SHA512()))
        if isinstance(private, Ed25519PrivateKey):
            return string(b"ssh-ed25519") + string(private.sign(data))
        bits = private.curve.key_size
        r, s = decode_dss_signature(private.sign(data, ECDSA(_CURVE_HASHES[bits])))
        return string(b"ecdsa-sha2-nistp%d" % bits) + string(positive(r) + positive(s))


def read_private_key(data: bytes, name: str, ask: Callable[[str], bytes]) -> FileKey:
    """
    Return the key in the bytes of a file called *name*; *ask* gives the passphrase for a prompt.

    Raises:
        FormatError: SIG-10, if it is no private key.
        Refusal: SIG-6 or SIG-7, if its signatures are not checked; SIG-11, if the passphrase is
            another.
        OkError: What *ask* raises.
    """
    passphrase = ask(f"Passphrase of {name}: ") if _is_encrypted(data) else None
    private = _load(data, passphrase, name)
    try:
        if isinstance(private, Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey):
            return FileKey(private)
    except ValueError:  # a curve that SSH has no name for
        pass
    raise Refusal("SIG-6", f"{name}: kind of key is not supported (there are {' '.join(KINDS)})")


def _is_encrypted(data: bytes) -> bool:
    """
    Return whether a key's file, if it is one, is encrypted.

    Source: OpenSSH's PROTOCOL.key (the first field names the cipher); RFC 1421 section 4.6.1.1 and
    RFC 7468 section 11.
    """
    if not data.lstrip().startswith(_OPENSSH):
        return b"ENCRYPTED" in data
    body = data.lstrip()[len(_OPENSSH) :].partition(b"-")[0]
    try:
        fields = binascii.a2b_base64(body)
    except binascii.Error:
        return False
    return fields.startswith(_MAGIC) and not fields.startswith(_MAGIC + string(b"none"))


def _load(data: bytes, passphrase: bytes | None, name: str) -> object:
    """Return a private key of any kind."""
    load = load_ssh_private_key if data.lstrip().startswith(_OPENSSH) else load_pem_private_key
    try:
        with warnings.catch_warnings(action="ignore"):  # of kinds that are refused here anyway
            return load(data, passphrase)
    except UnsupportedAlgorithm:
        raise Refusal(
            "SIG-10", f"{name}: key cannot be used from its file; ssh-agent may hold it"
        ) from None
    except (ValueError, TypeError, NotImplementedError, InvalidTag):  # a tag is AES-GCM's
        if passphrase is None:
            raise FormatError("SIG-10", f"{name} is no private key") from None
        raise Refusal("SIG-11", f"{name}: wrong passphrase") from None
