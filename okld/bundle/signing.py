"""Signing a manifest, and checking a signature of one. Source: SPEC chapter 15.

What does arithmetic is imported when there is something to sign or to check: a start of an image
that has been admitted does neither.
"""

from __future__ import annotations

import os
import stat

from attrs import frozen

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.base.limits import MAX_PRIVATE_KEY
from okld.bundle.public_key import PublicKey, read_key_text, read_public_key
from okld.bundle.sshsig import (
    HASH,
    Fields,
    armor,
    dearmor,
    decode,
    encode,
    read_key_signature,
    signed_data,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Key(Protocol):
        """What signs: `FileKey` and `AgentKey`."""

        @property
        def blob(self) -> bytes:
            """The public half, as it stands on the wire."""

        def sign(self, data: bytes) -> bytes:
            """Return what the key makes of *data*, as it stands on the wire."""


AGENT = "agent:"
"""What a key is called by that an ssh-agent holds: this, and its fingerprint."""


@frozen(kw_only=True)
class Signature:
    """
    A signature that has been checked, and is valid. Only `check` makes one.

    Attributes:
        key: The key that made it. Whose it is, and whether to trust it, is another question.
        hash_name: What the manifest was hashed with.
    """

    key: PublicKey
    hash_name: str


def check(manifest: bytes, signature: bytes) -> Signature:
    """
    Return what is known of the armored *signature* of exactly these bytes.

    Raises:
        FormatError: SIG-2, SIG-3, SIG-6 or SIG-7, if it has not the form.
        Refusal: SIG-1, if it is not of these bytes by its key; SIG-4 to SIG-8, if it is of a sort
            that is not accepted.
    """
    fields = decode(dearmor(signature))
    key = read_public_key(fields.key)
    made = read_key_signature(fields.signature, key)
    from okld.bundle.signing_verify import is_valid

    if not is_valid(made, key, signed_data(manifest, fields.hash_name)):
        raise Refusal("SIG-1", f"signature is not of this manifest by the key {key.fingerprint}")
    return Signature(key=key, hash_name=fields.hash_name)


def sign(manifest: bytes, key: Key) -> bytes:
    """
    Return the armored signature of a manifest's bytes.

    Raises:
        OkError: What the key raises; or, for SIG-9, what `check` says of its signature.
    """
    made = key.sign(signed_data(manifest, HASH))
    signature = armor(encode(Fields(key=key.blob, hash_name=HASH, signature=made)))
    check(manifest, signature)
    return signature


def load_key(name: str, ask: Callable[[str], bytes]) -> Key:
    """
    Return the key called *name*.

    Args:
        name: The path of a private key, or that of a public key whose private half the ssh-agent
            holds, or ``agent:`` and the fingerprint of such a key.
        ask: Gives the passphrase for a prompt; called once, and only for an encrypted key.

    Raises:
        FormatError: SIG-10, if the file holds no key.
        Refusal: SIG-6, SIG-7, SIG-10, SIG-11 or SIG-12, if the key cannot be used.
        Unreadable: If the system does not give the file, or the agent.
    """
    from okld.bundle.agent import agent_key

    if name.startswith(AGENT):
        return agent_key(name[len(AGENT) :])
    data, mode = _read(name)
    if not data.lstrip().startswith(b"-----BEGIN "):
        return agent_key(_public(data, name).fingerprint)
    if mode & 0o077:
        raise Refusal("SIG-10", f"{name}: private key that others may use; chmod 600 it")
    from okld.bundle.signing_private import read_private_key

    return read_private_key(data, name, ask)


def _public(data: bytes, name: str) -> PublicKey:
    words = data.decode("ascii", "replace").split(None, 2)
    if len(words) < 2:
        raise FormatError("SIG-10", f"{name} is neither a private nor a public key")
    return read_key_text(words[0], words[1])


def _read(path: str) -> tuple[bytes, int]:
    """Return a key file's bytes and mode."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Refusal("SIG-10", f"{path} is not a regular file")
            data = file.read(MAX_PRIVATE_KEY + 1)
    except OSError as error:
        raise Unreadable("key", path, error) from None
    except ValueError:  # a path with a NUL
        raise OkError(f"{path}: no such path") from None
    if len(data) > MAX_PRIVATE_KEY:
        raise FormatError("SIG-10", f"{path} is longer than any key", limit=MAX_PRIVATE_KEY)
    return data, status.st_mode
