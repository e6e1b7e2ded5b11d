"""`okld bundle`, `okld verify` and `okld extract`."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from okld.base.output import replacing
from okld.bundle.manifest import parse_manifest


@pytest.mark.spec("OKB-25", "CLI-2")
def test_bundle_makes_what_its_words_say(okld, app, images):
    """The name is the file's where none is given; with --json the manifest is told."""
    with zipfile.ZipFile(app) as archive:
        manifest = parse_manifest(archive.read("okb/manifest.json"))
    assert (manifest.name, manifest.version, manifest.expires) == ("app", "1.0", None)
    words = ["--name", "other", "--version", "2", "--expires", "2030-01-01T00:00:00Z"]
    ran = okld("bundle", f"a={images}/hello.x86_64.ok", *words, "-o", "b.okb", "--json")
    (got,) = ran.objects
    assert (ran.status, got["schema"], got["file"], got["format"]) == (0, 1, "b.okb", "okb")
    assert (got["name"], got["version"], got["signed"]) == ("other", "2", False)
    assert (got["expires"], got["members"][0]["name"]) == ("2030-01-01T00:00:00Z", "a")


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        ["--name", "A B"],
        ["--version", "1 0"],
        ["--expires", "tomorrow"],
        ["-o", "Not a name.okb"],
        [],
    ],
)
def test_wrong_words_of_bundle_are_usage(okld, images, tmp_path, monkeypatch, words):
    """And nothing is made."""
    monkeypatch.chdir(tmp_path)
    output = [] if "-o" in words or not words else ["-o", "x.okb"]
    ran = okld("bundle", images / "hello.x86_64.ok", *output, *words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("OKB-26", "CLI-1")
def test_a_refused_image_makes_no_bundle(okld, images, tmp_path):
    """The status is 1, the line names the rule."""
    ran = okld("bundle", images / "bad-import.x86_64.ok", "-o", tmp_path / "x.okb")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "[NEED-1]" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("CLI-1")
def test_a_file_with_an_equals_sign_is_a_file(okld, images, tmp_path, monkeypatch):
    """Where there is none the word is a member's name and a path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").write_bytes((images / "hello.x86_64.ok").read_bytes())
    assert okld("bundle", "a=b", "-o", "x.okb").status == 0
    assert [o["members"][0]["name"] for o in okld("show", "--json", "x.okb").objects] == ["x86_64"]
    ran = okld("bundle", "a=c", "-o", "x.okb")
    assert ran == (2, "", "okld: cannot open: c: No such file or directory\n")


@pytest.mark.spec("OKB-27", "CLI-2")
def test_verify_says_what_it_checked(okld, app, images):
    """A line for each, and one object with the same."""
    ran = okld("verify", app)
    checks = [line.removeprefix(f"{app}: ").partition(": ") for line in ran.out.splitlines()]
    assert (ran.status, ran.err) == (0, "")
    assert [(check, says[:2]) for check, _, says in checks] == [
        ("archive", "ok"),
        ("manifest", "ok"),
        ("digest x86_64", "ok"),
        ("image x86_64", "ok"),
        ("digest aarch64", "ok"),
        ("image aarch64", "ok"),
        ("expiry", "ok"),
        ("signature", "ok"),
    ]
    sha256 = hashlib.sha256((images / "names.aarch64.ok").read_bytes()).hexdigest()
    assert sha256 in checks[4][2]
    (got,) = okld("verify", "--json", app).objects
    assert (got["schema"], got["file"], got["ok"]) == (1, str(app), True)
    assert got["checks"][2]["check"] == "digest"
    assert {tuple(check) for check in got["checks"]} == {
        ("check", "member", "ok", "rule", "message")
    }


@pytest.mark.spec("OKB-27", "OKB-23")
def test_verify_finds_a_changed_byte(okld, app, break_image):
    """It goes on, and says of the rest that it is right."""
    break_image(app, "x86_64")
    ran = okld("verify", "--json", app)
    wrong = [c for c in ran.objects[0]["checks"] if not c["ok"]]
    assert (ran.status, ran.objects[0]["ok"]) == (1, False)
    assert [(c["check"], c["member"], c["rule"]) for c in wrong] == [("digest", "x86_64", "OKB-23")]
    text = okld("verify", app)
    assert (text.status, text.out.count("\n"), text.out.count("[OKB-23]")) == (1, 8, 1)


@pytest.mark.spec("OKB-27", "MAN-8")
def test_verify_finds_an_expired_bundle(okld, images, tmp_path):
    """And not one that expires in a year."""
    path = tmp_path / "x.okb"
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 365 * 86400))
    for moment, status in (("2020-01-01T00:00:00Z", 1), (later, 0)):
        options = ("-o", path, "--expires", moment)
        assert okld("bundle", images / "hello.x86_64.ok", *options).status == 0
        ran = okld("verify", path)
        assert (ran.status, "[MAN-8]" in ran.out) == (status, bool(status))


@pytest.mark.spec("OKB-27", "CLI-1")
def test_verify_of_other_bytes_is_one_finding(okld, app, tmp_path, images):
    """An archive with a gap, an image, text; a file that is not there is status 2."""
    app.write_bytes(app.read_bytes() + b"\0")
    (tmp_path / "text").write_text("text")
    for path in (app, images / "hello.x86_64.ok", tmp_path / "text"):
        ran = okld("verify", path)
        assert (ran.status, ran.out.count("\n"), ran.err) == (1, 1, "")
        assert ran.out.startswith(f"{path}: archive: ")
    ran = okld("verify", tmp_path / "absent")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "key"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", path]
    subprocess.run(command, check=True)
    return path


@pytest.mark.spec("SIG-1", "OKB-27")
def test_a_bundle_is_signed_and_verified(okld, images, tmp_path, key):
    """By policy: any, signed, trusted; a signer nobody vouches for is said and not trusted."""
    plain, path = tmp_path / "plain.okb", tmp_path / "signed.okb"
    assert okld("bundle", images / "hello.x86_64.ok", "-o", plain).status == 0
    assert okld("bundle", images / "hello.x86_64.ok", "-o", path, "--sign", key).status == 0
    trust = tmp_path / "allowed_signers"
    trust.write_text("me@example.org " + (tmp_path / "key.pub").read_text())
    trust.chmod(0o600)
    trusting = ["--allowed-signers", trust]
    for words, status in (
        ([plain], 0),
        ([plain, "--policy", "signed"], 1),
        ([path, "--policy", "signed"], 0),
        ([path, "--policy", "trusted"], 1),
        ([path, "--policy", "trusted", *trusting], 0),
    ):
        ran = okld("verify", *words)
        assert (ran.status, ran.out.count("signature: ")) == (status, 1), words
    assert "me@example.org" in ran.out
    with zipfile.ZipFile(path) as archive:
        signature = tmp_path / "signature"
        signature.write_bytes(archive.read("okb/manifest.json.sig"))
        manifest = archive.read("okb/manifest.json")
    command = ["ssh-keygen", "-Y", "verify", "-n", "okb", "-f", trust, "-I", "me@example.org"]
    subprocess.run([*command, "-s", signature], input=manifest, check=True, capture_output=True)


@pytest.mark.spec("SIG-1", "OKB-26")
def test_a_key_that_cannot_sign_makes_no_bundle(okld, images, tmp_path):
    """Before an image is read."""
    options = ("-o", tmp_path / "x.okb", "--sign", tmp_path / "absent")
    ran = okld("bundle", images / "hello.x86_64.ok", *options)
    assert (ran.status, ran.err.count("\n"), list(tmp_path.iterdir())) == (2, 1, [])


@pytest.mark.spec("OKB-29", "CLI-2")
def test_extract_writes_the_image_and_nothing_else(okld, app, images, tmp_path):
    """Where it is told to, or beside nothing that is there, by the user's words."""
    want = (images / "names.aarch64.ok").read_bytes()
    assert okld("extract", "app.okb:aarch64", "-o", "out.ok") == (0, "", "")
    assert (tmp_path / "out.ok").read_bytes() == want
    ran = okld("extract", "--json", "app.okb:aarch64")
    (got,) = ran.objects
    assert (got["file"], got["arch"]) == ("app.aarch64.ok", "aarch64")
    assert got["sha256"] == hashlib.sha256(want).hexdigest()
    assert (tmp_path / "app.aarch64.ok").read_bytes() == want
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["app.aarch64.ok", "app.okb", "out.ok"]
    ran = okld("extract", "app.okb:aarch64")
    assert (ran.status, ran.out, "-o PATH" in ran.err) == (2, "", True)
    (tmp_path / "out.ok").write_bytes(b"other")
    assert okld("extract", app, "-o", "out.ok").status == 2  # which of the two?
    assert okld("extract", "app.okb:x86_64", "-o", "./app.okb").status == 2
    assert okld("extract", "app.okb:x86_64", "-o", "out.ok").status == 0
    assert (tmp_path / "out.ok").read_bytes() == (images / "names.x86_64.ok").read_bytes()


@pytest.mark.spec("OKB-29", "OKB-23", "OKB-26")
def test_extract_checks_the_digest_first(okld, app, tmp_path, break_image):
    """What is there stays, and nothing is added."""
    break_image(app, "x86_64")
    (tmp_path / "out.ok").write_bytes(b"before")
    ran = okld("extract", "app.okb:x86_64", "-o", "out.ok")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "[OKB-23]" in ran.err
    assert (tmp_path / "out.ok").read_bytes() == b"before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["app.okb", "out.ok"]
    assert okld("extract", "app.okb:aarch64").status == 0


@pytest.mark.spec("OKB-26", "OKB-23")
def test_extract_of_a_bundle_that_changes(okld, app, tmp_path, break_image, monkeypatch):
    """Whenever that is: what is checked is the copy."""

    @contextmanager
    def replacing_after_a_change(path, what):
        with replacing(path, what) as file:
            break_image(app, "x86_64")
            yield file

    monkeypatch.setattr("okld.cli.extract.replacing", replacing_after_a_change)
    ran = okld("extract", "app.okb:x86_64", "-o", "out.ok")
    assert (ran.status, ran.out, "[OKB-23]" in ran.err) == (1, "", True)
    assert [each.name for each in tmp_path.iterdir()] == ["app.okb"]


@pytest.mark.spec("OKB-29")
def test_extract_of_an_image_is_usage(okld, images, tmp_path):
    """It is one already."""
    ran = okld("extract", images / "hello.x86_64.ok", "-o", tmp_path / "x")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.spec("SIG-11", "OKB-26", "CLI-1")
def test_a_passphrase_is_not_asked_for_where_nobody_is(images, tmp_path):
    """Without a terminal an encrypted key is one line and status 2, and there is no bundle."""
    key = tmp_path / "key"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key]
    subprocess.run(command, check=True)
    code = "import sys; from okld.cli.main import main; sys.exit(main())"
    words = ["bundle", images / "hello.x86_64.ok", "-o", tmp_path / "x.okb", "--sign", key]
    ran = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert not (tmp_path / "x.okb").exists()


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("name", ["verify", "extract", "bundle", "show", "check"])
def test_what_cannot_be_read_is_status_2(okld, name, tmp_path):
    """Absent, a directory, a pipe that nobody writes to, or a device that never ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    output = [] if name in ("verify", "show", "check") else ["-o", tmp_path / "out"]
    for path in (tmp_path / "absent", tmp_path, pipe, "/dev/zero", f"{pipe}:member"):
        ran = okld(name, path, *output)
        assert (ran.status, (ran.out + ran.err).count("\n")) == (2, 1)
        assert str(path).removesuffix(":member") in ran.out + ran.err
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]
