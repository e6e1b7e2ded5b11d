"""``okrun trust``, as a command."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from okrun.cli import trust


@pytest.fixture
def config(tmp_path, monkeypatch):
    """An empty directory of settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "okrun"


@pytest.fixture
def run(capfd, config):
    def run(*words):
        status = trust.run([str(word) for word in words])
        out, err = capfd.readouterr()
        return status, out, err

    return run


def fingerprint(path) -> str:
    return subprocess.check_output(["ssh-keygen", "-lf", path], text=True).split()[1]


@pytest.mark.spec("TRU-7", "TRU-9", "TRU-3")
def test_add_and_list(run, keys, config, keygen):
    """A key's file and a name make a line, which is listed, and which ssh-keygen uses too."""
    assert run("list") == (0, "", "")
    public = keys["ed25519"].with_suffix(".pub")
    row = f"alice@example.org ssh-ed25519 {fingerprint(public)} a comment\n"
    assert run("add", "alice@example.org", public) == (0, f"trusts {row}", "")
    assert run("list") == (0, row, "")
    listed = (config / "allowed_signers").read_text()
    assert keygen.verifies(keygen.sign(keys["ed25519"]), listed, principal="alice@example.org")


@pytest.mark.spec("TRU-7", "TRU-9", "CLI-2")
def test_json(run, keys, config):
    """The JSON has schema 1, is ASCII, and has the lines in the file's order."""
    rsa, ed = (keys[kind].with_suffix(".pub") for kind in ("rsa", "ed25519"))
    options = 'namespaces="okb,git",valid-after="20200101Z",valid-before="203001020304Z"'
    assert run("add", f'"ä b,c" {options} {rsa.read_text().strip()}')[0] == 0
    assert run("add", "alice", ed)[0] == 0
    status, out, err = run("list", "--json")
    assert (status, err) == (0, "")
    assert out.isascii()
    got = json.loads(out)
    assert (got["schema"], got["file"]) == (1, f"{config}/allowed_signers")
    assert got["signers"] == [
        {
            "line": 1, "principals": ["ä b", "c"], "kind": "ssh-rsa",
            "fingerprint": fingerprint(rsa), "comment": "a comment",
            "namespaces": ["okb", "git"], "valid_after": "2020-01-01T00:00:00Z",
            "valid_before": "2030-01-02T03:04:00Z",
        },
        {
            "line": 2, "principals": ["alice"], "kind": "ssh-ed25519",
            "fingerprint": fingerprint(ed), "comment": "a comment",
            "namespaces": None, "valid_after": None, "valid_before": None,
        },
    ]  # fmt: skip


@pytest.mark.spec("TRU-7", "CLI-1")
def test_add_twice(run, keys):
    """The second time is refused with status 1 and one line."""
    public = keys["ed25519"].with_suffix(".pub")
    assert run("add", "alice", public)[0] == 0
    status, out, err = run("add", "bob", public)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"okrun: .*already, on line 1, for alice \[TRU-7\]\n", err)


@pytest.mark.spec("TRU-7", "TRU-1")
def test_what_is_no_text_is_not_added(run, keys, config):
    """Bytes that are not UTF-8, which could not be read again, wherever in the line they are."""
    public = keys["ed25519"].with_suffix(".pub").read_text().strip()
    for line in (f"al\udcffice {public}", f"alice {public}\udcff"):
        status, out, err = run("add", line)
        assert (status, out, err) == (1, "", "okrun: the line is not in UTF-8 [TRU-1]\n")
    assert not (config / "allowed_signers").exists()


@pytest.mark.spec("TRU-8")
def test_remove(run, keys):
    """By name or by fingerprint; what is not there is status 1."""
    for name, kind in (("alice", "ed25519"), ("bob", "rsa")):
        run("add", name, keys[kind].with_suffix(".pub"))
    status, out, _ = run("remove", "alice")
    assert status == 0
    assert out.startswith("no longer trusts alice: alice ssh-ed25519 SHA256:")
    assert run("remove", fingerprint(keys["rsa"].with_suffix(".pub")))[0] == 0
    assert run("list") == (0, "", "")
    status, out, err = run("remove", "bob")
    assert (status, out) == (1, "")
    assert err.endswith("[TRU-8]\n")


@pytest.mark.spec("TRU-7", "TRU-1")
def test_a_private_key_is_not_added(run, keys, config):
    """A private key is recognised, and not written anywhere."""
    status, _, err = run("add", "alice", keys["ed25519"])
    assert status == 1
    assert "no public key" in err
    assert not (config / "allowed_signers").exists()


@pytest.mark.spec("TRU-7", "TRU-1", "SIG-6")
def test_keys_that_are_not_checked_are_not_added(run, make_key, tmp_path):
    """What could sign nothing here is not trusted."""
    for options in (("-t", "dsa"), ("-t", "rsa", "-b", "1024")):
        key = make_key(options[1], *options)
        status, _, err = run("add", "alice", key.with_suffix(".pub"))
        assert status == 1
        assert err.endswith("[TRU-1]\n")
    (tmp_path / "text").write_text("hello")
    assert run("add", "alice", tmp_path / "text")[0] == 1


@pytest.mark.spec("TRU-5", "TRU-9")
def test_a_file_that_others_can_write(run, keys, config):
    """A trust file that is not ours alone is not even listed."""
    run("add", "alice", keys["ed25519"].with_suffix(".pub"))
    (config / "allowed_signers").chmod(0o666)
    status, out, err = run("list")
    assert (status, out) == (1, "")
    assert err.endswith("chmod go-w it [TRU-5]\n")


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    "words", [(), ("lst",), ("list", "x"), ("add",), ("add", "a", "b", "c"), ("remove",), ("-x",)]
)
def test_usage(run, words):
    """A mistake is one line and status 2."""
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"okrun: [^\n]+\n", err)


@pytest.mark.spec("CLI-1")
def test_files_that_cannot_be_read(run, tmp_path, monkeypatch):
    """What is not there is one line and status 2, as is no place for settings."""
    for path in (tmp_path / "none", tmp_path):
        status, _, err = run("add", "alice", path)
        assert status == 2
        assert re.fullmatch(r"okrun: public key: [^\n]+\n", err)
    monkeypatch.setattr(trust, "config_dir", lambda environ: None)
    assert run("list")[0] == 2


@pytest.mark.spec("CLI-1")
def test_help(run):
    """Help is a result."""
    status, out, err = run("--help")
    assert (status, err) == (0, "")
    assert all(word in out for word in ("list", "add", "remove"))


@pytest.mark.spec("ERR-2", "TRU-9")
def test_names_move_no_cursor(run, keys, config):
    """What is in the file is shown escaped."""
    run("add", "alice", keys["ed25519"].with_suffix(".pub"))
    path = config / "allowed_signers"
    path.write_text(path.read_text().replace("a comment", "\x1b[2J").replace("alice", "\x07"))
    out = run("list")[1]
    assert out.startswith("\\x07 ssh-ed25519 ")
    assert out.endswith(" \\x1b[2J\n")
