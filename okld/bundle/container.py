"""The archive of a bundle, read in its one canonical form.

Every field has one right value. `read_head` finds the manifest, for a start that has seen the
bundle before; `read_container` checks every byte that is not a member's own, so that no other
reader of ZIP files can see another archive than this one does.

Source: SPEC chapter 14; PKWARE's APPNOTE, 4.3 and 4.4.
"""

from __future__ import annotations

from okld.base.errors import FormatError, printable
from okld.base.limits import MAX_BUNDLE, MAX_ENTRY_NAME, MAX_MANIFEST, MAX_MEMBERS, PAGE
from okld.bundle.naming import holds_another, is_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.view import View

MANIFEST, SIGNATURE = "okb/manifest.json", "okb/manifest.json.sig"

LOCAL_SIZE, CENTRAL_SIZE, END_SIZE = 30, 46, 22
LOCATOR_SIZE, LOCATOR_MAGIC = 20, b"PK\x06\x07"  # of zip64, which stands before the end record
LOCAL_MAGIC, END_MAGIC = b"PK\x03\x04", b"PK\x05\x06"
MAX_ENTRIES = MAX_MEMBERS + 2
NOT_HERE = (1 << 16) - 1, (1 << 32) - 1  # a count or a size that zip64 says elsewhere

# What has one value only: (offset in the record, bytes, value, rule, name).
LOCAL = (
    (4, 2, 20, "OKB-13", "version needed"),
    (6, 2, 0, "OKB-11", "flags"),
    (8, 2, 0, "OKB-12", "compression method"),
    (10, 2, 0, "OKB-13", "time"),
    (12, 2, 0x21, "OKB-13", "date"),
)
CENTRAL = (
    (0, 4, 0x02014B50, "OKB-10", "signature of an entry of the directory"),
    (4, 2, 3 << 8 | 20, "OKB-13", "version made by"),
    *((at + 2, width, value, rule, name) for at, width, value, rule, name in LOCAL),
    (30, 2, 0, "OKB-15", "length of a directory entry's extra field"),
    (32, 2, 0, "OKB-15", "length of a member's comment"),
    (34, 2, 0, "OKB-4", "disk"),
    (36, 2, 0, "OKB-14", "internal attributes"),
    (38, 4, 0o100644 << 16, "OKB-14", "external attributes"),
)
END = (
    (0, 4, 0x06054B50, "OKB-3", "signature of the end record"),
    (4, 2, 0, "OKB-4", "disk"),
    (6, 2, 0, "OKB-4", "disk of the directory"),
    (20, 2, 0, "OKB-3", "length of the archive's comment"),
)


class Head:
    """
    The manifest of a bundle, found by its first local header alone.

    Attributes:
        manifest_at: Where it starts, in bytes from the start of the bundle.
        manifest_size: How many bytes it has.
        manifest: Its bytes; nothing but their number has been checked.
    """

    __slots__ = ("manifest", "manifest_at", "manifest_size")

    def __init__(self, at: int, manifest: bytes) -> None:
        self.manifest_at = at
        self.manifest_size = len(manifest)
        self.manifest = manifest


class Entry:
    """
    One member of the archive.

    Attributes:
        name: Its name, in ASCII.
        offset: Where its data starts, in bytes from the start of the bundle.
        length: How many bytes of data it has.
        crc: The CRC-32 that the archive states of them; not compared yet.
    """

    __slots__ = ("crc", "length", "name", "offset")

    def __init__(self, name: str, offset: int, length: int, crc: int) -> None:
        self.name = name
        self.offset = offset
        self.length = length
        self.crc = crc


class Container:
    """
    An archive in canonical form; only `read_container` makes one.

    Attributes:
        head: Its manifest.
        entries: Its members, in order; the manifest is the first.
    """

    __slots__ = ("entries", "head")

    def __init__(self, head: Head, entries: tuple[Entry, ...]) -> None:
        self.head = head
        self.entries = entries


def looks_like_bundle(view: View) -> bool:
    """Say whether the first four bytes are those of a ZIP archive with a member."""
    return view.size >= 4 and view.window(0, 4, "magic", "OKB-1") == LOCAL_MAGIC


def read_head(view: View) -> Head:
    """
    Return the manifest of the bundle in *view*, having read it and the local header before it.

    Raises:
        FormatError: By OKB-1 or OKB-2, or the rule of the local header's field that is wrong; MAN-2
            if the manifest is longer than one may be.
        Unreadable: If the system refuses to read.

    Source: OKB-24.
    """
    name = MANIFEST.encode()
    at = LOCAL_SIZE + len(name)
    least = at + CENTRAL_SIZE + len(name) + END_SIZE
    if not least <= view.size <= MAX_BUNDLE:
        limit = least if view.size < least else MAX_BUNDLE
        raise FormatError("OKB-1", "length of the bundle", got=view.size, limit=limit)
    header = bytes(view.window(0, at, "first local header", "OKB-1"))
    if not header.startswith(LOCAL_MAGIC):
        raise FormatError("OKB-2", "no local header at the first byte", got=header[:4].hex(), at=0)
    if header[LOCAL_SIZE:] != name or _word(header, 26, 2) != len(name):
        raise FormatError("OKB-2", f"the first member is not {MANIFEST}", at=LOCAL_SIZE)
    _check(header, LOCAL, 0)
    size, stored = _word(header, 22, 4), _word(header, 18, 4)
    if size != stored:
        raise FormatError("OKB-12", f"sizes of {MANIFEST} differ", got=stored, limit=size, at=18)
    if _word(header, 28, 2):
        raise FormatError("OKB-16", f"extra field of {MANIFEST}", got=_word(header, 28, 2), at=28)
    if size > MAX_MANIFEST:
        raise FormatError("MAN-2", "length of the manifest", got=size, limit=MAX_MANIFEST, at=22)
    return Head(at, bytes(view.window(at, size, MANIFEST, "OKB-18")))


def read_container(view: View) -> Container:
    """
    Return the members of the bundle in *view*; every byte that is not their data has been checked.

    Raises:
        FormatError: With the rule that is broken: OKB-1 to OKB-20, or MAN-2.
        Unreadable: If the system refuses to read.
    """
    head = read_head(view)
    start, count, directory = _read_directory(view)
    entries: list[Entry] = []
    at = end = 0
    for _ in range(count):
        entry, size = _read_entry(view, directory, at, start, end)
        entries.append(entry)
        at += size
        end = entry.offset + entry.length
    if at != len(directory):
        what = "length of the directory is not that of its entries"
        raise FormatError("OKB-7", what, got=len(directory), limit=at, at=start)
    if end != start:
        raise FormatError(
            "OKB-8", "bytes before the directory are no member's", got=start - end, at=end
        )
    _check_unique([entry.name for entry in entries], start)
    return Container(head, tuple(entries))


def _read_directory(view: View) -> tuple[int, int, bytes]:
    """Return where the directory starts, how many entries it has, and its bytes."""
    at = view.size - END_SIZE
    tail = bytes(view.window(at - LOCATOR_SIZE, LOCATOR_SIZE + END_SIZE, "end record", "OKB-1"))
    end = tail[LOCATOR_SIZE:]
    _check(end, END, at)
    if END_MAGIC in end[1:]:
        raise FormatError("OKB-3", "a second signature in the end record", at=at)
    here, count, size, start = (_word(end, *field) for field in ((8, 2), (10, 2), (12, 4), (16, 4)))
    if tail.startswith(LOCATOR_MAGIC):
        raise FormatError("OKB-5", "a zip64 locator before the end record", at=at - LOCATOR_SIZE)
    if count == NOT_HERE[0] or NOT_HERE[1] in (size, start):
        raise FormatError("OKB-5", "the end record refers to zip64", at=at)
    if start > at or size != at - start:
        what = "the directory does not end where the end record begins"
        raise FormatError("OKB-6", what, got=start + size, limit=at, at=at)
    if here != count:
        raise FormatError("OKB-7", "counts of entries differ", got=here, limit=count, at=at)
    if not 1 <= count <= MAX_ENTRIES:
        raise FormatError("OKB-7", "count of entries", got=count, limit=MAX_ENTRIES, at=at)
    if size > count * (CENTRAL_SIZE + MAX_ENTRY_NAME):
        raise FormatError("OKB-7", "length of the directory", got=size, at=at)
    return start, count, bytes(view.window(start, size, "directory", "OKB-6"))


def _read_entry(
    view: View, directory: bytes, at: int, start: int, expected: int
) -> tuple[Entry, int]:
    """
    Return the entry at *at* of the *directory*, which starts at *start*, and its length there.

    Its local header is to be at *expected*, where the member before it ends.
    """
    where = start + at
    if at + CENTRAL_SIZE > len(directory):
        raise FormatError("OKB-7", "fewer entries in the directory than are counted", at=where)
    header = directory[at : at + CENTRAL_SIZE]
    _check(header, CENTRAL, where)
    crc, stored, size = (_word(header, field, 4) for field in (16, 20, 24))
    local = _word(header, 42, 4)
    if NOT_HERE[1] in (stored, size, local):
        raise FormatError("OKB-5", "a member refers to zip64", at=where)
    raw = directory[at + CENTRAL_SIZE : at + CENTRAL_SIZE + _word(header, 28, 2)]
    name = _checked_name(raw, _word(header, 28, 2), where)
    if size != stored:
        raise FormatError("OKB-12", f"sizes of {name} differ", got=stored, limit=size, at=where)
    if local != expected:
        _refuse_place(name, local, expected)
    record = LOCAL_SIZE + len(raw)
    if record > start - local:
        raise FormatError("OKB-18", f"header of {name} is in the directory", at=local)
    beside = bytes(view.window(local, record, "local header", "OKB-18"))
    if not beside.startswith(LOCAL_MAGIC):
        raise FormatError("OKB-10", f"no local header of {name}", got=beside[:4].hex(), at=local)
    if beside[4:28] != header[6:30] or beside[LOCAL_SIZE:] != raw:
        raise FormatError("OKB-17", f"header of {name} differs from the directory's", at=local)
    data = local + record + _read_pad(view, name, _word(beside, 28, 2), local + record)
    if size > start - data:
        raise FormatError("OKB-18", f"length of {name}", got=size, limit=start - data, at=local)
    return Entry(name, data, size, crc), CENTRAL_SIZE + len(raw)


def _refuse_place(name: str, local: int, expected: int) -> None:
    if not expected:
        raise FormatError("OKB-2", "bytes before the first member", got=local, at=0)
    if local < expected:
        raise FormatError("OKB-9", f"{name} overlaps another member", limit=expected, at=local)
    raise FormatError("OKB-8", f"bytes before {name} are no member's", got=local, at=expected)


def _read_pad(view: View, name: str, size: int, at: int) -> int:
    """Return *size*, the length of the extra field at *at*, which is only there to align."""
    wanted = padding(name, at)
    if size != wanted:
        raise FormatError("OKB-16", f"extra field of {name}", got=size, limit=wanted, at=at)
    if any(view.window(at, size, "extra field", "OKB-18")):
        raise FormatError("OKB-16", f"extra field of {name} is not zero", at=at)
    return size


def padding(name: str, at: int) -> int:
    """Return how many bytes of extra field the member *name* needs, which would begin at *at*."""
    return 0 if name in (MANIFEST, SIGNATURE) else -at % PAGE


def _checked_name(raw: bytes, size: int, at: int) -> str:
    if not 1 <= size <= MAX_ENTRY_NAME:
        raise FormatError("OKB-19", "length of a name", got=size, limit=MAX_ENTRY_NAME, at=at)
    if len(raw) < size:
        raise FormatError("OKB-7", "a name is past the end of the directory", at=at)
    name = raw.decode("latin-1")
    if not is_path(name):
        raise FormatError("OKB-19", f"name {printable(raw)}", at=at)
    return name


def _check_unique(names: list[str], at: int) -> None:
    twice = holds_another(names)
    if twice:
        raise FormatError("OKB-20", f"two members, or a directory and a member, {twice}", at=at)


def _check(record: bytes, fields: tuple[tuple[int, int, int, str, str], ...], at: int) -> None:
    for offset, width, value, rule, name in fields:
        got = _word(record, offset, width)
        if got != value:
            raise FormatError(rule, name, got=got, limit=value, at=at + offset)


def _word(record: bytes, offset: int, width: int) -> int:
    return int.from_bytes(record[offset : offset + width], "little")
