"""Keys of every kind, ssh-keygen to ask for its opinion, and hardware keys made of software."""

from __future__ import annotations

import base64
import hashlib
import struct
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MANIFEST = b'{"members":[],"name":"hello","okb":1,"version":"1"}\n'

KINDS = {
    "ed25519": ("-t", "ed25519"),
    "nistp256": ("-t", "ecdsa", "-b", "256"),
    "nistp384": ("-t", "ecdsa", "-b", "384"),
    "nistp521": ("-t", "ecdsa", "-b", "521"),
    "rsa": ("-t", "rsa", "-b", "2048"),
}
RSA_HASHES = {b"ssh-rsa": SHA1(), b"rsa-sha2-256": SHA256(), b"rsa-sha2-512": SHA512()}


def run(*words: object, data: bytes = b"", **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(word) for word in words], input=data, capture_output=True, check=False, **options
    )


def generate(path: Path, *options: str, passphrase: str = "") -> Path:
    """Make a key pair with ssh-keygen."""
    made = run("ssh-keygen", "-q", *options, "-N", passphrase, "-C", "a comment", "-f", path)
    assert made.returncode == 0, made
    return path


class Keygen:
    """What ssh-keygen says of signatures of the manifest."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.message = directory / "manifest.json"
        self.message.write_bytes(MANIFEST)

    def sign(self, key: Path, *options: str, namespace: str = "okb", **others) -> bytes:
        signature = self.directory / "manifest.json.sig"
        signature.unlink(missing_ok=True)
        words = ("ssh-keygen", "-Y", "sign", *options, "-f", key, "-n", namespace, self.message)
        ran = run(*words, **others)
        assert ran.returncode == 0, ran
        return signature.read_bytes()

    def verifies(
        self,
        signature: bytes,
        signers: str,
        *options: str,
        principal: str = "alice",
        namespace: str = "okb",
        env: dict[str, str] | None = None,
    ) -> bool:
        (self.directory / "a.sig").write_bytes(signature)
        (self.directory / "signers").write_bytes(signers.encode())
        # fmt: off
        ran = run(
            "ssh-keygen", "-Y", "verify", *options, "-f", self.directory / "signers",
            "-I", principal, "-n", namespace, "-s", self.directory / "a.sig",
            data=MANIFEST, env=env,
        )
        # fmt: on
        return ran.returncode == 0


@pytest.fixture
def keygen(tmp_path: Path) -> Keygen:
    return Keygen(tmp_path)


@pytest.fixture(scope="session")
def manifest() -> bytes:
    return MANIFEST


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A private key file of each kind that ssh-keygen makes without hardware."""
    directory = tmp_path_factory.mktemp("keys")
    return {name: generate(directory / name, *options) for name, options in KINDS.items()}


@pytest.fixture
def make_key(tmp_path: Path):
    def make(name: str, *options: str, passphrase: str = "") -> Path:
        return generate(tmp_path / name, *options, passphrase=passphrase)

    return make


@pytest.fixture
def never_asked():
    def ask(prompt: str) -> bytes:
        raise AssertionError(f"asked for {prompt}")

    return ask


def text(data: bytes) -> bytes:
    """An SSH string, by RFC 4251."""
    return struct.pack(">I", len(data)) + data


def number(value: int) -> bytes:
    """An SSH mpint, by RFC 4251."""
    return text(value.to_bytes(value.bit_length() // 8 + 1, "big"))


def signed_blob(hash_name: bytes = b"sha512") -> bytes:
    """What a key signs, by PROTOCOL.sshsig."""
    digest = hashlib.new(hash_name.decode(), MANIFEST).digest()
    return b"SSHSIG" + text(b"okb") + text(b"") + text(hash_name) + text(digest)


def blob(
    key: bytes,
    made: bytes,
    *,
    version: int = 1,
    namespace: bytes = b"okb",
    reserved: bytes = b"",
    hash_name: bytes = b"sha512",
) -> bytes:
    """A signature's fields, by PROTOCOL.sshsig."""
    return (
        b"SSHSIG"
        + struct.pack(">I", version)
        + b"".join(map(text, (key, namespace, reserved, hash_name, made)))
    )


class Ed25519:
    """A key of ours whose parts the test knows: what a signature is made of can be edited."""

    kind = b"ssh-ed25519"

    def __init__(self) -> None:
        self.private = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
        self.point = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.blob = text(self.kind) + text(self.point)

    def sign(self, data: bytes) -> bytes:
        return text(self.kind) + text(self.private.sign(data))


class Rsa:
    """An RSA key that signs by any algorithm."""

    def __init__(self, bits: int = 2048) -> None:
        self.private = rsa.generate_private_key(65537, bits)
        numbers = self.private.public_key().public_numbers()
        self.exponent, self.modulus = numbers.e, numbers.n
        self.blob = text(b"ssh-rsa") + number(numbers.e) + number(numbers.n)

    def sign(self, data: bytes, algorithm: bytes = b"rsa-sha2-512") -> bytes:
        made = self.private.sign(data, PKCS1v15(), RSA_HASHES[algorithm])
        return text(algorithm) + text(made)


class Hardware:
    """
    A hardware key as PROTOCOL.u2f states it, in software.

    It signs the hash of the application "ssh:", flags, a counter and the hash of the data.
    """

    def __init__(self, curve: str, flags: int = 1, counter: int = 7) -> None:
        self.curve = curve
        self.suffix = struct.pack(">BI", flags, counter)
        if curve == "ed25519":
            self.kind = b"sk-ssh-ed25519@openssh.com"
            self.private = ed25519.Ed25519PrivateKey.generate()
            point = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            self.blob = text(self.kind) + text(point)
        else:
            self.kind = b"sk-ecdsa-sha2-nistp256@openssh.com"
            self.private = ec.generate_private_key(ec.SECP256R1())
            point = self.private.public_key().public_bytes(
                Encoding.X962, PublicFormat.UncompressedPoint
            )
            self.blob = text(self.kind) + text(b"nistp256") + text(point)
        self.blob += text(b"ssh:")

    def sign(self, data: bytes) -> bytes:
        told = hashlib.sha256(b"ssh:").digest() + self.suffix + hashlib.sha256(data).digest()
        if self.curve == "ed25519":
            made = self.private.sign(told)
        else:
            r, s = decode_dss_signature(self.private.sign(told, ec.ECDSA(SHA256())))
            made = number(r) + number(s)
        return text(self.kind) + text(made) + self.suffix


class Wire:
    """What the tests write bytes with, none of it the package's."""

    text = staticmethod(text)
    number = staticmethod(number)
    blob = staticmethod(blob)
    signed_blob = staticmethod(signed_blob)
    Rsa = Rsa
    Hardware = Hardware


@pytest.fixture(scope="session")
def wire() -> type[Wire]:
    return Wire


@pytest.fixture(scope="session")
def known() -> Ed25519:
    return Ed25519()


@pytest.fixture(scope="session")
def known_rsa() -> Rsa:
    return Rsa()


@pytest.fixture(scope="session")
def armored():
    """A blob as ssh-keygen writes it: lines of 70."""

    def armored(data: bytes, width: int = 70) -> bytes:
        body = base64.b64encode(data)
        lines = [body[at : at + width] for at in range(0, len(body), width)]
        begin, end = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
        return b"".join(line + b"\n" for line in (begin, *lines, end))

    return armored


@pytest.fixture(scope="session")
def public_line():
    """A public key's blob as a line of a public key file."""

    def public_line(key: bytes) -> str:
        size = int.from_bytes(key[:4], "big")
        return f"{key[4 : 4 + size].decode()} {base64.b64encode(key).decode()}"

    return public_line
