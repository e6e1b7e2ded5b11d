"""Whatever the bytes are, a check gives a value or one typed error."""

from __future__ import annotations

import base64
import random

import pytest

from okld.base.errors import FormatError, OkError, Refusal
from okld.bundle.public_key import read_public_key
from okld.bundle.signing import check
from okld.bundle.trust import parse_trust

SEED = 15
COUNT = 1000
SIZES = (0, 1, 2, 3, 4, 7, 8, 32, 64, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutant(data: bytes, dice: random.Random, pieces: tuple[bytes, ...]) -> bytes:
    """Return *data* with one to three faults."""
    edited = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 3))):
        at = dice.randrange(len(edited) + 1)
        fault = dice.randrange(6)
        if fault == 0:
            edited[at : at + 1] = bytes((dice.randrange(256),))
        elif fault == 1:
            edited[at : at + 4] = dice.choice(SIZES).to_bytes(4, "big")
        elif fault == 2:
            del edited[at : at + dice.choice((1, 2, 4, 16))]
        elif fault == 3:
            edited[at:at] = dice.choice(pieces)
        elif fault == 4:
            start = dice.randrange(len(edited) + 1)
            edited[at:at] = edited[start : start + dice.choice((1, 4, 32))]
        else:
            del edited[at:]
    return bytes(edited)


PIECES = (b"\0", b"\n", b"=", b"\xff" * 4, b"SSHSIG", b"\0\0\0\3okb", b"sha512", b"-----")


def fields(which: str, wire, known, known_rsa) -> bytes:
    key = {
        "ed25519": known,
        "rsa": known_rsa,
        "sk-ed25519": wire.Hardware("ed25519"),
        "sk-ecdsa": wire.Hardware("nistp256"),
    }[which]
    return wire.blob(key.blob, key.sign(wire.signed_blob()))


@pytest.mark.spec("ERR-1", "SIG-1", "SIG-3")
@pytest.mark.parametrize("which", ["ed25519", "rsa", "sk-ed25519", "sk-ecdsa"])
def test_mutants_of_fields(manifest, wire, known, known_rsa, armored, which):
    """No mutant of a signature's fields is taken, and each is refused by a clause of this part."""
    good = fields(which, wire, known, known_rsa)
    assert check(manifest, armored(good))
    for n in range(COUNT):
        data = mutant(good, random.Random(f"{SEED}/{which}/{n}"), PIECES)
        if data == good or not data:
            continue
        with pytest.raises((FormatError, Refusal), match=r"\[SIG-[1-8]\]$") as caught:
            check(manifest, armored(data))
        assert str(caught.value).isprintable()


def outcome(read, *data):
    """What *read* gives, or the typed error that it raises."""
    try:
        return read(*data)
    except (FormatError, Refusal) as error:
        return error


@pytest.mark.spec("ERR-1", "SIG-2")
def test_mutants_of_armor(manifest, wire, known, armored):
    """A mutant of a file is refused, or has the same signature on lines of another length."""
    whole = armored(wire.blob(known.blob, known.sign(wire.signed_blob())))
    taken = 0
    for n in range(4 * COUNT):
        data = mutant(whole, random.Random(f"{SEED}/armor/{n}"), PIECES)
        got = outcome(check, manifest, data)
        if isinstance(got, OkError):
            assert str(got).isprintable()
            continue
        taken += 1
        assert b"".join(data.split()) == b"".join(whole.split())
    assert taken


@pytest.mark.spec("ERR-1", "SIG-6", "SIG-7")
def test_mutants_of_public_keys(keys):
    """A public key's mutant is a key with the very same bytes, or refused."""
    for name, path in keys.items():
        good = base64.b64decode(path.with_suffix(".pub").read_text().split()[1])
        for n in range(COUNT):
            data = mutant(good, random.Random(f"{SEED}/{name}/{n}"), PIECES)
            got = outcome(read_public_key, data)
            if isinstance(got, OkError):
                assert got.rule in ("SIG-6", "SIG-7")
            else:
                assert got.blob == data


@pytest.mark.spec("ERR-1", "TRU-1", "TRU-2", "TRU-4")
def test_mutants_of_trust_files(known, public_line):
    """A trust file's mutant is read, or refused with the number of a line that it has."""
    good = (
        f"# ours\nalice,bob {public_line(known.blob)} a comment\n\n"
        f'"carol x" namespaces="okb,!x*",valid-after="20200101",valid-before="203001010000Z" '
        f"{public_line(known.blob)}\n"
    ).encode()
    assert len(parse_trust(good)) == 2
    pieces = (b'"', b",", b" ", b"=", b"\\", b"\n", b"#", b"!", b"*", b"\0", b"Z", b"\xc2\x85")
    for n in range(4 * COUNT):
        data = mutant(good, random.Random(f"{SEED}/trust/{n}"), pieces)
        got = outcome(parse_trust, data)
        if isinstance(got, OkError):
            assert got.rule in ("TRU-1", "TRU-2", "TRU-4")
            assert str(got).isprintable()
            continue
        lines = [entry.line for entry in got]
        assert lines == sorted(set(lines))
        assert all(1 <= line <= data.count(b"\n") + 1 for line in lines)
