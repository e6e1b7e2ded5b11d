"""Bundles are made whole or not at all, and of the same things the same bytes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from okld.base.errors import FormatError, OkError, Refusal, Unreadable
from okld.base.view import View
from okld.bundle.bundle import digests, open_bundle, verify_digest
from okld.bundle.manifest import parse_manifest
from okld.bundle.writer import write_bundle

PROGRAM = """
import os, sys
from okld.bundle.writer import write_bundle
write_bundle(sys.argv[2:], sys.argv[1], name="hello", version="1.0")
"""


@pytest.mark.spec("OKB-25")
def test_the_same_images_give_the_same_bytes(good, images, tmp_path, monkeypatch):
    """In another directory, time zone, locale and umask, of copies with other times and modes."""
    monkeypatch.chdir(tmp_path)
    for arch in ("x86_64", "aarch64"):
        copy = tmp_path / f"{arch}.copy"
        copy.write_bytes((images / f"hello.{arch}.ok").read_bytes())
        os.utime(copy, (1e9, 1e9))
        copy.chmod(0o400)
    subprocess.run(
        [sys.executable, "-c", PROGRAM, "./other.zip", "x86_64.copy", "aarch64.copy"],
        env={**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"},
        umask=0o077,
        check=True,
    )
    assert (tmp_path / "other.zip").read_bytes() == good
    assert (tmp_path / "other.zip").stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("OKB-25")
def test_other_words_give_other_bytes(good, make):
    """Order, name, version and expiry count."""
    made = [
        make("hello.aarch64.ok", "hello.x86_64.ok").read_bytes(),
        make("hello.x86_64.ok", "hello.aarch64.ok", name="other").read_bytes(),
        make("hello.x86_64.ok", "hello.aarch64.ok", version="2").read_bytes(),
        make("hello.x86_64.ok", "hello.aarch64.ok", expires="2030-01-01T00:00:00Z").read_bytes(),
    ]
    assert len({good, *made}) == 5


@pytest.mark.spec("OKB-25")
def test_what_is_signed_is_what_stands_in_the_bundle(make):
    """The exact bytes of the manifest."""
    seen = []

    def sign(manifest: bytes) -> bytes:
        seen.append(manifest)
        return b"signature of " + manifest

    bundle = open_bundle(View.of_bytes(make("hello.x86_64.ok", sign=sign).read_bytes()))
    assert seen == [bundle.manifest_bytes]
    assert bundle.signature == b"signature of " + bundle.manifest_bytes


def assert_untouched(path: Path, content: bytes) -> None:
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir() if ".part" in each.name] == []


@pytest.mark.spec("OKB-26")
@pytest.mark.parametrize(
    ("image", "error", "rule"),
    [
        ("bad-interpreter.x86_64.ok", FormatError, "IMG-17"),
        ("bad-import.x86_64.ok", Refusal, "NEED-1"),
        ("bad-undeclared.x86_64.ok", Refusal, "NEED-2"),
        ("absent", Unreadable, ""),
        (".", Unreadable, ""),
    ],
)
def test_an_image_that_is_refused_leaves_no_bundle(make, tmp_path, image, error, rule):
    """Nor takes the place of the one that is there."""
    path = tmp_path / "made.okb"
    path.write_bytes(b"before")
    with pytest.raises(error) as refusal:
        make("hello.aarch64.ok", image)
    assert refusal.value.rule == rule
    assert_untouched(path, b"before")


@pytest.mark.spec("OKB-26")
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"name": "Not A Name"}, "MAN-4"),
        ({"version": "1 0"}, "MAN-4"),
        ({"expires": "tomorrow"}, "MAN-7"),
    ],
)
def test_words_that_are_wrong_leave_no_bundle(make, tmp_path, options, rule):
    """A manifest that could not be read is not signed."""
    signed = []
    with pytest.raises(FormatError, match=rule):
        make("hello.x86_64.ok", sign=signed.append, **options)
    assert (signed, list(tmp_path.iterdir())) == ([], [])


@pytest.mark.spec("MAN-5", "OKB-26")
def test_two_images_of_one_processor_need_names(make, images, tmp_path):
    """And are told how to get them."""
    with pytest.raises(OkError, match=r"two images would be the member x86_64; name them: NAME=/"):
        make("hello.x86_64.ok", "names.x86_64.ok")
    assert list(tmp_path.iterdir()) == []
    bundle = open_bundle(
        View.of_bytes(make(("a", "hello.x86_64.ok"), "names.x86_64.ok").read_bytes())
    )
    assert [(m.name, m.path) for m in bundle.members] == [
        ("a", "image/a.ok"),
        ("x86_64", "image/x86_64.ok"),
    ]


@pytest.mark.spec("OKB-26")
def test_an_image_that_changes_while_it_is_copied_is_refused(images, tmp_path):
    """Here while the manifest is signed, after it was hashed."""
    image = tmp_path / "image.ok"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())

    def sign(_manifest: bytes) -> bytes:
        with image.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"!")
        return b"signature"

    path = tmp_path / "made.okb"
    path.write_bytes(b"before")
    with pytest.raises(Refusal, match=r"image x86_64 changed while it was copied \[OKB-26\]"):
        write_bundle([str(image)], str(path), name="hello", sign=sign)
    assert_untouched(path, b"before")


@pytest.mark.spec("OKB-26", "MAN-9")
def test_an_image_that_changes_before_it_is_hashed_is_refused(images, tmp_path, monkeypatch):
    """Its digest is right then, and what was found of it is not: the gate never saw these bytes."""
    image = tmp_path / "image.ok"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())

    def digests_after_a_change(view):
        if view.size == image.stat().st_size:
            with image.open("r+b") as file:
                file.write(b"!")
        return digests(view)

    monkeypatch.setattr("okld.bundle.writer.digests", digests_after_a_change)
    with pytest.raises(Refusal, match=r"image x86_64 changed while it was copied \[OKB-26\]"):
        write_bundle([str(image)], str(tmp_path / "made.okb"), name="hello")
    assert [each.name for each in tmp_path.iterdir()] == ["image.ok"]


@pytest.mark.spec("OKB-26")
def test_an_image_that_shrinks_while_it_is_copied_is_refused(images, tmp_path):
    """The bytes that are gone are not made up."""
    image = tmp_path / "image.ok"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())

    def sign(_manifest: bytes) -> bytes:
        os.truncate(image, 100)
        return b"signature"

    with pytest.raises(FormatError, match="OKB-26"):
        write_bundle([str(image)], str(tmp_path / "made.okb"), name="hello", sign=sign)
    assert [each.name for each in tmp_path.iterdir()] == ["image.ok"]


@pytest.mark.spec("OKB-26")
def test_a_full_disk_leaves_nothing(images, tmp_path):
    """The system's refusal is one line; here a limit on the length of files is the disk's end."""
    path = tmp_path / "made.okb"
    path.write_bytes(b"before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (66_000, before[1]))
    try:
        with pytest.raises(Unreadable, match=f"^bundle cannot be written: {path}: File too large$"):
            write_bundle([str(images / "hello.x86_64.ok")], str(path), name="hello")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_untouched(path, b"before")


@pytest.mark.spec("OKB-26")
def test_what_is_no_file_is_not_replaced(images, tmp_path):
    """A pipe, a directory, and an image that is to go in."""
    image = tmp_path / "image.ok"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "image.ok"):
        with pytest.raises(OkError) as refusal:
            write_bundle([str(image)], str(tmp_path / name), name="hello")
        assert str(tmp_path / name) in str(refusal.value)
    with pytest.raises(Unreadable, match="No such file"):
        write_bundle([str(image)], str(tmp_path / "absent/made.okb"), name="hello")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["image.ok", "pipe"]
    assert image.read_bytes() == (images / "hello.x86_64.ok").read_bytes()


@pytest.mark.spec("OKB-26", "OKB-23")
def test_a_large_image_is_never_whole_in_memory(images, tmp_path):
    """Making, opening and verifying take a few blocks, whatever the image's length."""
    image = tmp_path / "large.ok"
    image.write_bytes((images / "hello.x86_64.ok").read_bytes())
    os.truncate(image, 64 << 20)
    path = tmp_path / "large.okb"
    tracemalloc.start()
    try:
        write_bundle([str(image)], str(path), name="large")
        with path.open("rb") as file:
            bundle = open_bundle(View.of_fd(file.fileno(), path.stat().st_size))
            verify_digest(bundle, bundle.members[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert bundle.members[0].length == 64 << 20
    assert peak < 12 << 20


@pytest.mark.spec("OKB-1", "OKB-26")
def test_images_that_do_not_fit_are_refused_before_they_are_read(images, tmp_path):
    """Two of three gigabytes, which nobody would want to wait for."""
    pairs = []
    for name in ("a", "b"):
        path = tmp_path / name
        path.write_bytes((images / "hello.x86_64.ok").read_bytes())
        os.truncate(path, 3 << 30)
        pairs.append((name, str(path)))
    with pytest.raises(OkError, match="longer than a bundle has room for"):
        write_bundle(pairs, str(tmp_path / "made.okb"), name="large")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.spec("OKB-25")
def test_the_manifest_is_returned(make, images, tmp_path):
    """It is the one in the file, and says what the image's source declares."""
    stated = tomllib.loads((images.parent / "images.toml").read_text())["images"]["weak"]
    path = tmp_path / "made.okb"
    made = write_bundle([str(images / "weak.x86_64.ok")], str(path), name="weak")
    data = open_bundle(View.of_bytes(path.read_bytes())).manifest_bytes
    assert parse_manifest(data) == made
    assert set(made.members[0].optional) == set(stated["note"]["optional"])
