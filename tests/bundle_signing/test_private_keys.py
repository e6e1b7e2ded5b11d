"""The key that signs, in a file."""

from __future__ import annotations

import os
import random
import subprocess

import pytest

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.bundle.signing import load_key, sign

PASSPHRASE = "open sesame"


def answering(words):
    """Answers from *words*, in order; to be asked more often is an error."""
    left = [word.encode() for word in words]
    return lambda prompt: left.pop(0)


@pytest.mark.spec("SIG-11")
@pytest.mark.parametrize(
    "options", [(), ("-Z", "aes256-gcm@openssh.com"), ("-m", "PEM"), ("-m", "PKCS8")]
)
@pytest.mark.parametrize("word", ["open", "", "open sesame "])
def test_wrong_passphrase(make_key, options, word):
    """A wrong passphrase is one line, after one question."""
    key = make_key("key", "-t", "rsa", "-b", "2048", *options, passphrase=PASSPHRASE)
    with pytest.raises(Refusal, match=r"key: wrong passphrase \[SIG-11\]$"):
        load_key(str(key), answering([word]))


@pytest.mark.spec("SIG-11")
def test_the_prompt_names_the_key(make_key):
    """Whoever is asked can see for which key."""
    key = make_key("key", "-t", "ed25519", passphrase=PASSPHRASE)
    prompts = []

    def ask(prompt):
        prompts.append(prompt)
        return PASSPHRASE.encode()

    load_key(str(key), ask)
    assert prompts == [f"Passphrase of {key}: "]


@pytest.mark.spec("SIG-11")
def test_what_ask_raises_is_raised(make_key):
    """Where nobody can be asked, nothing is signed."""

    def ask(prompt):
        raise OkError("no terminal")

    with pytest.raises(OkError, match="no terminal"):
        load_key(str(make_key("key", "-t", "ed25519", passphrase=PASSPHRASE)), ask)


@pytest.mark.spec("SIG-10")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o777])
def test_a_key_that_others_may_use(make_key, never_asked, mode):
    """A private key is private, as ssh wants it; 0600 and 0400 are."""
    key = make_key("key", "-t", "ed25519")
    key.chmod(mode)
    with pytest.raises(Refusal, match=r"chmod 600.*\[SIG-10\]$"):
        load_key(str(key), never_asked)
    key.chmod(0o400)
    assert load_key(str(key), never_asked).blob


@pytest.mark.spec("SIG-10")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0\xff", id="binary"),
        pytest.param(b"hello\n", id="a word"),
        pytest.param(b"-----BEGIN OPENSSH PRIVATE KEY-----\n", id="a first line"),
        pytest.param(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", id="other"),
        pytest.param(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", id="pem"),
    ],
)
def test_no_key(tmp_path, never_asked, data):
    """Other files are refused with one line."""
    path = tmp_path / "key"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(FormatError, match=r"is (no private|neither).* key \[SIG-10\]$"):
        load_key(str(path), never_asked)


@pytest.mark.spec("SIG-10")
def test_no_regular_file(tmp_path, never_asked):
    """A directory and a FIFO are refused, and nothing waits for somebody to write to it."""
    os.mkfifo(tmp_path / "fifo", 0o600)
    with pytest.raises(Refusal, match=r"not a regular file \[SIG-10\]$"):
        load_key(str(tmp_path / "fifo"), never_asked)
    with pytest.raises(Unreadable, match="Is a directory"):
        load_key(str(tmp_path), never_asked)


@pytest.mark.spec("SIG-10")
def test_a_long_file(tmp_path, never_asked):
    """No key's file is longer than 64 KiB."""
    path = tmp_path / "key"
    path.write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + b"A" * 0x10000)
    path.chmod(0o600)
    with pytest.raises(FormatError, match=r"longer than any key.*\[SIG-10\]$"):
        load_key(str(path), never_asked)


@pytest.mark.spec("SIG-10")
def test_no_file(tmp_path, never_asked):
    """A file that is not there is an error of the system's."""
    with pytest.raises(Unreadable, match="no-such-key: No such file"):
        load_key(str(tmp_path / "no-such-key"), never_asked)


@pytest.mark.spec("SIG-6", "SIG-7")
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param(("-t", "dsa"), "SIG-6", id="dsa"),
        pytest.param(("-t", "dsa", "-m", "PEM"), "SIG-6", id="dsa in pem"),
        pytest.param(("-t", "rsa", "-b", "1024"), "SIG-7", id="short rsa"),
    ],
)
def test_keys_whose_signatures_are_refused(make_key, never_asked, options, rule):
    """What would be refused when it is checked is refused before it signs."""
    with pytest.raises(Refusal) as caught:
        load_key(str(make_key("key", *options)), never_asked)
    assert caught.value.rule == rule


@pytest.mark.spec("SIG-6")
@pytest.mark.parametrize("name", ["ed448", "secp256k1"])
def test_kinds_that_ssh_does_not_have(tmp_path, never_asked, name):
    """A key of a kind or on a curve that SSH has no name for is refused."""
    kind = ["-algorithm", "ed448"]
    if name == "secp256k1":
        kind = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"]
    path = tmp_path / "key"
    subprocess.run(["openssl", "genpkey", *kind, "-out", path], check=True, capture_output=True)
    path.chmod(0o600)
    with pytest.raises(Refusal, match=r"\[SIG-6\]$"):
        load_key(str(path), never_asked)


@pytest.mark.spec("SIG-10")
def test_a_cipher_that_is_not_known(make_key):
    """A key in a form that only OpenSSH can read is refused with a way out."""
    key = make_key("key", "-t", "ed25519", "-Z", "chacha20-poly1305@openssh.com", passphrase="x")
    with pytest.raises(Refusal, match=r"ssh-agent may hold it \[SIG-10\]$"):
        load_key(str(key), answering(["x"]))


@pytest.mark.spec("SIG-9", "SIG-1")
def test_what_a_key_gives_is_checked(known, known_rsa, wire, manifest):
    """A key that errs, or signs with SHA-1, does not sign a bundle."""

    class Wrong:
        blob = known.blob

        def sign(self, data):
            return known.sign(data + b" ")

    class Old:
        blob = known_rsa.blob

        def sign(self, data):
            return known_rsa.sign(data, b"ssh-rsa")

    with pytest.raises(Refusal, match=r"\[SIG-1\]$"):
        sign(manifest, Wrong())
    with pytest.raises(Refusal, match=r"\[SIG-7\]$"):
        sign(manifest, Old())


@pytest.mark.spec("ERR-1", "SIG-10")
@pytest.mark.parametrize("options", [(), ("-m", "PEM")], ids=["openssh", "pem"])
def test_mutants(make_key, options):
    """A private key's file with faults gives a key or one typed error."""
    key = make_key("key", "-t", "ecdsa", *options)
    good = key.read_bytes()
    refused = 0
    for n in range(500):
        dice = random.Random(n)
        data = bytearray(good)
        for _ in range(dice.choice((1, 2))):
            data[dice.randrange(36, len(data))] = dice.choice(b"ABab01+/= \n-\0\xff")
        key.write_bytes(data)
        try:
            load_key(str(key), answering([PASSPHRASE]))
        except (FormatError, Refusal):
            refused += 1
    assert refused > 100
