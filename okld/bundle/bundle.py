"""A bundle whose archive and manifest agree, and the check of the bytes of its images."""

from __future__ import annotations

import hashlib
import queue
import threading
import zlib
from contextlib import suppress

from okld.base.errors import FormatError, Refusal
from okld.base.limits import MAX_SIGNATURE
from okld.bundle.container import SIGNATURE, read_container
from okld.bundle.manifest import parse_manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from okld.base.view import View
    from okld.bundle.container import Container, Entry
    from okld.bundle.manifest import Manifest, Member

BLOCK = 1 << 20  # bytes read at a time: large enough that hashing one is all that is felt
WAITING = 2  # blocks that are read before they are hashed


class Bundle:
    """
    A bundle of which everything holds but what its images say and its signature.

    Attributes:
        manifest: What it says of itself.
        manifest_bytes: That, as it stands in the archive: what is hashed and signed.
        signature: The bytes of its signature, or None.
        members: Its images.
    """

    __slots__ = ("_entries", "_view", "manifest", "manifest_bytes", "members", "signature")

    def __init__(
        self,
        view: View,
        data: bytes,
        manifest: Manifest,
        signature: bytes | None,
        entries: dict[str, Entry],
    ) -> None:
        """Put together what `open_bundle` has checked; *entries* is by path."""
        self._view = view
        self._entries = entries
        self.manifest = manifest
        self.manifest_bytes = data
        self.signature = signature
        self.members = manifest.members

    def offset(self, member: Member) -> int:
        """Return where the image of *member* starts, in bytes from the start of the bundle."""
        return self._entries[member.path].offset

    def crc(self, member: Member) -> int:
        """Return the CRC-32 that the archive states of the image of *member*."""
        return self._entries[member.path].crc

    def member_view(self, member: Member) -> View:
        """Return a view of the image of *member* alone."""
        return self._view.part(self.offset(member), member.length, member.path, "OKB-18")

    def select(self, name: str | None, arch: str) -> Member:
        """
        Return the member called *name*, or where that is None the one for the processor *arch*.

        Raises:
            Refusal: MAN-10, if there is none, or more than one.
        """
        if name is not None:
            found = [member for member in self.members if member.name == name]
            what = f"no member {name}"
        else:
            found = [member for member in self.members if member.arch == arch]
            what = f"{len(found) or 'no'} members for {arch}"
        if len(found) != 1:
            names = " ".join(member.name for member in self.members)
            raise Refusal("MAN-10", f"the bundle has {what} (there are {names})")
        return found[0]


def open_bundle(view: View) -> Bundle:
    """
    Check the archive and the manifest in *view*, and that they agree.

    The images are not read: `verify_digest` does. *view* stays in use.

    Raises:
        FormatError: With the rule that is broken: OKB-1 to OKB-22, MAN-1 to MAN-7.
        Unreadable: If the system refuses to read.
    """
    container = read_container(view)
    data = container.head.manifest
    _check_crc(data, container.entries[0])
    manifest = parse_manifest(data)
    images = _images(container, manifest)
    return Bundle(view, data, manifest, _signature(view, container), images)


def verify_digest(
    bundle: Bundle,
    member: Member,
    progress: Callable[[int], None] | None = None,
    *,
    copy: View | None = None,
) -> None:
    """
    Return when the bytes of the image of *member* are those that the manifest and archive state.

    They are read once, in blocks, from the bundle or where they were copied to. *progress* is
    called with the number of bytes read so far.

    Raises:
        FormatError: OKB-23 for the SHA-256, OKB-21 for the CRC-32.
        Unreadable: If the system refuses to read.
    """
    sha256, crc = digests(copy or bundle.member_view(member), progress)
    at = bundle.offset(member)
    if sha256 != member.sha256:
        raise FormatError(
            "OKB-23", f"SHA-256 of {member.path}", got=sha256, limit=member.sha256, at=at
        )
    if crc != bundle.crc(member):
        raise FormatError(
            "OKB-21", f"CRC-32 of {member.path}", got=crc, limit=bundle.crc(member), at=at
        )


def digests(view: View, progress: Callable[[int], None] | None = None) -> tuple[str, int]:
    """
    Return the SHA-256, in hexadecimal, and the CRC-32 of the bytes of *view*.

    A second thread hashes, so that reading and the CRC-32 cost no time where there are two
    processors.
    """
    sha256, crc = hashlib.sha256(), 0
    blocks: queue.Queue[bytes | memoryview] = queue.Queue(WAITING)

    def hash_blocks() -> None:
        while block := blocks.get():
            sha256.update(block)

    hashing = threading.Thread(target=hash_blocks)
    with suppress(RuntimeError):  # no thread is to be had, by a limit of this user's
        hashing.start()
    take = blocks.put if hashing.is_alive() else sha256.update
    try:
        for at in range(0, view.size, BLOCK):
            block = view.window(at, min(BLOCK, view.size - at), "image", "OKB-18")
            take(block)
            crc = zlib.crc32(block, crc)
            if progress:
                progress(at + len(block))
    finally:
        if hashing.is_alive():
            blocks.put(b"")
            hashing.join()
    return sha256.hexdigest(), crc


def _images(container: Container, manifest: Manifest) -> dict[str, Entry]:
    """Return the entry of each image, by path."""
    entries = container.entries[1:]
    if entries and entries[0].name == SIGNATURE:
        entries = entries[1:]
    got = [(entry.name, entry.length) for entry in entries]
    wanted = [(member.path, member.length) for member in manifest.members]
    if [name for name, _ in got] != [path for path, _ in wanted]:
        what = "the archive does not hold the images of the manifest, in its order"
        raise FormatError("OKB-22", what)
    for (name, length), (_, stated) in zip(got, wanted, strict=True):
        if length != stated:
            raise FormatError("OKB-22", f"length of {name}", got=length, limit=stated)
    return {entry.name: entry for entry in entries}


def _signature(view: View, container: Container) -> bytes | None:
    for entry in container.entries[1:2]:
        if entry.name == SIGNATURE:
            if entry.length > MAX_SIGNATURE:
                raise FormatError(
                    "OKB-22", f"length of {SIGNATURE}", got=entry.length, limit=MAX_SIGNATURE
                )
            data = bytes(view.window(entry.offset, entry.length, SIGNATURE, "OKB-18"))
            _check_crc(data, entry)
            return data
    return None


def _check_crc(data: bytes, entry: Entry) -> None:
    got = zlib.crc32(data)
    if got != entry.crc:
        what = f"CRC-32 of {entry.name}"
        raise FormatError("OKB-21", what, got=got, limit=entry.crc, at=entry.offset)
