"""ZIP archives made from APPNOTE's records alone, right or with a fault; nothing here is okld's."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, field, replace

PAGE = 65536
LOCAL = {
    "magic": "4s", "needed": "H", "flags": "H", "method": "H", "time": "H", "date": "H",
    "crc": "I", "size": "I", "full": "I", "name_length": "H", "extra_length": "H",
}  # fmt: skip
CENTRAL = {
    "magic": "4s", "made": "H", "needed": "H", "flags": "H", "method": "H", "time": "H",
    "date": "H", "crc": "I", "size": "I", "full": "I", "name_length": "H", "extra_length": "H",
    "comment_length": "H", "disk": "H", "internal": "H", "external": "I", "offset": "I",
}  # fmt: skip
END = {
    "magic": "4s", "disk": "H", "start_disk": "H", "here": "H", "count": "H", "size": "I",
    "offset": "I", "comment_length": "H",
}  # fmt: skip
MANIFEST, SIGNATURE = b"okb/manifest.json", b"okb/manifest.json.sig"


@dataclass
class Piece:
    """
    One entry. *both*, *local* and *central* set fields of its headers to other values.

    *pad* is its local extra field, None for the right one; *extra* and *comment* stand in the
    directory; *hidden* leaves the directory without it; *before* and *after* are bytes around it.
    """

    name: bytes
    data: bytes
    both: dict = field(default_factory=dict)
    local: dict = field(default_factory=dict)
    central: dict = field(default_factory=dict)
    local_name: bytes | None = None
    pad: bytes | None = None
    extra: bytes = b""
    comment: bytes = b""
    hidden: bool = False
    before: bytes = b""
    after: bytes = b""


def record(layout: dict[str, str], values: dict) -> bytes:
    return struct.pack("<" + "".join(layout.values()), *(values.get(key, 0) for key in layout))


def right_pad(name: bytes, at: int) -> bytes:
    return b"" if name in (MANIFEST, SIGNATURE) else bytes(-at % PAGE)


def pack(
    pieces: list[Piece],
    *,
    end: dict | None = None,
    before_directory: bytes = b"",
    before_end: bytes = b"",
    after: bytes = b"",
) -> bytes:
    """Return the archive of *pieces*, canonical but for the faults that are asked for."""
    out, directory, count = b"", b"", 0
    for piece in pieces:
        out += piece.before
        name = piece.name if piece.local_name is None else piece.local_name
        pad = right_pad(name, len(out) + 30 + len(name)) if piece.pad is None else piece.pad
        size = len(piece.data)
        common = {
            "needed": 20, "date": 0x21, "crc": zlib.crc32(piece.data), "size": size, "full": size,
        }  # fmt: skip
        head = {"magic": b"PK\3\4", "name_length": len(name), "extra_length": len(pad)}
        entry = {
            "magic": b"PK\1\2", "made": 0x314, "name_length": len(piece.name),
            "extra_length": len(piece.extra), "comment_length": len(piece.comment),
            "external": 0o100644 << 16, "offset": len(out),
        }  # fmt: skip
        if not piece.hidden:
            directory += record(CENTRAL, common | entry | piece.both | piece.central)
            directory += piece.name + piece.extra + piece.comment
            count += 1
        out += record(LOCAL, common | head | piece.both | piece.local) + name + pad
        out += piece.data + piece.after
    out += before_directory
    totals = {
        "magic": b"PK\5\6", "here": count, "count": count, "size": len(directory),
        "offset": len(out),
    }  # fmt: skip
    return out + directory + before_end + record(END, totals | (end or {})) + after


def pieces_of(data: bytes) -> list[Piece]:
    """Return the entries of an archive as Python's zipfile reads them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [Piece(each.filename.encode(), archive.read(each)) for each in archive.infolist()]


def changed(archive: bytes, index: int, /, **changes) -> list[Piece]:
    """Return the entries of an archive, one of them with another value for some of its fields."""
    pieces = pieces_of(archive)
    pieces[index] = replace(pieces[index], **changes)
    return pieces
