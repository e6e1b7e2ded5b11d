"""SSH signatures as bytes, with no arithmetic: armor, fields, and what it is that is signed.

A signature file is::

    -----BEGIN SSH SIGNATURE-----
    lines of base64, each of 1 to 76 characters
    -----END SSH SIGNATURE-----

each line with one newline. The base64 stands for a *blob*::

    "SSHSIG"  u32 1  string public key  string namespace  string reserved (empty)
    string hash's name  string signature by the key

and the key signs::

    "SSHSIG"  string namespace  string reserved (empty)  string hash's name  string hash of message

Source: OpenSSH's PROTOCOL.sshsig; SIG-1 to SIG-5, SIG-8.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from attrs import frozen

from okld.base.errors import FormatError, Refusal
from okld.base.limits import MAX_SIGNATURE
from okld.bundle.public_key import RSA, PublicKey
from okld.bundle.wire import Wire, string

NAMESPACE = "okb"
HASH = "sha512"
"""What a signature of ours hashes with."""

HASHES = ("sha512", "sha256")
RSA_ALGORITHMS = ("rsa-sha2-512", "rsa-sha2-256")
USER_PRESENT = 1
"""The flag of a hardware key that says: a person touched it."""

_BEGIN = b"-----BEGIN SSH SIGNATURE-----"
_END = b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_VERSION = 1
_WIDTH = 70  # characters a line, as ssh-keygen writes
_MAX_WIDTH = 76


@frozen(kw_only=True)
class Fields:
    """
    The fields of a signature in this namespace.

    Attributes:
        key: The public key, as it stands on the wire.
        hash_name: What the message was hashed with.
        signature: What the key made, as it stands on the wire.
    """

    key: bytes
    hash_name: str
    signature: bytes


@frozen(kw_only=True)
class KeySignature:
    """
    What a key made.

    Attributes:
        algorithm: Of RSA the name that holds the hash; else the kind of the key.
        value: The bytes of Ed25519 or RSA; empty for ECDSA.
        r: The first number of ECDSA; else 0.
        s: The second number of ECDSA; else 0.
        suffix: What a hardware key signs after its application's hash: flags and counter, 5 bytes.
    """

    algorithm: str
    value: bytes = b""
    r: int = 0
    s: int = 0
    suffix: bytes = b""


def armor(blob: bytes) -> bytes:
    """Return a blob as the bytes of a signature file."""
    text = base64.b64encode(blob)
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return b"\n".join([_BEGIN, *lines, _END, b""])


def dearmor(data: bytes) -> bytes:
    """
    Return the blob in the bytes of a signature file.

    Raises:
        FormatError: SIG-2.
    """
    if len(data) > MAX_SIGNATURE:
        raise FormatError("SIG-2", "signature is too long", got=len(data), limit=MAX_SIGNATURE)
    lines = data.split(b"\n")
    if lines[0] != _BEGIN:
        raise FormatError("SIG-2", f"signature does not begin with the line {_BEGIN.decode()}")
    if lines[-2:] != [_END, b""]:
        raise FormatError("SIG-2", f"signature does not end with the line {_END.decode()}")
    body = lines[1:-2]
    if not body or any(not 1 <= len(line) <= _MAX_WIDTH for line in body):
        raise FormatError("SIG-2", f"signature has lines of other than 1 to {_MAX_WIDTH} bytes")
    text = b"".join(body)
    try:
        blob = base64.b64decode(text, validate=True)
    except binascii.Error:
        blob = b""
    if base64.b64encode(blob) != text:
        raise FormatError("SIG-2", "signature is not in base64, in its one form")
    return blob


def encode(fields: Fields) -> bytes:
    """Return the blob of some fields."""
    return b"".join(
        (
            _MAGIC,
            _VERSION.to_bytes(4, "big"),
            string(fields.key),
            string(NAMESPACE.encode()),
            string(b""),
            string(fields.hash_name.encode()),
            string(fields.signature),
        )
    )


def decode(blob: bytes) -> Fields:
    """
    Return the fields of a blob.

    Raises:
        FormatError: SIG-3, if it is no signature.
        Refusal: SIG-4, if it is one in another namespace; SIG-5, if it names another hash.
    """
    wire = Wire(blob, "signature", "SIG-3")
    if wire.take(len(_MAGIC)) != _MAGIC:
        raise wire.fault("is no SSHSIG")
    version = wire.u32()
    if version != _VERSION:
        raise wire.fault("is of another version", got=version, limit=_VERSION)
    key, namespace, reserved = wire.string(), wire.name(), wire.string()
    hash_name, signature = wire.name(), wire.string()
    wire.end()
    if reserved:
        raise wire.fault("has a reserved field that is not empty, and that nothing signs")
    if namespace != NAMESPACE:
        raise Refusal("SIG-4", f"signature is for namespace '{namespace[:64]}', not '{NAMESPACE}'")
    if hash_name not in HASHES:
        raise Refusal(
            "SIG-5", f"signature hashes with {hash_name[:64]} (not {' or '.join(HASHES)})"
        )
    return Fields(key=key, hash_name=hash_name, signature=signature)


def signed_data(message: bytes, hash_name: str) -> bytes:
    """Return what a key signs for *message*."""
    digest = hashlib.new(hash_name, message).digest()
    parts = (NAMESPACE.encode(), b"", hash_name.encode(), digest)
    return _MAGIC + b"".join(map(string, parts))


def read_key_signature(blob: bytes, key: PublicKey) -> KeySignature:
    """
    Return what a key made, of the form that *key*'s kind has.

    Raises:
        FormatError: SIG-3, if it has another form.
        Refusal: SIG-7, if an RSA key used SHA-1; SIG-8, if nobody touched the hardware.
    """
    wire = Wire(blob, "signature by the key", "SIG-3")
    algorithm = wire.name()
    if key.kind == RSA and algorithm == RSA:
        raise Refusal("SIG-7", "rsa signature is of a SHA-1 hash (algorithm ssh-rsa)")
    if algorithm not in (RSA_ALGORITHMS if key.kind == RSA else (key.kind,)):
        raise wire.fault(f"is by the algorithm {algorithm[:64]}, the key a {key.kind}")
    value, r, s, suffix = wire.string(), 0, 0, b""
    if key.curve:
        numbers = Wire(value, "ecdsa signature", "SIG-3")
        value, r, s = b"", numbers.positive(), numbers.positive()
        numbers.end()
    elif len(value) != _value_size(key):
        raise wire.fault("has another length", got=len(value), limit=_value_size(key))
    if key.application is not None:
        suffix = wire.take(5)
    wire.end()
    if suffix and not suffix[0] & USER_PRESENT:
        raise Refusal("SIG-8", "signature by a hardware key that nobody touched")
    return KeySignature(algorithm=algorithm, value=value, r=r, s=s, suffix=suffix)


def _value_size(key: PublicKey) -> int:
    return (key.modulus.bit_length() + 7) // 8 or 64
