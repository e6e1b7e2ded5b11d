"""What the trust file decides, ssh-keygen decides too."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from okld.base.errors import FormatError
from okld.bundle.signing import check
from okld.bundle.trust import Trusted, parse_trust, who

NOW = "20231114221320Z"
SECONDS = 1_700_000_000

LINES = {
    "plain": "alice KEY",
    "comment after": "alice KEY some words",
    "tabs": "alice\t\tKEY",
    "space before": "  alice KEY",
    "list": "bob,alice KEY",
    "quoted list": '"bob b,alice" KEY',
    "pattern": "*@example.org,al* KEY",
    "one character": "alic? KEY",
    "excluded": "*,!bob KEY",
    "this namespace": 'alice namespaces="okb" KEY',
    "upper case option": 'alice NAMESPACES="okb" KEY',
    "another namespace": 'alice namespaces="git" KEY',
    "namespace list": 'alice namespaces="git,okb" KEY',
    "namespace pattern": 'alice namespaces="o*" KEY',
    "namespace pattern of none": 'alice namespaces="o?" KEY',
    "namespace of three": 'alice namespaces="???" KEY',
    "stars": 'alice namespaces="*o**b*" KEY',
    "namespace excluded": 'alice namespaces="!okb,*" KEY',
    "namespace excluded last": 'alice namespaces="*,!o*" KEY',
    "another excluded": 'alice namespaces="!git,okb" KEY',
    "only excluded": 'alice namespaces="!git" KEY',
    "namespace upper": 'alice namespaces="OKB" KEY',
    "empty namespaces": 'alice namespaces="" KEY',
    "before, the last second": 'alice valid-before="20231114221320Z" KEY',
    "before, gone": 'alice valid-before="20231114221319Z" KEY',
    "before, minutes": 'alice valid-before="202311142213Z" KEY',
    "before, a day": 'alice valid-before="20231115Z" KEY',
    "after, the first second": 'alice valid-after="20231114221320Z" KEY',
    "after, not yet": 'alice valid-after="20231114221321Z" KEY',
    "after, a day": 'alice valid-after="20231114Z" KEY',
    "both": 'alice valid-after="20230101Z",valid-before="20240101Z" KEY',
    "both, and more": 'alice namespaces="okb",valid-after="20230101Z",valid-before="20240101Z" KEY',
    "local, just": 'alice valid-after="202311142313" KEY',
    "local, not yet": 'alice valid-after="202311142314" KEY',
    "local day": 'alice valid-before="20231114" KEY',
    "another key": "alice OTHER",
    "two lines": "alice OTHER\nalice KEY",
    "two lines, the first expired": 'alice valid-before="20200101Z" KEY\nalice KEY',
    "comment": "# alice KEY",
    "empty": "",
    "carriage returns": "alice KEY\r",
    "authority": "alice cert-authority KEY",
    "unknown option": "alice no-pty KEY",
    "no quotes": "alice namespaces=okb KEY",
    "twice": 'alice namespaces="okb",namespaces="okb" KEY',
    "upside down": 'alice valid-after="20240101Z",valid-before="20230101Z" KEY',
    "no such month": 'alice valid-after="20201301Z" KEY',
    "1970": 'alice valid-after="19700101Z" KEY',
    "no key": "alice",
    "no base64": "alice ssh-ed25519 !!!!",
    "open quote": '"alice KEY',
}


@pytest.fixture
def berlin(monkeypatch):
    """A time zone with summer time, for this process and for ssh-keygen."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield {**os.environ}
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def signed(known, wire, armored):
    return armored(wire.blob(known.blob, known.sign(wire.signed_blob())))


def ours(signature, text: str, now: int) -> bool:
    try:
        return isinstance(who(signature, parse_trust(text.encode()), now), Trusted)
    except FormatError:
        return False


@pytest.mark.spec("TRU-1", "TRU-2", "TRU-3", "TRU-4")
@pytest.mark.parametrize("line", LINES.values(), ids=list(LINES))
def test_same_decision(known, known_rsa, public_line, keygen, manifest, signed, berlin, line):
    """A signature is by alice for us exactly where it is for ssh-keygen, at the same time."""
    text = line.replace("KEY", public_line(known.blob))
    text = text.replace("OTHER", public_line(known_rsa.blob)) + "\n"
    theirs = keygen.verifies(signed, text, "-O", f"verify-time={NOW}", env=berlin)
    assert ours(check(manifest, signed), text, SECONDS) == theirs


@pytest.mark.spec("TRU-4")
@pytest.mark.parametrize(
    "text", ["20230701", "202307010000", "20231029", "202310290230", "202303260230", "20230101"]
)
@pytest.mark.parametrize("offset", [-7200, -3601, -3600, -3599, -1, 0, 1, 3600])
def test_same_local_times(known, public_line, keygen, manifest, signed, berlin, text, offset):
    """To the second a local time, in summer too, is when ssh-keygen has it."""
    line = f'alice valid-before="{text}" {public_line(known.blob)}\n'
    moment = int(time.mktime(time.strptime(text[:8], "%Y%m%d"))) + offset
    moment += int(text[8:10] or 0) * 3600 + int(text[10:12] or 0) * 60
    at = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(moment))
    theirs = keygen.verifies(signed, line, "-O", f"verify-time={at}", env=berlin)
    assert ours(check(manifest, signed), line, moment) == theirs


@pytest.mark.spec("TRU-3")
@pytest.mark.parametrize("names", ["alice", "alice,bob", '"alice a,bob"', "*@example.org,x?"])
def test_same_principals(known, public_line, manifest, signed, tmp_path, names):
    """The names of a signer are those that ssh-keygen finds."""
    line = f"{names} {public_line(known.blob)}\n"
    (tmp_path / "signers").write_text(line)
    (tmp_path / "sig").write_bytes(signed)
    words = ["ssh-keygen", "-Y", "find-principals", "-s", tmp_path / "sig"]
    found = subprocess.check_output([*words, "-f", tmp_path / "signers"], text=True)
    signer = who(check(manifest, signed), parse_trust(line.encode()), SECONDS)
    assert signer.principal.split(",") == found.splitlines()
