"""What each policy asks of a bundle's signature."""

from __future__ import annotations

import subprocess
import sys

import pytest

from okld.base.errors import FormatError, Refusal
from okld.bundle.policy import POLICIES, require
from okld.bundle.trust import Trusted, Unknown, parse_trust
from okld.cli.main import main

NOW = 1_700_000_000


@pytest.fixture
def trust(known, public_line):
    line = f'alice@example.org valid-before="20300101Z" {public_line(known.blob)}\n'
    return parse_trust(line.encode())


@pytest.fixture
def signature(known, wire, armored):
    return armored(wire.blob(known.blob, known.sign(wire.signed_blob())))


@pytest.mark.spec("TRU-6")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_trusted_signer(manifest, signature, trust, policy):
    """A signature by somebody who is trusted is enough for every policy."""
    standing = require(policy, manifest, signature, trust, NOW)
    assert standing.signer == Trusted(principal="alice@example.org", until=1893456000)
    assert standing.signature.key.kind == "ssh-ed25519"


@pytest.mark.spec("TRU-6")
@pytest.mark.parametrize(("policy", "taken"), [("any", True), ("signed", True), ("trusted", False)])
def test_an_unknown_signer(manifest, signature, trust, policy, taken):
    """A valid signature by nobody who is trusted is enough but for the strictest, and is said."""
    for lines, now, reason in (
        ((), NOW, "no line of the trust file has this key"),
        (
            trust,
            1893456001,
            "line 1 of the trust file: the key was valid until 2030-01-01T00:00:00Z",
        ),
    ):
        if taken:
            standing = require(policy, manifest, signature, lines, now)
            assert isinstance(standing.signer, Unknown)
            assert reason in standing.signer.reason
        else:
            with pytest.raises(Refusal, match=rf"{reason}.*\[TRU-6\]$"):
                require(policy, manifest, signature, lines, now)


@pytest.mark.spec("TRU-6")
@pytest.mark.parametrize(
    ("policy", "taken"), [("any", True), ("signed", False), ("trusted", False)]
)
def test_no_signature(manifest, trust, policy, taken):
    """A signature that was taken off is missed by the two policies that ask for one."""
    if taken:
        standing = require(policy, manifest, None, trust, NOW)
        assert (standing.signature, standing.signer) == (None, None)
    else:
        with pytest.raises(Refusal, match=rf"not signed.*'{policy}' \[TRU-6\]$"):
            require(policy, manifest, None, trust, NOW)


@pytest.mark.spec("TRU-6")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_wrong_signature(manifest, signature, trust, policy):
    """A signature that is there and wrong is refused by every policy, for its own reason."""
    with pytest.raises(Refusal, match=r"\[SIG-1\]$"):
        require(policy, manifest + b" ", signature, trust, NOW)
    with pytest.raises(FormatError, match=r"\[SIG-2\]$"):
        require(policy, manifest, b"", trust, NOW)


@pytest.mark.spec("CLI-3")
def test_arithmetic_is_not_imported_before_it_is_needed():
    """Deciding about a bundle that is not signed, and reading trust files, imports none of it."""
    code = (
        "import sys\n"
        "import okld.bundle.signing, okld.bundle.agent, okld.bundle.trust_edit, okrun.cli.trust\n"
        "from okld.bundle.policy import require\n"
        "require('any', b'', None, (), 0)\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'cryptography']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.spec("CLI-3")
def test_reading_the_trust_file_imports_nothing():
    """A start may read the trust file's bytes."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from okld.bundle.trust_file import read_trust_file\n"
        "new = {name for name in set(sys.modules) - before if not name.startswith('okld')}\n"
        "assert new <= {'__future__'}, new\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.spec("CLI-1", "TRU-5")
def test_a_trust_file_that_is_not_there(capsys, tmp_path):
    """`okld verify` with a trust file that is not there does not go on without one."""
    missing = str(tmp_path / "signers")
    assert main(["verify", str(tmp_path / "a.okb"), "--allowed-signers", missing]) == 2
    assert capsys.readouterr() == ("", f"okld: trust file: {missing}: No such file or directory\n")
