"""A record has one form; whatever else the file holds, it is none."""

from __future__ import annotations

import random

import pytest

from okrun.admission.record import MAGIC, VERSION, Miss, Record, Signer, checksum, decode, encode

FIELDS = [name for name in Record.__slots__ if name != "signer"]


def record(**changes) -> Record:
    made = Record()
    values = {
        "asked": ("app", "trusted", "0.1.0", "316e616c706b"),
        "identity": (65024, 2**40, 65536 * 3, 2**60 + 1, -5),
        "member": "app",
        "offset": 65536,
        "length": 4032,
        "sha256": "ab" * 32,
        "required": 0b1011,
        "optional": 1 << 18,
        "build_id": "00ff",
        "signer": Signer(True, "SHA256:abc+/", "me@example.org with a space\u00e9"),
        "stored": 2**60,
        "until": 2**31,
        "path": b"/a b/\n\xff.okb",
        "manifest": b'{"okb":1}\n',
        "trust": b"me ssh-ed25519 AAAA\n",
        "plan": b"kplan3\0\0" * 3,
    }
    for name, value in (values | changes).items():
        setattr(made, name, value)
    return made


def refused(data: bytes) -> str:
    with pytest.raises(Miss) as caught:
        decode(data)
    return str(caught.value)


@pytest.mark.spec("CAC-6")
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="all"),
        pytest.param({"signer": None, "build_id": "", "trust": b"", "until": 0}, id="least"),
        pytest.param({"signer": Signer(False, "SHA256:x", "why \udcff")}, id="unknown signer"),
        pytest.param({"plan": bytes(range(256)) * 40, "manifest": b"\n" * 9}, id="any bytes"),
    ],
)
def test_what_is_written_is_read(changes):
    """A record comes back as it was, whatever bytes its parts have."""
    wanted = record(**changes)
    found = decode(encode(wanted))
    assert [getattr(found, name) for name in FIELDS] == [getattr(wanted, name) for name in FIELDS]
    if wanted.signer is None:
        assert found.signer is None
    else:
        for name in Signer.__slots__:
            assert getattr(found.signer, name) == getattr(wanted.signer, name)


@pytest.mark.spec("CAC-6")
def test_every_cut():
    """Every prefix of a record is none, and so is one with a byte after it."""
    data = encode(record())
    for size in range(len(data)):
        refused(data[:size])
    assert refused(data + b"\0") == "the record is cut"
    assert refused(data[:-1]) == "the record is cut"
    assert refused(b"") == "the record is none"


@pytest.mark.spec("CAC-6")
def test_every_byte_changed():
    """A record with any one byte changed is none."""
    data = bytearray(encode(record()))
    for at in range(len(data)):
        for flip in (1, 0x20, 0x80):
            data[at] ^= flip
            refused(bytes(data))
            data[at] ^= flip
    decode(bytes(data))


@pytest.mark.spec("CAC-6")
def test_bytes_swapped():
    """A record with two of its bytes exchanged is none."""
    data, rng = bytearray(encode(record())), random.Random(1)
    for _ in range(2000):
        a, b = rng.sample(range(len(data)), 2)
        if data[a] != data[b]:
            data[a], data[b] = data[b], data[a]
            refused(bytes(data))
            data[a], data[b] = data[b], data[a]


def summed(body: bytes, version: object = VERSION) -> bytes:
    """Return bytes with a first line that says the right length and checksum of the others."""
    return f"{MAGIC} {version} {len(body)} {checksum(body)}\n".encode() + body


@pytest.mark.spec("CAC-6")
@pytest.mark.parametrize("version", [0, VERSION + 1, "01", ""])
def test_another_version(version):
    """A record of another version is none, whatever follows."""
    body = encode(record()).partition(b"\n")[2]
    decode(summed(body))
    assert refused(summed(body, version)) == "the record is of another version"


@pytest.mark.spec("CAC-6")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"\n65024\n", b"\n065024\n", id="a leading zero"),
        pytest.param(b"\n65024\n", b"\n+65024\n", id="a sign"),
        pytest.param(b"\n65024\n", b"\n 65024\n", id="a space"),
        pytest.param(b"\n65024\n", b"\n65_024\n", id="an underscore"),
        pytest.param(b"\n65024\n", b"\n0xfe00\n", id="hexadecimal"),
        pytest.param(b"\n65024\n", b"\n", id="a line too few"),
        pytest.param(b"\n65024\n", b"\n1\n65024\n", id="a line too many"),
        pytest.param(b"\n65024\n", b"\n\n", id="an empty number"),
        pytest.param(b"\napp\n", b"\nap\xff\n", id="not ASCII"),
        pytest.param(b"\ntrusted\nSHA", b"\nmaybe\nSHA", id="a state that there is not"),
        pytest.param(b"\ntrusted\nSHA", b"\nnone\nSHA", id="nobody, with a key"),
        pytest.param(b"\n2f61", b"\n2F61", id="capitals"),
        pytest.param(b"\n2f61", b"\nf61", id="half a byte"),
        pytest.param(b"\n2f61", b"\n2f 61", id="a space in bytes"),
        pytest.param(b"\n2f61", b"\n2f00", id="a path with a NUL"),
        pytest.param(b"\n2147483648\n", b"\n-1\n", id="a last second before 1970"),
        pytest.param(b"\n10\n", b"\n11\n", id="a size too large"),
        pytest.param(b"\n10\n", b"\n-10\n", id="a negative size"),
        pytest.param(b"\n", b"\r\n", id="other ends of lines"),
    ],
)
def test_one_form(old, new):
    """What has another form is none, also where its checksum is right."""
    body = encode(record()).partition(b"\n")[2]
    assert old in body
    assert refused(summed(body.replace(old, new))) == "the record is malformed"


@pytest.mark.spec("CAC-6")
def test_hostile_numbers():
    """A number of any length is no reason for another error."""
    body = encode(record()).partition(b"\n")[2]
    for digits in (30, 5000):
        decoded = summed(body.replace(b"\n65024\n", b"\n%b\n" % (b"9" * digits)))
        if digits == 30:
            assert decode(decoded).identity[0] == int("9" * 30)
        else:
            refused(decoded)
