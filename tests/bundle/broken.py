"""Broken bundles: named edits of a good one, by the row of deceits that each belongs to.

Each case is the rule that refuses, a word that the refusal says, and what makes the bytes from
those of a bundle of two images, x86-64 first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from archive import CENTRAL, END, LOCAL, MANIFEST, PAGE, Piece, changed, pack, pieces_of, record


def manifest(**changes) -> Callable[[bytes], bytes]:
    return lambda good: pack(changed(good, 0, **changes))


def x86(**changes) -> Callable[[bytes], bytes]:
    return lambda good: pack(changed(good, 1, **changes))


def arm(**changes) -> Callable[[bytes], bytes]:
    return lambda good: pack(changed(good, 2, **changes))


def replaced(good: bytes, start: bytes) -> list[Piece]:
    """Return the pieces with an AArch64 image of the right length that is nothing but its start."""
    return changed(good, 2, data=start.ljust(len(pieces_of(good)[2].data)))


def end(**fields) -> Callable[[bytes], bytes]:
    return lambda good: pack(pieces_of(good), end=fields)


def more(name: bytes) -> Callable[[bytes], bytes]:
    return lambda good: pack([*pieces_of(good), Piece(name, b"x")])


def around(**options) -> Callable[[bytes], bytes]:
    return lambda good: pack(pieces_of(good), **options)


def order(*indices: int) -> Callable[[bytes], bytes]:
    return lambda good: pack([pieces_of(good)[index] for index in indices])


def padded(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the zeros before the first image."""

    def edit(good: bytes) -> bytes:
        at = 30 + len(MANIFEST) + len(pieces_of(good)[0].data) + 30 + len(b"image/x86_64.ok")
        return pack(changed(good, 1, pad=change(bytes(-at % PAGE))))

    return edit


def overlapping(good: bytes) -> bytes:
    """Make the first image so long that it reaches into the second."""
    length = len(pieces_of(good)[1].data) + 100
    return x86(both={"size": length, "full": length})(good)


def into_the_directory(good: bytes) -> bytes:
    """Make the last image one byte longer than there is room."""
    length = len(pieces_of(good)[2].data) + 1
    return arm(both={"size": length, "full": length})(good)


def quoted(good: bytes) -> bytes:
    """Put a whole entry inside the data of another, for a reader that goes by the directory."""
    outer = pieces_of(good)[1]
    inner = record(
        LOCAL,
        {"magic": b"PK\3\4", "needed": 20, "date": 0x21, "name_length": 1, "size": 1, "full": 1},
    )
    data = outer.data + inner + b"qx"
    at = pack(changed(good, 1, data=data)).rindex(inner)
    return pack([*changed(good, 1, data=data), Piece(b"q", b"x", central={"offset": at})])


def hidden(good: bytes) -> bytes:
    """Put an entry where only a walk over the local headers finds it."""
    first, *rest = pieces_of(good)
    return pack([first, Piece(b"hidden", b"x", hidden=True, pad=b""), *rest])


def ghost(good: bytes) -> bytes:
    """Add an entry of the directory that has no local header."""
    size, offset = struct.unpack("<II", good[-10:-2])
    fields = {
        "magic": b"PK\1\2", "made": 0x314, "needed": 20, "date": 0x21, "name_length": 5,
        "external": 0o100644 << 16, "offset": offset,
    }  # fmt: skip
    entry = record(CENTRAL, fields) + b"ghost"
    totals = {"magic": b"PK\5\6", "here": 4, "count": 4, "offset": offset}
    return good[:-22] + entry + record(END, totals | {"size": size + len(entry)})


def zip64(good: bytes) -> bytes:
    """Give a zip64 end, which counts other entries, before the end record."""
    at = len(good) - 22
    zip64_end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, at, 0)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
    return pack(pieces_of(good), before_end=zip64_end + locator)


def second_end(good: bytes) -> bytes:
    """Give a whole archive as the comment of another."""
    comment = pack([Piece(b"other", b"x", pad=b"")])
    return pack(pieces_of(good), end={"comment_length": len(comment)}, after=comment)


def long_signature(good: bytes) -> bytes:
    first, *rest = pieces_of(good)
    return pack([first, Piece(MANIFEST + b".sig", bytes(65537)), *rest])


NAMES_OF_TWO_READINGS = {
    b"image/x86_64.ok\0.txt": "\\x00",
    b"image/\x80.ok": "\\x80",
    "image/\u00e9.ok".encode(): "name",
    b"image/x 86.ok": "name",
    b"\x1b[31m": "\\x1b",
    b"": "length",
    b"a" * 101: "length",
}
NAMES_THAT_LEAD_ELSEWHERE = (
    b"../x86_64.ok",
    b"image/../../x",
    b"/etc/passwd",
    b"c:/x86_64.ok",
    b"image\\x86_64.ok",
    b"image/./x.ok",
    b"image//x.ok",
    b"image/",
    b".hidden",
)
DIFFERENT = (
    {"crc": 1},
    {"size": 1},
    {"full": 1},
    {"method": 8},
    {"flags": 0x800},
    {"needed": 45},
    {"time": 1},
    {"date": 0x22},
)

ROWS: dict[str, list[tuple[str, str, Callable[[bytes], bytes]]]] = {
    "duplicate names": [
        ("OKB-20", "image/x86_64.ok", order(0, 1, 2, 1)),
        ("OKB-20", "okb/manifest.json", order(0, 0, 1, 2)),
        ("OKB-20", "image/x86_64.ok", more(b"image/x86_64.ok/a")),
        ("OKB-20", "image", more(b"image")),
        ("OKB-19", "IMAGE", more(b"IMAGE/x86_64.ok")),
    ],
    "local and central differ": [
        *(("OKB-17", "image/x86_64.ok", x86(local=fields)) for fields in DIFFERENT),
        ("OKB-17", "image/x86_64.ok", x86(central={"crc": 1})),
        ("OKB-17", "image/x86_64.ok", x86(local_name=b"image/x86_65.ok")),
        ("OKB-17", "image/x86_64.ok", x86(local_name=b"image/x86_64.okk")),
        ("OKB-17", "okb/manifest.json", manifest(local={"crc": 1})),
    ],
    "entries that only one of the two lists": [
        ("OKB-8", "image/x86_64.ok", hidden),
        ("OKB-18", "ghost", ghost),
        ("OKB-7", "counts", end(here=2)),
        ("OKB-7", "length of the directory", end(here=2, count=2)),
        ("OKB-7", "fewer", end(here=4, count=4)),
        ("OKB-7", "count", end(here=0, count=0)),
        ("OKB-7", "count", end(here=67, count=67)),
        ("OKB-7", "past the end", arm(central={"name_length": 90})),
        ("OKB-10", "image/x86_64.ok", x86(local={"magic": b"PK\7\x08"})),
        ("OKB-10", "directory", x86(central={"magic": b"PK\5\5"})),
    ],
    "two end records": [
        ("OKB-3", "comment", end(comment_length=1)),
        ("OKB-6", "directory", second_end),
        ("OKB-6", "directory", lambda good: good + good),
        ("OKB-6", "directory", lambda good: good + good[-22:]),
        ("OKB-3", "end record", lambda good: good + b"\n"),
        ("OKB-3", "second", end(offset=int.from_bytes(b"PK\5\6", "little"))),
    ],
    "zip64": [
        ("OKB-5", "locator", zip64),
        ("OKB-5", "locator", around(before_end=b"PK\6\7" + bytes(16))),
        ("OKB-5", "end record", end(offset=0xFFFFFFFF)),
        ("OKB-5", "end record", end(size=0xFFFFFFFF)),
        ("OKB-5", "end record", end(here=0xFFFF, count=0xFFFF)),
        ("OKB-5", "member", x86(both={"size": 0xFFFFFFFF})),
        ("OKB-5", "member", x86(both={"full": 0xFFFFFFFF})),
        ("OKB-5", "member", x86(central={"offset": 0xFFFFFFFF})),
        ("OKB-13", "version needed", x86(both={"needed": 45})),
        ("OKB-15", "extra", x86(extra=b"\1\0\x08\0" + bytes(8))),
    ],
    "bytes before, behind and between": [
        ("OKB-2", "first byte", lambda good: b"\x7fELF" + good),
        ("OKB-2", "first byte", manifest(before=b"#!/bin/sh\n")),
        ("OKB-2", "first member", order(1, 0, 2)),
        ("OKB-2", "before", lambda good: pack([*changed(good, 0, hidden=True), *pieces_of(good)])),
        ("OKB-3", "end record", around(after=bytes(22))),
        ("OKB-8", "image/x86_64.ok", manifest(after=b"\0")),
        ("OKB-8", "directory", around(before_directory=b"\0")),
        ("OKB-6", "directory", around(before_end=b"\0")),
        ("OKB-6", "directory", end(offset=4)),
        ("OKB-6", "directory", end(offset=1 << 30)),
        ("OKB-1", "length", lambda good: good[:4]),
        ("OKB-1", "length", lambda good: good[:131]),
    ],
    "entries that overlap": [
        ("OKB-9", "image/aarch64.ok", overlapping),
        ("OKB-9", "q overlaps", quoted),
        ("OKB-9", "image/aarch64.ok", arm(central={"offset": 47})),
        ("OKB-9", "image/x86_64.ok", x86(central={"offset": 0})),
    ],
    "sizes that lie": [
        ("OKB-18", "image/aarch64.ok", arm(both={"size": 1 << 31, "full": 1 << 31})),
        ("OKB-18", "image/aarch64.ok", into_the_directory),
        ("OKB-8", "directory", arm(both={"size": 1, "full": 1})),
        ("MAN-2", "manifest", manifest(both={"size": 1 << 31, "full": 1 << 31})),
        ("OKB-18", "manifest", manifest(both={"size": 1 << 20, "full": 1 << 20})),
        ("OKB-22", "length", long_signature),
        ("OKB-22", "length", arm(data=b"\x7fELF")),
    ],
    "data descriptors": [
        ("OKB-11", "flags", x86(both={"flags": 8})),
        ("OKB-11", "flags", x86(both={"flags": 8, "crc": 0}, after=b"PK\7\x08" + bytes(12))),
        ("OKB-11", "flags", manifest(both={"flags": 8})),
    ],
    "extra fields": [
        ("OKB-16", "okb/manifest.json", manifest(pad=bytes(4))),
        ("OKB-16", "image/x86_64.ok", padded(lambda pad: b"")),
        ("OKB-16", "image/x86_64.ok", padded(lambda pad: pad[1:])),
        ("OKB-16", "not zero", padded(lambda pad: b"\1" + pad[1:])),
        ("OKB-16", "not zero", padded(lambda pad: pad[1:] + b"\1")),
        ("OKB-16", "not zero", padded(lambda pad: b"up\x09\0\1" + pad[5:])),
        ("OKB-15", "extra", x86(extra=b"up\0\0")),
        ("OKB-15", "comment", x86(comment=b"c")),
    ],
    "lengths above 32,767": [
        ("OKB-19", "length", x86(central={"name_length": 0x800F})),
        ("OKB-15", "extra", x86(central={"extra_length": 0x8000})),
        ("OKB-16", "0x8000", x86(local={"extra_length": 0x8000})),
        ("OKB-7", "counts", end(here=0x8003)),
    ],
    "names that are read in two ways": [
        ("OKB-19", says, x86(name=name)) for name, says in NAMES_OF_TWO_READINGS.items()
    ],
    "names that lead elsewhere": [
        *(("OKB-19", "name", x86(name=name)) for name in NAMES_THAT_LEAD_ELSEWHERE),
        ("OKB-14", "external", x86(central={"external": 0o120777 << 16})),
        ("OKB-14", "external", x86(central={"external": 0o104755 << 16})),
        ("OKB-14", "external", x86(central={"external": 0o040755 << 16 | 16})),
        ("OKB-14", "internal", x86(central={"internal": 1})),
    ],
    "what grows when it is unpacked": [
        ("OKB-12", "method", x86(both={"method": 8})),
        ("OKB-12", "method", manifest(both={"method": 8})),
        ("OKB-12", "sizes", x86(both={"full": 1 << 30})),
        ("OKB-12", "sizes", manifest(both={"size": 1})),
    ],
    "encryption and other disks": [
        ("OKB-11", "flags", x86(both={"flags": 1})),
        ("OKB-11", "flags", x86(both={"flags": 0x2041})),
        ("OKB-12", "method", x86(both={"method": 99})),
        ("OKB-4", "disk", x86(central={"disk": 1})),
        ("OKB-4", "disk", end(disk=1)),
        ("OKB-4", "disk", end(start_disk=1)),
    ],
    "more than one right value": [
        ("OKB-11", "flags", x86(both={"flags": 0x800})),
        ("OKB-13", "made", x86(central={"made": 20})),
        ("OKB-13", "needed", x86(both={"needed": 10})),
        ("OKB-13", "time", x86(both={"time": 1})),
        ("OKB-13", "date", x86(both={"date": 0})),
        ("OKB-13", "date", manifest(both={"date": 0})),
    ],
    "data that is not what is said": [
        ("OKB-21", "okb/manifest.json", manifest(both={"crc": 1})),
        ("OKB-21", "image/x86_64.ok", x86(both={"crc": 1})),
        ("OKB-23", "image/x86_64.ok", lambda good: good.replace(b"\x7fELF\2", b"\x7fELF\1", 1)),
        ("OKB-23", "image/aarch64.ok", lambda good: pack(replaced(good, b"\x7fELF"))),
        ("OKB-22", "order", order(0, 2, 1)),
        ("OKB-22", "images", order(0, 1)),
        ("OKB-22", "images", more(b"readme")),
        ("OKB-22", "images", x86(name=b"image/other.ok")),
        ("OKB-22", "images", more(MANIFEST + b".sig")),
    ],
}
