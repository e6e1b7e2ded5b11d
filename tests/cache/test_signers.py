"""Who signed a bundle is remembered for as long as the trust file says the same."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from starts import SECOND

import okrun.bundled
from okld.base.errors import Refusal
from okld.cli.main import main


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A private key; its public one is beside it."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True)
    return tmp_path / "key"


@pytest.mark.spec("CAC-11", "ADM-9")
@pytest.mark.parametrize(
    ("lines", "ahead", "first", "later"),
    [
        pytest.param(["me valid-after"], 99, None, None, id="not yet valid"),
        pytest.param(["me valid-after"], 100, None, "me", id="valid from now on"),
        pytest.param(["me valid-before"], 100, "me", "me", id="still valid"),
        pytest.param(["me valid-before"], 101, "me", None, id="valid no longer"),
        pytest.param(["a valid-after", "b valid-before"], 100, "b", "a", id="an earlier line"),
    ],
)
def test_a_time_of_the_trust_file_passes(
    starter, bundle, key, clock, tmp_path, monkeypatch, lines, ahead, first, later
):
    """From that second on a remembered start says of the signer what one that reads all says."""
    signed = tmp_path / "signed.okb"
    image = f"{bundle}.x86_64.ok"
    assert main(["bundle", "-o", str(signed), "--sign", str(key), image]) == 0
    now = clock() // SECOND
    moment = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(now + 100))
    public = key.with_suffix(".pub").read_text()
    settings = tmp_path / "config/okrun"
    settings.mkdir(parents=True, mode=0o700)
    trust = "".join(f'{line}="{moment}" {public}' for line in lines)
    (settings / "allowed_signers").write_text(trust)

    def signer(ahead: int, **options: bool) -> str | None:
        monkeypatch.setattr(okrun.bundled, "time_ns", lambda: (now + ahead) * SECOND)
        found = starter(signed, **options).record.signer
        return found.said if found.trusted else None

    assert signer(0) == first
    assert starter(signed).cache == "hit"
    assert signer(ahead) == signer(ahead, remember=False) == later


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch):
    """Set this process's time zone, as TZ names it."""

    def zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield zone
    monkeypatch.undo()
    time.tzset()


@pytest.mark.spec("CAC-2")
def test_another_time_zone_is_another_question(starter, bundle, key, clock, tmp_path, zone):
    """A local time of the trust file that has passed in one zone is to come in another."""
    signed = tmp_path / "signed.okb"
    assert main(["bundle", "-o", str(signed), "--sign", str(key), f"{bundle}.x86_64.ok"]) == 0
    an_hour_ago = time.strftime("%Y%m%d%H%M%S", time.gmtime(clock() // SECOND - 3600))
    settings = tmp_path / "config/okrun"
    settings.mkdir(parents=True, mode=0o700)
    public = key.with_suffix(".pub").read_text()
    (settings / "allowed_signers").write_text(f'me valid-before="{an_hour_ago}" {public}')
    zone("EST5")  # where it is four hours from now
    assert starter(signed, policy="trusted").cache.endswith("; remembered")
    assert starter(signed, policy="trusted").cache == "hit"
    zone("UTC0")
    with pytest.raises(Refusal, match="TRU-6"):
        starter(signed, policy="trusted")
