"""One remembered admission, as bytes.

A record is::

    okrun-admission 1 LENGTH CHECKSUM     of all that follows this line
    25 lines, each with one value: those that `_head` lists
    the bytes of the manifest, of the trust file and of the plan

Numbers are decimal, in bytes and nanoseconds; the checksum, digests, the build id, what is said of
the signer and the path are hexadecimal. There is one form for each record: what does not encode to
the same bytes again is none. The host checks the plan.

The checksum is there for what is torn or rots: who can write a record can also sum it up.

Source: CAC-6.
"""

from __future__ import annotations

from _imp import source_hash  # SipHash; another digest would have to be loaded: docs/decisions/0007

MAGIC = "okrun-admission"
VERSION = 1
_LINES = 25
MAX_RECORD = 1 << 25  # bytes; a plan of the most symbols and imports that an image may have


class Miss(Exception):
    """There is no record to go by; the text says why, in a few words."""


class Signer:
    """
    Who signed a bundle's manifest; the signature itself is valid.

    Attributes:
        trusted: Whether the user's trust file has the key.
        fingerprint: Of the key, as ``ssh-keygen -l`` shows it.
        said: For people: who it is, or why that is not known.
    """

    __slots__ = ("fingerprint", "said", "trusted")

    def __init__(self, trusted: bool, fingerprint: str, said: str) -> None:
        self.trusted = trusted
        self.fingerprint = fingerprint
        self.said = said


class Record:
    """
    What is known of one member of a bundle, and was found out by reading all of it.

    Attributes:
        asked: The member that was asked for (its name, or a processor's with a colon before it),
            the policy, this program's version, and the plan's format with the time zone.
        identity: Of the bundle's file: `identity.FIELDS`.
        member: The member's name.
        offset, length: Where its image is in the file, in bytes.
        sha256: Of the image, in hexadecimal.
        required, optional: The interfaces that it declares, a bit each by position.
        build_id: In hexadecimal, or "".
        signer: Who signed the manifest, or None.
        stored: When this was found out, in nanoseconds since 1970.
        until: The last second since 1970 at which it holds, or 0 for ever.
        path: Where the file was: for people, and for the command that compares it again.
        manifest: The bundle's.
        trust: The user's trust file, as it was.
        plan: The outline of the image's plan.
    """

    __slots__ = (
        "asked",
        "build_id",
        "identity",
        "length",
        "manifest",
        "member",
        "offset",
        "optional",
        "path",
        "plan",
        "required",
        "sha256",
        "signer",
        "stored",
        "trust",
        "until",
    )

    asked: tuple[str, str, str, str]
    identity: tuple[int, ...]
    member: str
    offset: int
    length: int
    sha256: str
    required: int
    optional: int
    build_id: str
    signer: Signer | None
    stored: int
    until: int
    path: bytes
    manifest: bytes
    trust: bytes
    plan: bytes


def checksum(data: bytes) -> str:
    """Return 64 bits that differ where the data does, but for accidents of one in 2^64."""
    return source_hash(VERSION, data).hex()


def encode(record: Record) -> bytes:
    """Return the bytes of a record."""
    body = _head(record) + record.manifest + record.trust + record.plan
    return f"{MAGIC} {VERSION} {len(body)} {checksum(body)}\n".encode() + body


def decode(data: bytes) -> Record:
    """
    Return the record that *data* is.

    Raises:
        Miss: If it is none, whatever it is.
    """
    first, _, body = data.partition(b"\n")
    words = first.split(b" ")
    if len(words) != 4 or words[0] != MAGIC.encode():
        raise Miss("the record is none")
    if words[1] != b"%d" % VERSION:
        raise Miss("the record is of another version")
    if words[2] != b"%d" % len(body):
        raise Miss("the record is cut")
    if words[3] != checksum(body).encode():
        raise Miss("the record's checksum differs")
    try:
        record = _read(body)
    except (ValueError, IndexError):
        raise Miss("the record is malformed") from None
    return record


def _head(record: Record) -> bytes:
    signer = record.signer
    said = ("none", "", "")
    if signer is not None:
        state = "trusted" if signer.trusted else "unknown"
        said = (state, signer.fingerprint, signer.said.encode("utf-8", "surrogateescape").hex())
    values = (
        *record.asked,
        *record.identity,
        record.member,
        record.offset,
        record.length,
        record.sha256,
        record.required,
        record.optional,
        record.build_id,
        *said,
        record.stored,
        record.until,
        record.path.hex(),
        len(record.manifest),
        len(record.trust),
        len(record.plan),
        "",
    )
    return "\n".join(map(str, values)).encode()


def _read(body: bytes) -> Record:
    """Return the record that *body* holds; raise ValueError or IndexError where it holds none."""
    *lines, rest = body.split(b"\n", _LINES)
    words = b"\n".join(lines).decode("ascii").split("\n")
    record = Record()
    record.asked = (words[0], words[1], words[2], words[3])
    record.identity = tuple(map(int, words[4:9]))
    record.member, record.sha256, record.build_id = words[9], words[12], words[15]
    record.offset, record.length = int(words[10]), int(words[11])
    record.required, record.optional = int(words[13]), int(words[14])
    record.signer = _signer(*words[16:19])
    record.stored, record.until = int(words[19]), int(words[20])
    record.path = bytes.fromhex(words[21])
    manifest, trust, plan = map(int, words[22:])
    record.manifest = rest[:manifest]
    record.trust = rest[manifest : manifest + trust]
    record.plan = rest[manifest + trust :]
    if len(record.plan) != plan or _head(record) != body[: len(body) - len(rest)]:
        raise ValueError
    if record.until < 0 or b"\0" in record.path:  # no such time is stated, no file so called
        raise ValueError
    return record


def _signer(state: str, fingerprint: str, said: str) -> Signer | None:
    if state == "none":
        return None
    text = bytes.fromhex(said).decode("utf-8", "surrogateescape")
    return Signer(state == "trusted", fingerprint, text)
