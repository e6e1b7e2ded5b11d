"""Each thing that is wrong with a signature is refused for its own reason."""

from __future__ import annotations

import base64
import re

import pytest

from okld.base.errors import FormatError, OkError, Refusal
from okld.bundle.signing import check

BEGIN = b"-----BEGIN SSH SIGNATURE-----\n"
END = b"-----END SSH SIGNATURE-----\n"


@pytest.fixture
def made(known, wire):
    """What the known key makes of the manifest."""
    return known.sign(wire.signed_blob())


@pytest.fixture
def good(known, wire, made):
    """The fields of a valid signature."""
    return wire.blob(known.blob, made)


def refused(manifest, signature, rule, kind=Refusal):
    with pytest.raises(kind) as caught:
        check(manifest, signature)
    assert caught.value.rule == rule, caught.value
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.spec("SIG-1")
def test_the_good_one_is_taken(manifest, known, good, armored, keygen, public_line):
    """What the tests below edit is valid, for ssh-keygen too."""
    assert check(manifest, armored(good)).key.blob == known.blob
    assert keygen.verifies(armored(good), f"alice {public_line(known.blob)}\n")


@pytest.mark.spec("SIG-1")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda m: m[:-1], id="cut"),
        pytest.param(lambda m: m + b"\n", id="longer"),
        pytest.param(lambda m: m.replace(b"hello", b"hallo"), id="another name"),
        pytest.param(lambda m: m.replace(b'"1"', b'"2"'), id="the same name, other bytes"),
        pytest.param(lambda m: b"", id="empty"),
    ],
)
def test_another_manifest(manifest, good, armored, edit):
    """A signature is of these bytes and no others."""
    assert "not of this manifest" in refused(edit(manifest), armored(good), "SIG-1")


@pytest.mark.spec("SIG-1")
@pytest.mark.parametrize("kind", ["ed25519", "nistp256", "nistp384", "nistp521", "rsa"])
def test_another_key(manifest, keygen, keys, make_key, kind):
    """A signature that names another key of the same kind is refused; so is a changed one."""
    options = {"rsa": ("-t", "rsa", "-b", "2048"), "ed25519": ("-t", "ed25519")}.get(
        kind, ("-t", "ecdsa", "-b", kind[-3:])
    )
    ours, theirs = keygen.sign(keys[kind]), keygen.sign(make_key("other", *options))
    blobs = [base64.b64decode(b"".join(s.split(b"\n")[1:-2])) for s in (ours, theirs)]
    names = [int.from_bytes(blob[10:14], "big") + 14 for blob in blobs]
    mixed = blobs[0][: names[0]] + blobs[1][names[1] :]
    body = base64.encodebytes(mixed)
    assert re.search(r"by the key SHA256:\S{43} ", refused(manifest, BEGIN + body + END, "SIG-1"))


@pytest.mark.spec("SIG-4")
@pytest.mark.parametrize("namespace", ["file", "git", "OKB", "okb2", "ok"])
def test_another_namespace(manifest, keygen, keys, namespace):
    """A signature made for another use is none for this."""
    signature = keygen.sign(keys["ed25519"], namespace=namespace)
    assert f"'{namespace}'" in refused(manifest, signature, "SIG-4")


@pytest.mark.spec("SIG-1", "SIG-4")
@pytest.mark.parametrize("namespace", [b"", b"okb\0", b"\x1b[2J", b"\xff\xfe"])
def test_a_namespace_of_other_bytes(manifest, known, made, wire, armored, namespace):
    """Whatever stands in its place, only these three bytes are the namespace."""
    refused(manifest, armored(wire.blob(known.blob, made, namespace=namespace)), "SIG-4")


@pytest.mark.spec("SIG-1", "SIG-4")
def test_a_renamed_namespace(manifest, keygen, keys, good):
    """The name alone is not enough: the key signed the other one."""
    signature = keygen.sign(keys["ed25519"], namespace="git")
    blob = base64.b64decode(b"".join(signature.split(b"\n")[1:-2]))
    renamed = blob.replace(b"\0\0\0\3git", b"\0\0\0\3okb")
    assert renamed != blob
    refused(manifest, BEGIN + base64.encodebytes(renamed) + END, "SIG-1")


@pytest.mark.spec("SIG-2", "SIG-3")
def test_every_prefix(manifest, good, armored):
    """A signature cut anywhere is refused: its file, and its fields in whole armor."""
    whole = armored(good)
    for end in range(len(whole)):
        refused(manifest, whole[:end], "SIG-2", FormatError)
    for end in range(len(good)):
        refused(manifest, armored(good[:end]), "SIG-2" if end == 0 else "SIG-3", FormatError)


@pytest.mark.spec("SIG-3")
def test_bytes_too_many(manifest, known, made, good, wire, armored):
    """Nothing may follow the fields of the signature, of the key or of what the key made."""
    for blob in (
        good + b"\0",
        wire.blob(known.blob, made + b"\0"),
        wire.blob(known.blob, made[:15] + wire.text(made[19:] + b"\0")),
    ):
        refused(manifest, armored(blob), "SIG-3", FormatError)
    refused(manifest, armored(wire.blob(known.blob + b"\0", made)), "SIG-6", FormatError)


@pytest.mark.spec("SIG-2")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda s: b"\n" + s, id="a line before"),
        pytest.param(lambda s: b" " + s, id="a space before"),
        pytest.param(lambda s: b"\xef\xbb\xbf" + s, id="a byte order mark"),
        pytest.param(lambda s: s + b"\n", id="a line after"),
        pytest.param(lambda s: s + b"x", id="a byte after"),
        pytest.param(lambda s: s + s, id="twice"),
        pytest.param(lambda s: s[:-1], id="no last newline"),
        pytest.param(lambda s: s.replace(b"\n", b"\r\n"), id="carriage returns"),
        pytest.param(lambda s: s.replace(b"BEGIN SSH", b"BEGIN  SSH"), id="another first line"),
        pytest.param(lambda s: s.replace(b"-\n", b"- \n", 1), id="a space after the first line"),
        pytest.param(lambda s: s.replace(b"END SSH", b"END PGP"), id="another last line"),
        pytest.param(lambda s: BEGIN + END, id="nothing inside"),
        pytest.param(lambda s: BEGIN + b"\n" + END, id="an empty line inside"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1N\n\nI"), id="an empty line more"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1 NI"), id="a space inside"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1N-"), id="another alphabet"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1N\0"), id="a nul"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1N=I"), id="an equals sign inside"),
        pytest.param(lambda s: s.replace(b"U1NI", b"U1N\xe9"), id="a byte above 127"),
        pytest.param(lambda s: s.replace(b"\n", b"", 2).replace(b"-U", b"-\nU"), id="a long line"),
        pytest.param(lambda s: b"", id="empty"),
        pytest.param(lambda s: b"\n", id="one newline"),
        pytest.param(lambda s: END + BEGIN, id="upside down"),
    ],
)
def test_armor(manifest, good, armored, edit):
    """There is one form of a signature file, apart from the length of its lines."""
    whole = armored(good)
    assert edit(whole) != whole
    refused(manifest, edit(whole), "SIG-2", FormatError)


@pytest.mark.spec("SIG-2")
@pytest.mark.parametrize("blob_size", [1, 2])
def test_base64_has_one_form(manifest, blob_size):
    """The bits that stand for nothing are 0, and the equals signs are there."""
    good = base64.b64encode(bytes(blob_size))
    refused(manifest, BEGIN + good + b"\n" + END, "SIG-3", FormatError)
    spare = good.replace(b"A=", b"B=", 1)
    for bad in (spare, good[:-1], good + b"=", good.rstrip(b"=")):
        refused(manifest, BEGIN + bad + b"\n" + END, "SIG-2", FormatError)


@pytest.mark.spec("SIG-2")
@pytest.mark.parametrize(("width", "taken"), [(1, True), (64, True), (76, True), (77, False)])
def test_length_of_lines(manifest, good, armored, width, taken):
    """Lines have 1 to 76 characters, as the format's description says."""
    if taken:
        assert check(manifest, armored(good, width))
    else:
        refused(manifest, armored(good, width), "SIG-2", FormatError)


@pytest.mark.spec("SIG-2")
def test_length(manifest, armored):
    """64 KiB are read, and a byte more is refused before anything else is looked at."""
    assert "too long" not in refused(manifest, b"x" * 0x10000, "SIG-2", FormatError)
    assert "too long" in refused(manifest, b"x" * 0x10001, "SIG-2", FormatError)


@pytest.mark.spec("SIG-3")
@pytest.mark.parametrize("version", [0, 2, 0x01000000, 0xFFFFFFFF])
def test_another_version(manifest, known, made, wire, armored, version):
    """Only version 1 is known."""
    blob = wire.blob(known.blob, made, version=version)
    assert "version" in refused(manifest, armored(blob), "SIG-3", FormatError)


@pytest.mark.spec("SIG-3")
def test_a_reserved_field(manifest, known, made, wire, armored, keygen, public_line):
    """What the key did not sign is refused, though ssh-keygen passes over it."""
    signature = armored(wire.blob(known.blob, made, reserved=b"anything"))
    assert keygen.verifies(signature, f"alice {public_line(known.blob)}\n")
    assert "reserved" in refused(manifest, signature, "SIG-3", FormatError)


@pytest.mark.spec("SIG-3")
def test_no_sshsig(manifest, good, armored):
    """Other bytes in armor are no signature."""
    refused(manifest, armored(b"SSHSIH" + good[6:]), "SIG-3", FormatError)


@pytest.mark.spec("SIG-5")
@pytest.mark.parametrize("name", [b"sha1", b"md5", b"sha384", b"", b"SHA512", b"\x1b[31m"])
def test_another_hash(manifest, known, made, wire, armored, name):
    """Only two hashes are known, by their names in lower case."""
    refused(manifest, armored(wire.blob(known.blob, made, hash_name=name)), "SIG-5")


@pytest.mark.spec("SIG-1", "SIG-5")
def test_the_hash_is_signed(manifest, known, made, wire, armored):
    """A signature of the SHA-512 is not one of the SHA-256."""
    refused(manifest, armored(wire.blob(known.blob, made, hash_name=b"sha256")), "SIG-1")


@pytest.mark.spec("SIG-6")
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("ssh-dss", "not supported"),
        ("ssh-ed448", "not supported"),
        ("rsa-sha2-512", "not supported"),
        ("", "not supported"),
        ("ssh-ed25519\0", "not supported"),
        ("ssh-ed25519-cert-v01@openssh.com", "certificates"),
        ("sk-ssh-ed25519-cert-v01@openssh.com", "certificates"),
        ("webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "not supported"),
    ],
)
def test_other_kinds_of_keys(manifest, known, made, wire, armored, kind, says):
    """A kind that is not checked is refused by its name."""
    blob = wire.text(kind.encode()) + known.blob[15:]
    assert says in refused(manifest, armored(wire.blob(blob, made)), "SIG-6")


@pytest.mark.spec("SIG-6")
@pytest.mark.parametrize("options", [("-t", "dsa")], ids=["dsa"])
def test_a_dsa_key_of_ssh_keygens(manifest, keygen, make_key, options):
    """ssh-keygen 9.2 still makes such signatures; they are refused."""
    assert "ssh-dss" in refused(manifest, keygen.sign(make_key("dsa", *options)), "SIG-6")


@pytest.mark.spec("SIG-6")
def test_a_certificate_of_ssh_keygens(manifest, keygen, make_key, tmp_path, keys):
    """A signature by a certified key names the certificate, and is refused for it."""
    from subprocess import run

    key = make_key("certified", "-t", "ed25519")
    words = ["ssh-keygen", "-q", "-s", keys["ed25519"], "-I", "x", "-n", "alice"]
    run([*words, key.with_suffix(".pub")], check=True)
    shown = (tmp_path / "certified-cert.pub").read_text().split()
    blob = base64.b64decode(shown[1])
    made = b"SSHSIG\0\0\0\1" + len(blob).to_bytes(4, "big") + blob
    made += b"\0\0\0\3okb\0\0\0\0\0\0\0\6sha512\0\0\0\0"
    body = base64.encodebytes(made)
    assert "certificates" in refused(manifest, BEGIN + body + END, "SIG-6")


@pytest.mark.spec("SIG-6")
@pytest.mark.parametrize(
    ("curve", "point"),
    [
        pytest.param(b"nistp256", b"\4" + bytes(64), id="not on the curve"),
        pytest.param(b"nistp256", b"\4" + b"\xff" * 64, id="above the field"),
        pytest.param(b"nistp256", b"\2" + bytes(32), id="compressed"),
        pytest.param(b"nistp256", b"\0", id="infinity"),
        pytest.param(b"nistp384", b"\4" + bytes(96), id="another curve"),
        pytest.param(b"nistp256", b"", id="empty"),
    ],
)
def test_no_such_point(manifest, wire, armored, curve, point):
    """A point that is none of the curve's is no key."""
    kind = b"ecdsa-sha2-nistp256"
    key = wire.text(kind) + wire.text(curve) + wire.text(point)
    made = wire.text(kind) + wire.text(wire.number(1) + wire.number(1))
    refused(manifest, armored(wire.blob(key, made)), "SIG-6", FormatError)


@pytest.mark.spec("SIG-3")
@pytest.mark.parametrize("which", [0, 1], ids=["r", "s"])
@pytest.mark.parametrize(
    "number", [b"", b"\0", b"\0\x01", b"\x80", b"\xff\xff"], ids=["empty", "0", "01", "-80", "-ff"]
)
def test_numbers_have_one_form(manifest, wire, armored, which, number):
    """The numbers of an ECDSA signature are positive, and not longer than they need be."""
    key = wire.Hardware("nistp256")
    numbers = [wire.number(1), wire.number(1)]
    numbers[which] = wire.text(number)
    made = wire.text(key.kind) + wire.text(b"".join(numbers)) + key.suffix
    refused(manifest, armored(wire.blob(key.blob, made)), "SIG-3", FormatError)


@pytest.mark.spec("SIG-3")
def test_algorithm_of_another_kind(manifest, known, known_rsa, wire, made, armored):
    """What a key made has the name of that key's kind."""
    blob = wire.blob(known_rsa.blob, made)
    assert "ssh-ed25519" in refused(manifest, armored(blob), "SIG-3", FormatError)
    blob = wire.blob(known.blob, known_rsa.sign(wire.signed_blob()))
    assert "rsa-sha2-512" in refused(manifest, armored(blob), "SIG-3", FormatError)


@pytest.mark.spec("SIG-7")
def test_sha1(manifest, known_rsa, wire, armored, keygen, public_line):
    """A signature of a SHA-1 hash is refused, though it is right; ssh-keygen refuses it too."""
    made = known_rsa.sign(wire.signed_blob(), b"ssh-rsa")
    signature = armored(wire.blob(known_rsa.blob, made))
    assert "SHA-1" in refused(manifest, signature, "SIG-7")
    assert not keygen.verifies(signature, f"alice {public_line(known_rsa.blob)}\n")


@pytest.mark.spec("SIG-7")
def test_short_rsa(manifest, keygen, make_key):
    """1,024 bits are too few, though ssh-keygen still signs with them."""
    key = make_key("short", "-t", "rsa", "-b", "1024")
    assert "1024 bits" in refused(manifest, keygen.sign(key), "SIG-7")


@pytest.mark.spec("SIG-7")
@pytest.mark.parametrize(
    ("bits", "rule"), [(2047, "SIG-7"), (2048, "SIG-1"), (16384, "SIG-1"), (16385, "SIG-7")]
)
def test_limits_of_rsa(manifest, wire, armored, bits, rule):
    """From 2,048 to 16,384 bits the arithmetic is asked, and says no to a made-up signature."""
    modulus = (1 << (bits - 1)) + 12345
    key = wire.text(b"ssh-rsa") + wire.number(65537) + wire.number(modulus)
    made = wire.text(b"rsa-sha2-512") + wire.text(b"\1" * ((bits + 7) // 8))
    refused(manifest, armored(wire.blob(key, made)), rule)


@pytest.mark.spec("SIG-7")
@pytest.mark.parametrize("exponent", [1, 2, 4, (1 << 64) + 1])
def test_exponents_of_rsa(manifest, known_rsa, wire, armored, exponent):
    """An exponent is odd, at least 3 and at most 64 bits long."""
    key = wire.text(b"ssh-rsa") + wire.number(exponent) + wire.number(known_rsa.modulus)
    blob = wire.blob(key, known_rsa.sign(wire.signed_blob()))
    refused(manifest, armored(blob), "SIG-7", FormatError)


@pytest.mark.spec("SIG-3")
@pytest.mark.parametrize("size", [0, 255, 257])
def test_length_of_an_rsa_signature(manifest, known_rsa, wire, armored, size):
    """It has as many bytes as the modulus."""
    made = wire.text(b"rsa-sha2-512") + wire.text(bytes(size))
    refused(manifest, armored(wire.blob(known_rsa.blob, made)), "SIG-3", FormatError)


@pytest.mark.spec("SIG-8")
@pytest.mark.parametrize("curve", ["ed25519", "nistp256"])
@pytest.mark.parametrize("flags", [0, 4], ids=["none", "verified only"])
def test_hardware_that_nobody_touched(manifest, wire, armored, curve, flags):
    """A signature that the hardware made unasked is refused, though it is right."""
    key = wire.Hardware(curve, flags=flags)
    signature = armored(wire.blob(key.blob, key.sign(wire.signed_blob())))
    assert "nobody touched" in refused(manifest, signature, "SIG-8")


@pytest.mark.spec("SIG-3")
@pytest.mark.parametrize("curve", ["ed25519", "nistp256"])
def test_hardware_signatures_cut(manifest, wire, armored, curve):
    """Flags and counter are five bytes."""
    key = wire.Hardware(curve)
    made = key.sign(wire.signed_blob())
    for edited in (made[:-1], made[:-5], made + b"\0"):
        refused(manifest, armored(wire.blob(key.blob, edited)), "SIG-3", FormatError)


@pytest.mark.spec("SIG-1")
@pytest.mark.parametrize("curve", ["ed25519", "nistp256"])
def test_application_of_hardware_is_signed(manifest, wire, armored, curve):
    """The same point with another application is another key, which did not sign."""
    key = wire.Hardware(curve)
    other = key.blob[:-8] + wire.text(b"ssh;")
    refused(manifest, armored(wire.blob(other, key.sign(wire.signed_blob()))), "SIG-1")


@pytest.mark.spec("SIG-1")
def test_every_bit(manifest, good, armored):
    """Whichever bit is changed, the signature is refused."""
    for at in range(len(good) * 8):
        edited = bytearray(good)
        edited[at // 8] ^= 1 << at % 8
        with pytest.raises(OkError, match=r"\[SIG-\d\]$"):
            check(manifest, armored(bytes(edited)))
