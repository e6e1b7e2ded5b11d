"""Making a bundle: images that the gate admits, in the one form that the reader takes.

The same images, names and times give the same bytes, wherever and whenever. Source: SPEC OKB-25 to
OKB-27.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from attrs import frozen

from okld.base.errors import FormatError, OkError, Refusal
from okld.base.limits import MAX_BUNDLE, MAX_MANIFEST, MAX_SIGNATURE, PAGE
from okld.base.output import replacing
from okld.base.view import View
from okld.bundle.bundle import BLOCK, digests, open_bundle, verify_digest
from okld.bundle.container import (
    CENTRAL,
    CENTRAL_SIZE,
    END,
    END_SIZE,
    LOCAL,
    LOCAL_MAGIC,
    LOCAL_SIZE,
    MANIFEST,
    SIGNATURE,
    padding,
)
from okld.bundle.manifest import Manifest, Member, encode_manifest, parse_manifest
from okld.bundle.verify import check_image
from okld.iface.need import interfaces_of, require_declared
from okld.image.open import Naming, open_file
from okld.image.shape import read_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import BinaryIO

    from okld.iface.need import Interfaces
    from okld.image.open import OpenFile
    from okld.image.shape import Shape


_ROOM = MAX_BUNDLE - MAX_MANIFEST - MAX_SIGNATURE - PAGE  # for images, by the most that others take


@frozen(kw_only=True)
class _Source:
    """An image that is to be a member, and what the gate found it to be."""

    name: str
    file: OpenFile
    shape: Shape
    interfaces: Interfaces


@frozen(kw_only=True)
class _Piece:
    """What goes into the archive under one name, and where its bytes come from."""

    name: str
    view: View
    crc: int

    @classmethod
    def of_bytes(cls, name: str, data: bytes) -> _Piece:
        view = View.of_bytes(data)
        return cls(name=name, view=view, crc=digests(view)[1])


def write_bundle(
    images: Sequence[str | tuple[str, str]],
    path: str,
    *,
    name: str,
    version: str = "",
    expires: str | None = None,
    sign: Callable[[bytes], bytes] | None = None,
) -> Manifest:
    """
    Put *images* into a bundle at *path*, which is replaced only by a whole and checked one.

    Args:
        images: Paths of images, or pairs of a member's name and a path; without a name a member is
            called as its processor.
        path: Where the bundle goes.
        name, version: Of the program.
        expires: The second in UTC from which on it is not to be used: `2030-01-01T00:00:00Z`.
        sign: Gives the armored signature of the manifest's bytes, or raises.

    Raises:
        FormatError: If the gate refuses an image, or by MAN-4, MAN-5 or MAN-7 the names and times.
        Refusal: NEED-1 or NEED-2, if an image uses what it does not declare; OKB-26.
        OkError: If two images of one processor have no names, or the images are too long.
        Unreadable: If a file cannot be read, or the bundle not be written.
    """
    with ExitStack() as opened:
        pairs = [image if isinstance(image, tuple) else ("", image) for image in images]
        sources = [
            _checked(opened.enter_context(open_file(place)), label) for label, place in pairs
        ]
        _refuse_confusion(sources, path)
        members, pieces = [], []
        for source in sources:
            sha256, crc = digests(source.file.view)
            members.append(_member(source, sha256))
            pieces.append(_Piece(name=members[-1].path, view=source.file.view, crc=crc))
        manifest = Manifest(name=name, version=version, members=tuple(members), expires=expires)
        head = _head(encode_manifest(manifest), sign)
        with replacing(path, "bundle") as out:
            _write(out, [*head, *pieces])
            _prove(out)
    return manifest


def _checked(file: OpenFile, label: str) -> _Source:
    """Return an image that the gate has let through, called *label* or as its processor."""
    with Naming(file.path, Refusal):
        shape = read_shape(file.view)
        interfaces = interfaces_of(shape)
        require_declared(interfaces)
    return _Source(name=label or shape.arch, file=file, shape=shape, interfaces=interfaces)


def _refuse_confusion(sources: Sequence[_Source], path: str) -> None:
    """Refuse what would fail later, and less clearly."""
    names = [source.name for source in sources]
    for source in sources:
        if names.count(source.name) > 1:
            what = f"two images would be the member {source.name}"
            raise OkError(f"{what}; name them: NAME={source.file.path}")
        if os.path.exists(path) and os.path.samefile(path, source.file.fd):
            raise OkError(f"the bundle cannot take the place of an image in it: {path}")
    if sum(source.shape.size + 2 * PAGE for source in sources) > _ROOM:
        raise OkError(f"the images are longer than a bundle has room for ({_ROOM:#x} bytes)")


def _member(source: _Source, sha256: str) -> Member:
    return Member(
        name=source.name,
        arch=source.shape.arch,
        path=f"image/{source.name}.ok",
        length=source.shape.size,
        sha256=sha256,
        build_id=source.shape.build_id,
        required=source.interfaces.required,
        optional=source.interfaces.optional,
    )


def _head(data: bytes, sign: Callable[[bytes], bytes] | None) -> list[_Piece]:
    """Return what stands before the images; a manifest that cannot be read is not signed."""
    parse_manifest(data)
    pieces = [_Piece.of_bytes(MANIFEST, data)]
    if sign is not None:
        pieces.append(_Piece.of_bytes(SIGNATURE, sign(data)))
    return pieces


def _write(out: BinaryIO, pieces: Sequence[_Piece]) -> None:
    directory = []
    at = 0
    for piece in pieces:
        name = piece.name.encode("ascii")
        pad = padding(piece.name, at + LOCAL_SIZE + len(name))
        data = at + LOCAL_SIZE + len(name) + pad
        sizes = ((14, 4, piece.crc), (18, 4, piece.view.size), (22, 4, piece.view.size))
        names = ((26, 2, len(name)), (28, 2, pad))
        magic = (0, 4, int.from_bytes(LOCAL_MAGIC, "little"))
        out.write(_record(LOCAL_SIZE, (magic, *_fixed(LOCAL), *sizes, *names)) + name + bytes(pad))
        beside = [(offset + 2, width, value) for offset, width, value in (*sizes, names[0])]
        place = (42, 4, at)
        directory.append(_record(CENTRAL_SIZE, (*_fixed(CENTRAL), *beside, place)) + name)
        _copy(piece.view, out)
        at = data + piece.view.size
    entries = b"".join(directory)
    count = len(directory)
    totals = ((8, 2, count), (10, 2, count), (12, 4, len(entries)), (16, 4, at))
    out.write(entries + _record(END_SIZE, (*_fixed(END), *totals)))


def _fixed(fields: Iterable[tuple[int, int, int, str, str]]) -> list[tuple[int, int, int]]:
    return [(offset, width, value) for offset, width, value, _rule, _name in fields]


def _record(size: int, fields: Iterable[tuple[int, int, int]]) -> bytes:
    """Return *size* bytes with each (offset, bytes, value) of *fields* in its place."""
    record = bytearray(size)
    for offset, width, value in fields:
        record[offset : offset + width] = value.to_bytes(width, "little")
    return bytes(record)


def _copy(view: View, out: BinaryIO) -> None:
    for at in range(0, view.size, BLOCK):
        out.write(view.window(at, min(BLOCK, view.size - at), "image", "OKB-26"))


def _prove(out: BinaryIO) -> None:
    """Have the reader take what was written, and check every image in it: here none can change."""
    out.flush()
    bundle = open_bundle(View.of_fd(out.fileno(), out.tell()))
    for member in bundle.members:
        try:
            verify_digest(bundle, member)
            check_image(bundle, member)
        except (FormatError, Refusal):
            raise Refusal("OKB-26", f"image {member.name} changed while it was copied") from None
