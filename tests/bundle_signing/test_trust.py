"""The lines of a trust file, and what they decide."""

from __future__ import annotations

import re
import time

import pytest

from okld.base.errors import FormatError
from okld.bundle.signing import check
from okld.bundle.trust import Trusted, Unknown, parse_trust, who

NOW = 1_700_000_000  # 2023-11-14T22:13:20Z


@pytest.fixture
def key(known, public_line):
    """The known key as a line of a public key file has it."""
    return public_line(known.blob)


@pytest.fixture
def signature(known, wire, manifest, armored):
    return check(manifest, armored(wire.blob(known.blob, known.sign(wire.signed_blob()))))


@pytest.mark.spec("TRU-1", "TRU-2")
def test_lines(known, known_rsa, public_line):
    """Names, options, keys and comments are those of the file, with the numbers of the lines."""
    rsa = public_line(known_rsa.blob)
    text = (
        "# a comment\n\n \t\n"
        f"alice {public_line(known.blob)} alice's key, since 2020\n"
        f'\t"bob b,*@example.org,!eve"\tNameSpaces="okb,file",valid-AFTER="19700102Z" \t{rsa}\r\n'
        f"  # alice {rsa}\n"
        f'ü,x valid-before="20300101000000Z"  {rsa}'
    )
    alice, bob, third = parse_trust(text.encode())
    assert (alice.line, alice.principals, alice.key.blob) == (4, ("alice",), known.blob)
    assert alice.comment == "alice's key, since 2020"
    assert (alice.namespaces, alice.valid_after, alice.valid_before) == (None, None, None)
    assert (bob.line, bob.principals) == (5, ("bob b", "*@example.org", "!eve"))
    assert (bob.namespaces, bob.valid_after, bob.comment) == (("okb", "file"), 86400, "")
    assert (third.line, third.principals, third.valid_before) == (7, ("ü", "x"), 1893456000)
    assert third.key.modulus == known_rsa.modulus


@pytest.mark.spec("TRU-1")
@pytest.mark.parametrize("data", [b"", b"\n\n", b"#", b"# x\n\t\n", b" \r\n"])
def test_nobody(data):
    """A file may name nobody."""
    assert parse_trust(data) == ()


WRONG = {
    "no key": ("alice", "TRU-1", "no key"),
    "kind only": ("alice ssh-ed25519", "TRU-1", "no key"),
    "options only": ('alice namespaces="okb"', "TRU-1", "no key"),
    "key only": ("KEY", "TRU-1", "no key"),
    "another kind": ("alice ssh-dss AAAA", "TRU-1", "ssh-dss is not supported"),
    "a certificate": ("alice ssh-ed25519-cert-v01@openssh.com AAAA", "TRU-1", "certificates"),
    "no base64": ("alice ssh-ed25519 !!!!", "TRU-1", "base64"),
    "not ascii": ("alice ssh-ed25519 ÄÄÄÄ", "TRU-1", "base64"),
    "cut key": ("alice ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA", "TRU-1", "cut short"),
    "another kind's key": ("alice ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA", "TRU-1", "no key"),
    "short rsa": ("alice ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAwEAAQ==", "TRU-1", "too short"),
    "open quote": ('"alice KEY', "TRU-1", "quote"),
    "quote in a name": ('al"ice KEY', "TRU-1", "quote"),
    "text after quote": ('"alice"x KEY', "TRU-1", "quote"),
    "empty name": ("alice,,bob KEY", "TRU-1", "empty name"),
    "no name": ('"" KEY', "TRU-1", "empty name"),
    "nobody excluded": ("alice,! KEY", "TRU-1", "empty name"),
    "nul": ("alice\0 KEY", "TRU-1", "NUL"),
    "authority": ("alice cert-authority KEY", "TRU-2", "cert-authority"),
    "authority second": ('alice namespaces="okb",cert-authority KEY', "TRU-2", "cert-authority"),
    "authority first": ('alice Cert-Authority,namespaces="x" KEY', "TRU-2", "cert-authority"),
    "unknown": ("alice no-touch-required KEY", "TRU-2", "no-touch-required"),
    "unknown with value": ('alice from="x" KEY', "TRU-2", "unknown option from"),
    "unknown second": ('alice namespaces="okb",x KEY', "TRU-2", "unknown option x"),
    "escape": ("alice \x1b[2j KEY", "TRU-2", "\\x1b[2j"),
    "no quotes": ("alice namespaces=okb KEY", "TRU-2", "double quotes"),
    "no end": ('alice namespaces="okb KEY', "TRU-1", "no key"),
    "quoted quote": ('alice namespaces="ok\\"b" KEY', "TRU-2", "double quotes"),
    "end comma": ('alice namespaces="okb", KEY', "TRU-2", "unknown option"),
    "no comma": ('alice namespaces="okb"x KEY', "TRU-2", "after the value"),
    "twice": ('alice namespaces="okb",NAMESPACES="x" KEY', "TRU-2", "twice"),
    "time twice": ('alice valid-after="20200101",valid-after="20200101" KEY', "TRU-2", "twice"),
    "upside down": ('alice valid-after="20210101",valid-before="20200101" KEY', "TRU-2", "after"),
    "no time": ('alice valid-after="20200101Z",valid-before="20200101Z" KEY', "TRU-2", "after"),
}


@pytest.mark.spec("TRU-1", "TRU-2", "ERR-2")
@pytest.mark.parametrize(("line", "rule", "says"), WRONG.values(), ids=list(WRONG))
def test_wrong_lines(key, line, rule, says):
    """One wrong line refuses the file, by its number, wherever it stands."""
    text = f"# first\nbob {key}\n{line.replace('KEY', key)}\ncarol {key}\n"
    with pytest.raises(FormatError) as caught:
        parse_trust(text.encode())
    assert caught.value.rule == rule, caught.value
    assert str(caught.value).startswith("line 3 of the trust file ")
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.spec("TRU-1")
@pytest.mark.parametrize("separator", ["\v", "\f", "\x1c", "\x85", "\u2028", "\u00a0", "\u2003"])
def test_only_newlines_end_lines(key, separator):
    """Other bytes that Unicode calls a line's or a word's end are part of a name, as in C."""
    (entry,) = parse_trust(f"al{separator}ice {key}\n".encode())
    assert entry.principals == (f"al{separator}ice",)


@pytest.mark.spec("TRU-1")
def test_no_utf8(key):
    """A file in another encoding is refused."""
    with pytest.raises(FormatError, match=r"UTF-8 \[TRU-1\]$"):
        parse_trust(b"\xfc " + key.encode())


@pytest.mark.spec("TRU-4")
@pytest.mark.parametrize(
    "text",
    [
        "", "Z", "2020", "2020010", "202001011", "2020010112", "20200101123", "202001011200001",
        "20200001", "20201301", "20200100", "20200132", "20200230", "20210229", "00000101",
        "202001012400", "202001011260", "20200101120060", "2020-01-01", "20200101z", "20200101UTC",
        "+2020101", " 2020101", "2020 101", "19700101Z", "19691231Z", "2020010१", "20200101ZZ",
    ],
)  # fmt: skip
def test_no_times(key, text):
    """What is no time, or a day that there is not, is refused, in either option."""
    for name in ("valid-after", "valid-before"):
        with pytest.raises(FormatError) as caught:
            parse_trust(f'alice {name}="{text}" {key}'.encode())
        assert caught.value.rule == "TRU-4"
        assert name in str(caught.value)


@pytest.mark.spec("TRU-3")
@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("alice KEY", "alice"),
        ("alice,*@example.org KEY", "alice,*@example.org"),
        ('"alice a" KEY', "alice a"),
        ('alice namespaces="okb" KEY', "alice"),
        ('alice namespaces="file,ok?" KEY', "alice"),
        ('alice namespaces="*" KEY', "alice"),
        ('alice valid-after="20231114221320Z" KEY', "alice"),
        ('alice valid-before="20231114221320Z" KEY', "alice"),
        ("bob OTHER\nalice KEY", "alice"),
        ('bob valid-before="20200101Z" KEY\nalice KEY', "alice"),
        ('bob namespaces="git" KEY\nalice KEY\ncarol KEY', "alice"),
    ],
)
def test_trusted(signature, key, known_rsa, public_line, line, want):
    """Who holds the key is what the first line says that lets it count."""
    text = line.replace("KEY", key).replace("OTHER", public_line(known_rsa.blob))
    got = who(signature, parse_trust(text.encode()), NOW)
    assert isinstance(got, Trusted)
    assert got.principal == want


@pytest.mark.spec("TRU-3")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "no line of the trust file has this key"),
        ("bob OTHER", "no line of the trust file has this key"),
        ('a valid-before="20231114221319Z" KEY', "line 1 .* valid until 2023-11-14T22:13:19Z"),
        ('a valid-after="20231114221321Z" KEY', "line 1 .* not valid before 2023-11-14T22:13:21Z"),
        ('# x\na namespaces="git" KEY', "line 2 .* not for the namespace okb"),
        ('a namespaces="" KEY', "line 1 .* not for the namespace okb"),
        ('a namespaces="!okb,*" KEY', "line 1 .* not for the namespace okb"),
        ('a namespaces="OKB" KEY', "line 1 .* not for the namespace okb"),
        ("!a KEY", "line 1 .* names nobody"),
        ('a namespaces="git" KEY\nb valid-before="20200101Z" KEY', "line 1 .* namespace"),
    ],
)
def test_not_trusted(signature, key, known_rsa, public_line, line, reason):
    """Why a signer is unknown is said, by the first line that has the key."""
    text = line.replace("KEY", key).replace("OTHER", public_line(known_rsa.blob))
    got = who(signature, parse_trust(text.encode()), NOW)
    assert isinstance(got, Unknown)
    assert re.match(reason, got.reason), got.reason


@pytest.mark.spec("TRU-3")
def test_until(signature, key):
    """Trust has an end where its line has one: an admission must not be remembered for longer."""
    text = f'alice valid-before="20231114221320Z" {key}\n'
    assert who(signature, parse_trust(text.encode()), NOW) == Trusted(principal="alice", until=NOW)
    assert isinstance(who(signature, parse_trust(text.encode()), NOW + 1), Unknown)


@pytest.fixture
def zone(monkeypatch):
    """Put this process in a time zone."""

    def zone(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield zone
    monkeypatch.undo()
    time.tzset()


@pytest.mark.spec("TRU-4")
@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("UTC", "20231114221320", NOW),
        ("Europe/Berlin", "20231114231320", NOW),  # one hour east
        ("America/New_York", "20231114171320", NOW),  # five hours west
        ("Asia/Kolkata", "202311150343", NOW - 20),  # five and a half
        ("Europe/Berlin", "20230701", 1688166000),  # 2023-06-30T23:00:00Z: no summer time
        ("Europe/Berlin", "20231114221320Z", NOW),
    ],
)
def test_local_times(key, zone, name, text, want):
    """Without a Z a time is the zone's, and never summer time."""
    zone(name)
    (entry,) = parse_trust(f'alice valid-after="{text}" {key}'.encode())
    assert entry.valid_after == want
