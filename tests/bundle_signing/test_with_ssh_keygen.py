"""What we sign ssh-keygen takes, and what it signs we take, for every kind of key."""

from __future__ import annotations

import base64
import subprocess
import time

import pytest

from okld.bundle.signing import check, load_key, sign
from okld.bundle.trust import Trusted, parse_trust, who

KINDS = ("ed25519", "nistp256", "nistp384", "nistp521", "rsa")
FORMATS = (pytest.param((), id="openssh"), pytest.param(("-m", "PEM"), id="pem"),
           pytest.param(("-m", "PKCS8"), id="pkcs8"))  # fmt: skip


def signers(public: str) -> str:
    return f"alice {public}\n"


def fingerprint(path) -> str:
    return subprocess.check_output(["ssh-keygen", "-lf", path], text=True).split()[1]


@pytest.mark.spec("SIG-1", "SIG-6")
@pytest.mark.parametrize("kind", KINDS)
def test_ssh_keygen_takes_ours(keys, keygen, manifest, never_asked, kind):
    """A signature of ours verifies for its principal, and not for another."""
    key = keys[kind]
    signature = sign(manifest, load_key(str(key), never_asked))
    listed = signers(key.with_suffix(".pub").read_text())
    assert keygen.verifies(signature, listed)
    assert not keygen.verifies(signature, listed, principal="bob")


@pytest.mark.spec("SIG-1", "SIG-6", "TRU-3")
@pytest.mark.parametrize("kind", KINDS)
def test_we_take_ssh_keygens(keys, keygen, manifest, kind):
    """A signature of ssh-keygen's is valid, and its key the one that ssh-keygen names."""
    signature = check(manifest, keygen.sign(keys[kind]))
    public = keys[kind].with_suffix(".pub").read_text()
    assert signature.key.fingerprint == fingerprint(keys[kind])
    assert signature.key.kind == public.split()[0]
    signer = who(signature, parse_trust(signers(public).encode()), int(time.time()))
    assert signer == Trusted(principal="alice", until=None)


@pytest.mark.spec("SIG-5")
@pytest.mark.parametrize("hash_name", ["sha256", "sha512"])
def test_both_hashes_are_taken(keys, keygen, manifest, hash_name):
    """A manifest may have been hashed with SHA-256 or with SHA-512."""
    signature = keygen.sign(keys["ed25519"], "-O", f"hashalg={hash_name}")
    assert check(manifest, signature).hash_name == hash_name


@pytest.mark.spec("SIG-5")
def test_ours_hash_with_sha512(keys, manifest, never_asked):
    """The hash's name in a signature of ours is sha512."""
    signature = sign(manifest, load_key(str(keys["ed25519"]), never_asked))
    body = base64.b64decode(b"".join(signature.split(b"\n")[1:-2]))
    assert b"\0\0\0\3okb\0\0\0\0\0\0\0\6sha512" in body


@pytest.mark.spec("SIG-2")
def test_ours_have_the_bytes_of_ssh_keygens(keys, keygen, manifest, never_asked):
    """Ed25519 signs the same the same: the files are equal to the last byte."""
    ours = sign(manifest, load_key(str(keys["ed25519"]), never_asked))
    assert ours == keygen.sign(keys["ed25519"])


@pytest.mark.spec("SIG-10")
@pytest.mark.parametrize("options", FORMATS)
@pytest.mark.parametrize("kind", ["ecdsa", "rsa", "ed25519"])
@pytest.mark.parametrize("passphrase", ["", "open sesame"], ids=["plain", "encrypted"])
def test_formats_of_private_keys(make_key, keygen, manifest, kind, options, passphrase):
    """OpenSSH's own format, PEM and PKCS#8 are read, plain and encrypted."""
    key = make_key("key", "-t", kind, *options, passphrase=passphrase)
    asked = []

    def ask(prompt: str) -> bytes:
        asked.append(prompt)
        return passphrase.encode()

    signature = sign(manifest, load_key(str(key), ask))
    assert keygen.verifies(signature, signers(key.with_suffix(".pub").read_text()))
    assert len(asked) == (passphrase != "")


@pytest.mark.spec("SIG-6", "SIG-8")
@pytest.mark.parametrize("curve", ["ed25519", "nistp256"])
@pytest.mark.parametrize("flags", [1, 5], ids=["present", "present and verified"])
def test_hardware_keys(wire, keygen, manifest, armored, public_line, curve, flags):
    """A hardware key's signature is taken by both; another flag or counter is another signature."""
    key = wire.Hardware(curve, flags=flags)
    made = key.sign(wire.signed_blob())
    signature = armored(wire.blob(key.blob, made))
    assert keygen.verifies(signature, signers(public_line(key.blob)))
    assert check(manifest, signature).key.kind == key.kind.decode()
    for edited in (made[:-1] + b"\x08", made[:-5] + bytes((flags ^ 4,)) + made[-4:]):
        other = armored(wire.blob(key.blob, edited))
        assert not keygen.verifies(other, signers(public_line(key.blob)))
        with pytest.raises(Exception, match=r"not of this manifest.*\[SIG-1\]$"):
            check(manifest, other)


@pytest.mark.spec("SIG-7")
@pytest.mark.parametrize("algorithm", [b"rsa-sha2-256", b"rsa-sha2-512"])
def test_both_rsa_algorithms(wire, known_rsa, keygen, manifest, armored, public_line, algorithm):
    """An RSA key may have signed the SHA-256 or the SHA-512 of the data."""
    made = known_rsa.sign(wire.signed_blob(), algorithm)
    signature = armored(wire.blob(known_rsa.blob, made))
    assert keygen.verifies(signature, signers(public_line(known_rsa.blob)))
    assert check(manifest, signature).key.kind == "ssh-rsa"
