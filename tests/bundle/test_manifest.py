"""The manifest: one encoding of each value, and no value of another form."""

from __future__ import annotations

import json
import random
from copy import deepcopy

import pytest

from okld.base.errors import FormatError, Refusal
from okld.bundle.manifest import (
    Manifest,
    Member,
    encode_manifest,
    parse_manifest,
    require_current,
)

SHA = "8738b09a129a9d8f327f938b1b9e6843dda454d74494257f9a391636e63bd2d1"
MEMBER = {
    "name": "x86_64", "arch": "x86_64", "path": "image/x86_64.ok", "length": 4032, "sha256": SHA,
    "build_id": "21e70340", "required": ["openkal.stream", "openkal.env"],
    "optional": ["openkal.net"],
}  # fmt: skip
VALUE = {"okb": 1, "name": "hello", "version": "1.0", "members": [MEMBER]}
WRITTEN = (
    '{"members":[{"arch":"x86_64","build_id":"21e70340","length":4032,"name":"x86_64",'
    '"optional":["openkal.net"],"path":"image/x86_64.ok",'
    f'"required":["openkal.stream","openkal.env"],"sha256":"{SHA}"}}],'
    '"name":"hello","okb":1,"version":"1.0"}\n'
).encode()


def encoded(value: object) -> bytes:
    """Return *value* as the clause says, by Python's encoder."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def edited(**changes) -> dict:
    return {**deepcopy(VALUE), **changes}


def member(**changes) -> dict:
    return edited(members=[{**deepcopy(MEMBER), **changes}])


def two(**changes) -> dict:
    first = {**deepcopy(MEMBER), "name": "a", "path": "image/a.ok"}
    second = {**deepcopy(MEMBER), "name": "b", "path": "image/b.ok"}
    return edited(members=[first, {**second, **changes}])


def without(key: str) -> dict:
    value = member()
    del (value if key in value else value["members"][0])[key]
    return value


@pytest.mark.spec("MAN-1", "MAN-3")
def test_a_manifest_is_read_and_written_byte_for_byte():
    """As it stands in the text of this test, without an encoder."""
    manifest = parse_manifest(WRITTEN)
    assert manifest == Manifest(
        name="hello",
        version="1.0",
        members=(
            Member(
                name="x86_64",
                arch="x86_64",
                path="image/x86_64.ok",
                length=4032,
                sha256=SHA,
                build_id="21e70340",
                required=("openkal.stream", "openkal.env"),
                optional=("openkal.net",),
            ),
        ),
    )
    assert encode_manifest(manifest) == WRITTEN == encoded(VALUE)


BOUNDS = [
    edited(name="a" * 64),
    edited(name="0.x_y-z"),
    edited(version=""),
    edited(version="1.0~rc1+git-20_x"),
    edited(version="V" * 64),
    edited(expires="2028-02-29T23:59:59Z"),
    edited(expires="0001-01-01T00:00:00Z"),
    edited(expires="9999-12-31T23:59:59Z"),
    member(length=1),
    member(length=1 << 32),
    member(build_id=""),
    member(build_id="ab" * 64),
    member(required=[], optional=[]),
    member(path="a"),
    member(path="a/" * 48 + "abcd"),
    member(arch="riscv64"),
    two(),
    edited(
        members=[{**MEMBER, "name": f"m{n}", "path": f"image/m{n}.ok"} for n in range(64)]
    ),
]  # fmt: skip


@pytest.mark.spec("MAN-1", "MAN-4", "MAN-5", "MAN-6", "MAN-7")
@pytest.mark.parametrize("value", BOUNDS)
def test_a_value_at_its_bound_is_taken(value):
    """And is encoded again as it was."""
    assert encode_manifest(parse_manifest(encoded(value))) == encoded(value)


ENCODINGS = [
    b"",
    b"\n",
    b"{}",
    WRITTEN[:-1],
    WRITTEN + b"\n",
    WRITTEN + b" ",
    b" " + WRITTEN,
    b"\xef\xbb\xbf" + WRITTEN,
    WRITTEN[:-1] + b"\r\n",
    WRITTEN.replace(b":", b": "),
    WRITTEN.replace(b",", b", ", 1),
    json.dumps(VALUE).encode() + b"\n",
    json.dumps(VALUE, separators=(",", ":")).encode() + b"\n",
    json.dumps(VALUE, indent=1, sort_keys=True).encode() + b"\n",
    WRITTEN.replace(b'"okb":1', b'"okb":1,"okb":1'),
    WRITTEN.replace(b'"name":"hello"', b'"name":"other","name":"hello"'),
    WRITTEN.replace(b"hello", b"h\\u0065llo"),
    WRITTEN.replace(b"image/x86_64.ok", b"image\\/x86_64.ok"),
    WRITTEN.replace(b"4032", b"04032"),
    WRITTEN.replace(b"4032", b"+4032"),
    WRITTEN.replace(b"hello", b"h\xc3\xa9llo"),
    WRITTEN.replace(b"hello", b"h\0llo"),
    WRITTEN.replace(b"4032", b"9" * 5000),
    WRITTEN.decode().encode("utf-16"),
    b"[" * 200_000,
    b'{"a":' * 100_000,
    b"[" * 400 + b"]" * 400 + b"\n",
]


@pytest.mark.spec("MAN-1", "MAN-3", "ERR-1")
@pytest.mark.parametrize("data", ENCODINGS, ids=range(len(ENCODINGS)))
def test_another_encoding_is_refused(data):
    """Though a reader of JSON might take it, and read the same or something else."""
    with pytest.raises(FormatError, match=r"MAN-[13]") as refusal:
        parse_manifest(data)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 200


@pytest.mark.spec("MAN-2")
def test_a_long_manifest_is_refused():
    """Before it is decoded."""
    with pytest.raises(FormatError, match="MAN-2"):
        parse_manifest(b"[" * ((1 << 20) + 1))


WRONG = {
    "MAN-3": [
        [],
        None,
        1,
        "text",
        edited(okb=2),
        edited(okb=0),
        edited(okb=True),
        edited(okb=1.0),
        edited(okb="1"),
        edited(okb=10**4000),
        *(without(key) for key in (*VALUE, *MEMBER)),
        edited(more=1),
        edited(**{"\x1b[31m" * 100: 1}),
        member(more=1),
        edited(name=1),
        edited(version=None),
        edited(expires=None),
        edited(expires=0),
        edited(members={}),
        edited(members=[[]]),
        edited(members=["x"]),
        member(length="4032"),
        member(length=True),
        member(length=4032.0),
        member(required="openkal.stream"),
        member(build_id=None),
    ],
    "MAN-4": [
        *(
            edited(name=name)
            for name in ("", "A", "-a", ".a", "a/b", "a b", "a" * 65, "\u00e9", "\ud800", "a\0")
        ),
        *(member(name=name) for name in ("", "A", "../x", "_", "a" * 65, "x=y")),
        *(edited(version=text) for text in ("1 0", "v" * 65, "1/0", "1\n", "\u0661")),
    ],
    "MAN-5": [
        edited(members=[]),
        edited(members=[{**MEMBER, "name": f"m{n}", "path": f"m/{n}"} for n in range(65)]),
        two(name="a"),
        two(path="image/a.ok"),
        two(path="image/a.ok/b"),
        two(path="image"),
        member(path="okb/manifest.json"),
        member(path="okb/x"),
        member(path="okb"),
        *(member(path=path) for path in ("", "/a", "a/", "../a", "a//b", "A", "a\\b", "a" * 101)),
    ],
    "MAN-6": [
        *(member(arch=arch) for arch in ("", "x86-64", "arm", "X86_64")),
        *(member(length=length) for length in (0, -1, (1 << 32) + 1, 10**30)),
        *(member(sha256=text) for text in ("", SHA[1:], SHA + "0", SHA.upper(), "g" * 64)),
        *(member(build_id=text) for text in ("a", "AB", "0x", "ab" * 65)),
        member(required=["openkal.env", "openkal.stream"]),
        member(required=["openkal.env", "openkal.env"]),
        member(required=["openkal.nothing"]),
        member(required=[1]),
        member(required=[[[]]]),
        member(optional=[{}]),
        member(required=["openkal.net"], optional=["openkal.net"]),
    ],
    "MAN-7": [
        edited(expires=text)
        for text in (
            "", "Z", "never", "2030-01-01", "2030-01-01T00:00:00", "2030-01-01 00:00:00Z",
            "2030-01-01T00:00:00z", "2030-1-1T00:00:00Z", "2030-01-01T00:00:00.5Z",
            "2030-01-01T00:00:00+00:00", "2030-01-01T00:00+00Z", "2027-02-29T00:00:00Z",
            "2030-13-01T00:00:00Z", "2030-01-01T24:00:00Z", "2030-01-01T00:00:60Z",
            "0000-01-01T00:00:00Z", "20300101T000000.0000Z", "2030-W01-1T00:00:00Z",
            "\u0662030-01-01T00:00:00Z", "10000-01-01T00:00:0Z",
        )
    ],
}  # fmt: skip


@pytest.mark.spec("MAN-3", "MAN-4", "MAN-5", "MAN-6", "MAN-7")
@pytest.mark.parametrize(("rule", "value"), [(r, v) for r, vs in WRONG.items() for v in vs])
def test_a_value_of_another_form_is_refused_by_its_rule(rule, value):
    """However well it is encoded."""
    with pytest.raises(FormatError) as refusal:
        parse_manifest(encoded(value))
    assert refusal.value.rule == rule, str(refusal.value)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 300


@pytest.mark.spec("MAN-3")
def test_a_later_format_is_said_to_be_one():
    """Whatever keys it has."""
    with pytest.raises(FormatError, match=r"format of the manifest \(got 2, limit 1\) \[MAN-3\]"):
        parse_manifest(b'{"new":1,"okb":2}\n')


@pytest.mark.spec("MAN-1", "ERR-1")
def test_a_manifest_with_bytes_changed_is_refused_or_another_value():
    """What is taken is its own encoding, by Python's encoder."""
    dice = random.Random(14)
    taken = 0
    for _ in range(20_000):
        data = bytearray(WRITTEN)
        for _ in range(dice.choice((1, 1, 2))):
            at = dice.randrange(len(data))
            data[at : at + dice.choice((0, 1, 1, 1, 2))] = dice.choice(
                (b"", b"0", b"a", b'"', b",", b"{", b"[", b"\\", b"\0", b"\xff", b" ", b"e", b"-")
            )
        try:
            parse_manifest(bytes(data))
        except FormatError:
            continue
        taken += 1
        assert encoded(json.loads(bytes(data))) == data
    assert taken > 100


@pytest.mark.spec("MAN-8")
def test_a_bundle_expires_at_its_second():
    """Not before, and for good; one without an expiry never does."""
    manifest = parse_manifest(encoded(edited(expires="2001-09-09T01:46:40Z")))
    assert manifest.expires_at() == 1_000_000_000
    require_current(manifest, 999_999_999.9)
    for now in (1_000_000_000, 4e9):
        with pytest.raises(Refusal, match=r"hello expired at 2001-09-09T01:46:40Z \[MAN-8\]"):
            require_current(manifest, now)
    forever = parse_manifest(WRITTEN)
    assert forever.expires_at() is None
    require_current(forever, 1e12)
