"""Which policy holds, of those that the user has given in three places."""

from __future__ import annotations

import itertools
import os

import pytest

from okld.base.errors import OkError, Unreadable
from okld.bundle import policy as of_okld
from okrun.admission.policy import POLICIES, read_policy, read_setting


@pytest.mark.spec("ADM-8", "TRU-6")
def test_the_policies_are_those_of_okld():
    """Both packages know the same policies, from the weakest to the strictest."""
    assert POLICIES == of_okld.POLICIES == ("any", "signed", "trusted")


@pytest.mark.spec("ADM-8")
@pytest.mark.parametrize("words", list(itertools.product(("", *POLICIES), repeat=3)))
def test_the_strictest_holds(tmp_path, words):
    """Of option, environment and settings the strictest holds, in whichever place it stands."""
    option, variable, setting = words
    if setting:
        (tmp_path / "policy").write_text(f"{setting}\n")
    environment = {"OKRUN_POLICY": variable} if variable else {}
    wanted = max(words, key=("", *POLICIES).index) or "any"
    assert read_policy(option, environment, str(tmp_path)) == wanted


@pytest.mark.spec("ADM-8")
@pytest.mark.parametrize("word", ["Trusted", "trust", "any trusted", "any\ntrusted", "\x1b[31m"])
def test_a_word_that_is_none(tmp_path, word):
    """A word that is no policy is refused wherever it stands, also beside a stricter one."""
    (tmp_path / "policy").write_text("trusted")
    for option, environment in ((word, {}), ("trusted", {"OKRUN_POLICY": word})):
        with pytest.raises(OkError) as caught:
            read_policy(option, environment, str(tmp_path))
        assert caught.value.rule == "ADM-8"
        assert "\x1b" not in str(caught.value)
    (tmp_path / "policy").write_text(word)
    with pytest.raises(OkError, match="ADM-8"):
        read_policy("trusted", {}, str(tmp_path))


@pytest.mark.spec("ADM-8")
def test_settings_that_are_not_there(tmp_path):
    """Without a directory, or in one that is none, there are no settings."""
    assert read_policy("", {}, None) == "any"
    assert read_policy("", {}, str(tmp_path / "none")) == "any"
    (tmp_path / "file").write_text("")
    assert read_policy("signed", {}, str(tmp_path / "file")) == "signed"


@pytest.mark.spec("ADM-8")
def test_settings_that_cannot_be_read(tmp_path, monkeypatch):
    """Settings that there are and that cannot be read are an error: they may have been strict."""
    (tmp_path / "policy").mkdir()
    with pytest.raises(Unreadable):
        read_policy("", {}, str(tmp_path))
    (tmp_path / "policy").rmdir()
    (tmp_path / "policy").write_bytes(b"any" + b" " * (1 << 20))
    with pytest.raises(Unreadable, match="longer"):
        read_policy("", {}, str(tmp_path))

    def denied(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert read_setting(str(tmp_path), "policy") == b""


@pytest.mark.spec("ADM-8")
def test_settings_that_others_can_change(tmp_path):
    """What another user can loosen is no setting of this user's; a pipe is none either."""
    file = tmp_path / "policy"
    file.write_text("trusted")
    for mode in (0o620, 0o602, 0o666):
        file.chmod(mode)
        with pytest.raises(OkError, match=r"go-w it \[ADM-8\]$"):
            read_policy("", {}, str(tmp_path))
    file.chmod(0o644)
    assert read_policy("", {}, str(tmp_path)) == "trusted"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(Unreadable, match="not a regular file"):
        read_policy("", {}, str(tmp_path))
