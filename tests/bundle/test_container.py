"""Each way in which archives deceive their readers is refused, by the rule for it."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
from archive import END, MANIFEST, PAGE, Piece, changed, pack, pieces_of, record
from broken import ROWS
from watched import Watched

from okld.base.errors import FormatError
from okld.base.view import View
from okld.bundle.bundle import open_bundle, verify_digest
from okld.bundle.container import looks_like_bundle, read_container, read_head

CASES = [
    pytest.param(*case, id=f"{row}-{number}")
    for row, cases in ROWS.items()
    for number, case in enumerate(cases)
]


def read_all(data: bytes) -> None:
    """Read all that is in a bundle, but for what its images mean."""
    bundle = open_bundle(View.of_bytes(data))
    for member in bundle.members:
        verify_digest(bundle, member)


@pytest.mark.spec("OKB-25")
def test_the_writer_makes_what_the_standard_says(good, signed):
    """Byte for byte the archive that this test makes by itself of the same entries."""
    assert pack(pieces_of(good)) == good
    assert pack(pieces_of(signed)) == signed
    assert [piece.name for piece in pieces_of(signed)] == [
        MANIFEST,
        MANIFEST + b".sig",
        b"image/x86_64.ok",
        b"image/aarch64.ok",
    ]


@pytest.mark.spec(
    "OKB-1", "OKB-2", "OKB-3", "OKB-4", "OKB-5", "OKB-6", "OKB-7", "OKB-8", "OKB-9", "OKB-10",
    "OKB-11", "OKB-12", "OKB-13", "OKB-14", "OKB-15", "OKB-16", "OKB-17", "OKB-18", "OKB-19",
    "OKB-20", "OKB-21", "OKB-22", "OKB-23", "MAN-2",
)  # fmt: skip
@pytest.mark.parametrize(("rule", "says", "edit"), CASES)
def test_an_inconsistency_is_refused_by_its_rule(good, rule, says, edit):
    """In one line that names the thing."""
    with pytest.raises(FormatError) as refusal:
        read_all(edit(good))
    assert refusal.value.rule == rule, str(refusal.value)
    assert says in str(refusal.value)
    assert str(refusal.value).endswith(f" [{rule}]")
    assert str(refusal.value).isprintable()


@pytest.mark.spec("OKB-1")
def test_every_rule_of_the_archive_has_a_case():
    """None goes without a broken bundle."""
    rules = {rule for cases in ROWS.values() for rule, *_ in cases}
    assert {f"OKB-{number}" for number in range(1, 24)} <= rules


@pytest.mark.spec("OKB-17")
def test_zipfile_would_read_many_of_them(good):
    """What refuses is not Python's reader: it lists and tests most of these without complaint."""
    taken = 0
    for *_, edit in (case for cases in ROWS.values() for case in cases):
        try:
            with zipfile.ZipFile(io.BytesIO(edit(good))) as archive:
                taken += archive.testzip() is None
        except Exception:  # of a dozen kinds, which is one reason more
            continue
    assert taken > 40


@pytest.mark.spec("OKB-1")
def test_a_bundle_of_four_gigabytes_is_refused():
    """Before a byte of it is read."""
    with pytest.raises(FormatError, match="OKB-1"):
        read_head(View.of_fd(-1, 1 << 32))


@pytest.mark.spec("OKB-3", "OKB-8")
@pytest.mark.parametrize("which", ["good", "signed"])
def test_every_prefix_is_refused(which, request):
    """A bundle that was cut anywhere is none."""
    data = request.getfixturevalue(which)
    near = (0, *(data.index(piece.data) for piece in pieces_of(data)), len(data))
    for size in {at + step for at in near for step in range(-70, 70)} | set(
        range(0, len(data), 997)
    ):
        if 0 <= size < len(data):
            with pytest.raises(FormatError):
                read_container(View.of_bytes(data[:size]))


@pytest.mark.spec("OKB-17")
def test_every_byte_that_is_not_data_matters(good):
    """Changed by one bit, each byte of a header, a name or a pad is refused."""
    data = bytearray(good)
    entries = read_container(View.of_bytes(good)).entries
    taken = {at for e in entries for at in range(e.offset, e.offset + e.length)}
    headers = [at for at in range(len(good)) if at not in taken]
    padding = [at for at in headers if good[at] == 0]
    for at in [at for at in headers if good[at]] + padding[::101]:
        data[at] ^= 1
        with pytest.raises(FormatError):
            read_all(bytes(data))
        data[at] ^= 1


@pytest.mark.spec("OKB-16")
def test_images_lie_at_pages(good, signed):
    """And there is no page more between them than has to be."""
    for data in (good, signed):
        entries = read_container(View.of_bytes(data)).entries
        images = [entry for entry in entries if entry.name.startswith("image/")]
        assert [entry.offset for entry in images] == [PAGE, 2 * PAGE]
        assert entries[0].offset == 30 + len(MANIFEST)


@pytest.mark.spec("OKB-16")
def test_a_pad_may_be_longer_than_a_signed_length():
    """The first image's is, after a short manifest; and none is needed where data lies right."""
    name = b"image/x86_64.ok"
    fill = PAGE - 30 - len(MANIFEST) - 30 - len(name)
    for size, pad in ((2, fill - 2), (fill, 0), (fill + 1, PAGE - 1)):
        data = pack([Piece(MANIFEST, bytes(size)), Piece(name, b"image")])
        entry = read_container(View.of_bytes(data)).entries[1]
        assert entry.offset % PAGE == 0
        assert int.from_bytes(data[47 + size + 28 : 47 + size + 30], "little") == pad


@pytest.mark.spec("OKB-24")
def test_the_head_is_found_by_the_first_header(good, signed):
    """It is the manifest, whatever comes after; only that much is read."""
    for data in (good, signed):
        manifest = pieces_of(data)[0].data
        head = read_head(View.of_bytes(data[: 47 + len(manifest)] + bytes(200)))
        assert (head.manifest_at, head.manifest_size) == (47, len(manifest))
        assert head.manifest == manifest == open_bundle(View.of_bytes(data)).manifest_bytes


@pytest.mark.spec("OKB-24")
@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("OKB-2", {"local_name": b"okb/manifest.jsom"}),
        ("OKB-2", {"local": {"magic": b"PK\1\2"}}),
        ("OKB-2", {"local": {"name_length": 18}}),
        ("OKB-11", {"local": {"flags": 8}}),
        ("OKB-12", {"local": {"method": 8}}),
        ("OKB-12", {"local": {"size": 1}}),
        ("OKB-13", {"local": {"needed": 45}}),
        ("OKB-13", {"local": {"time": 1}}),
        ("OKB-16", {"pad": bytes(4)}),
        ("MAN-2", {"local": {"size": (1 << 20) + 1, "full": (1 << 20) + 1}}),
        ("OKB-18", {"local": {"size": 1 << 20, "full": 1 << 20}}),
    ],
)
def test_the_head_alone_is_as_strict(good, rule, changes):
    """A start asks nothing else about the archive."""
    with pytest.raises(FormatError) as refusal:
        read_head(View.of_bytes(pack(changed(good, 0, **changes))))
    assert refusal.value.rule == rule


@pytest.mark.spec("OKB-7")
def test_a_long_directory_is_not_read(good):
    """It is refused by its length: a few entries cannot take a megabyte."""
    size, offset = struct.unpack("<II", good[-10:-2])
    end = {"magic": b"PK\5\6", "here": 3, "count": 3, "size": size + (1 << 20), "offset": offset}
    view = Watched.over(good[:-22] + bytes(1 << 20) + record(END, end))
    with pytest.raises(FormatError, match="length of the directory"):
        read_container(view)
    assert max(view.sizes) < 4096


@pytest.mark.spec("OKB-2")
def test_a_bundle_is_known_by_its_first_bytes(good):
    """An ELF file is none, nor is an empty one."""
    assert looks_like_bundle(View.of_bytes(good))
    assert not looks_like_bundle(View.of_bytes(b"\x7fELF" + good))
    assert not looks_like_bundle(View.of_bytes(b"PK\3"))
