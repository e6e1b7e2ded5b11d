"""A bundle that is open: its members, their bytes, and what is read of them."""

from __future__ import annotations

import hashlib
import zipfile
import zlib

import pytest
from archive import changed, pack, pieces_of
from watched import Watched

from okld.base.errors import FormatError, Refusal
from okld.base.view import View
from okld.bundle.bundle import BLOCK, digests, open_bundle, verify_digest
from okld.bundle.verify import check_image, verify


@pytest.mark.spec("OKB-22", "OKB-23", "MAN-9")
def test_members_are_the_images_that_were_put_in(good, images):
    """Byte for byte, with the facts that readelf shows of them."""
    bundle = open_bundle(View.of_bytes(good))
    assert [(m.name, m.arch) for m in bundle.members] == [
        ("x86_64", "x86_64"),
        ("aarch64", "aarch64"),
    ]
    assert (bundle.manifest.name, bundle.manifest.version) == ("hello", "1.0")
    assert bundle.signature is None
    for member in bundle.members:
        data = (images / f"hello.{member.arch}.ok").read_bytes()
        view = bundle.member_view(member)
        assert bytes(view.window(0, view.size, "all", "OKB-18")) == data
        assert good[bundle.offset(member) :][: member.length] == data
        assert member.sha256 == hashlib.sha256(data).hexdigest()
        assert bundle.crc(member) == zlib.crc32(data)
        assert set(member.required) == {"openkal.env", "openkal.stream"}
        check_image(bundle, member)
        verify_digest(bundle, member)


@pytest.mark.spec("OKB-22")
def test_a_signature_is_what_stands_in_its_place(signed):
    """Byte for byte; whether it is right is another question."""
    assert open_bundle(View.of_bytes(signed)).signature == b"a signature\n"


@pytest.mark.spec("OKB-22")
def test_the_signature_may_be_as_long_as_the_clause_says(make):
    """And no longer: the writer refuses what the reader would."""
    path = make("hello.x86_64.ok", sign=lambda manifest: bytes(65536))
    assert len(open_bundle(View.of_bytes(path.read_bytes())).signature or b"") == 65536
    with pytest.raises(FormatError, match="OKB-22"):
        make("hello.x86_64.ok", sign=lambda manifest: bytes(65537))


@pytest.mark.spec("MAN-10")
def test_a_member_is_selected_by_name_or_processor(good, make):
    """None or several is a refusal that says which there are."""
    bundle = open_bundle(View.of_bytes(good))
    assert bundle.select(None, "aarch64").arch == "aarch64"
    assert bundle.select("x86_64", "aarch64").arch == "x86_64"
    for name, arch in ((None, "riscv64"), ("x86", "x86_64"), ("", "x86_64")):
        with pytest.raises(Refusal, match=r"x86_64 aarch64\) \[MAN-10\]"):
            bundle.select(name, arch)
    path = make(("a", "hello.x86_64.ok"), ("b", "names.x86_64.ok"))
    bundle = open_bundle(View.of_bytes(path.read_bytes()))
    assert bundle.select("b", "x86_64").name == "b"
    with pytest.raises(Refusal, match=r"2 members for x86_64 \(there are a b\) \[MAN-10\]"):
        bundle.select(None, "x86_64")


@pytest.mark.spec("OKB-23", "OKB-21")
def test_bytes_are_hashed_in_blocks():
    """Each once, in order, a block at a time; progress is told after each."""
    data = bytes(range(256)) * (5 * BLOCK // 512) + b"end"
    view, told = Watched.over(data), []
    sha256, crc = digests(view, told.append)
    assert (sha256, crc) == (hashlib.sha256(data).hexdigest(), zlib.crc32(data))
    assert view.sizes == [BLOCK, BLOCK, len(data) - 2 * BLOCK]
    assert told == [BLOCK, 2 * BLOCK, len(data)]


@pytest.mark.spec("OKB-23", "OKB-21")
def test_where_no_thread_is_to_be_had_bytes_are_hashed_all_the_same(monkeypatch):
    """As with a limit on a user's processes."""

    def refuse(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    data = bytes(range(256)) * (3 * BLOCK // 256)
    assert digests(View.of_bytes(data)) == (hashlib.sha256(data).hexdigest(), zlib.crc32(data))


@pytest.mark.spec("OKB-23")
def test_an_interruption_while_hashing_leaves_no_thread():
    """What progress raises comes through."""

    def stop(_done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        digests(View.of_bytes(bytes(10 * BLOCK)), stop)


@pytest.mark.spec("OKB-24")
def test_a_bundle_is_opened_without_its_images(good):
    """However long they are: what is read is headers, pads and the manifest."""
    view = Watched.over(good)
    bundle = open_bundle(view)
    pads = sum(65536 for _ in bundle.members)
    assert sum(view.sizes) < pads + 4096


@pytest.mark.spec("MAN-9")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"arch":"aarch64"', b'"arch":"riscv64"'),
        (b'"arch":"aarch64"', b'"arch":"x86_64"'),
        (b'"build_id":"', b'"build_id":"ff'),
        (b'"required":["openkal.stream","openkal.env"]', b'"required":["openkal.stream"]'),
        (b'"optional":[]', b'"optional":["openkal.net"]'),
    ],
)
def test_a_manifest_that_says_other_things_of_an_image_is_refused(good, tmp_path, old, new):
    """Though it is consistent with itself and the archive."""
    manifest = pieces_of(good)[0].data
    data = pack(changed(good, 0, data=manifest.replace(old, new)))
    bundle = open_bundle(View.of_bytes(data))
    refused = []
    for member in bundle.members:
        verify_digest(bundle, member)
        try:
            check_image(bundle, member)
        except FormatError as error:
            refused.append(error.rule)
    assert refused[:1] == ["MAN-9"]
    path = tmp_path / "other.okb"
    path.write_bytes(data)
    assert [f.error.rule for f in verify(str(path), now=0) if f.error] == refused


@pytest.mark.spec("OKB-1", "OKB-18")
def test_a_part_of_a_view_ends_where_it_ends():
    """In memory and in a file, a part of a part included."""
    data = bytes(range(100))
    with open(zipfile.__file__, "rb") as file:
        text = file.read(1000)
        for view, whole in ((View.of_bytes(data), data), (View.of_fd(file.fileno(), 1000), text)):
            part = view.part(10, 50, "part", "OKB-18").part(5, 20, "part", "OKB-18")
            assert part.size == 20
            assert bytes(part.window(0, 20, "all", "OKB-18")) == whole[15:35]
            for offset, size in ((0, 21), (20, 1), (-1, 2), (5, -1)):
                with pytest.raises(FormatError):
                    part.window(offset, size, "past", "OKB-18")
                with pytest.raises(FormatError):
                    part.part(offset, size, "past", "OKB-18")
