"""
Compressed sections, inflated a window at a time.

Debug information inflates to hundreds of megabytes, of which an answer needs a few kilobytes. The
stream is therefore read only as far as it must be; its state is kept now and then on the way, so
that a window further back costs little; and of what came out only the last blocks are held.

Source: DBG-1 to DBG-3; gABI, "Section Compression"; for `.zdebug_*` the GNU tool chain.
"""

from __future__ import annotations

import zlib
from _struct import Struct

from okld.base.errors import FormatError, Refusal
from okld.base.limits import (
    MAX_DEBUG_SECTION,
    MAX_INFLATED_HELD,
    MAX_INFLATED_STATES,
    MAX_RATIO,
    MAX_ZSTD_HELD,
    MAX_ZSTD_WINDOW,
    SMALL_SECTION,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from okld.base.view import View

RULE = "DBG-1"
ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD = 1, 2
GNU_MAGIC, GNU_HEADER = b"ZLIB", 12

BLOCK = 1 << 17  # bytes that are inflated at a time: half a millisecond
INPUT = 1 << 14  # compressed bytes that are read at a time; a kept state holds on to as many
STATES_EVERY = 1 << 20  # inflated bytes from one kept state (50 KiB) to the next

NO_ZSTD = "zstd is not available, and a section is compressed by it: pip install backports.zstd"


def inflated(raw: View, bits: int, order: str) -> Inflated:
    """
    Return the contents of a section with `SHF_COMPRESSED`, whose bytes in the file are *raw*.

    Raises:
        FormatError: If its header is cut or its method unknown (DBG-1), or it would be larger than
            MAX_DEBUG_SECTION or MAX_RATIO times its compressed size (DBG-2).
        Refusal: If zstd is needed and not available (DBG-3).
    """
    size = 24 if bits == 64 else 12
    header = bytes(raw.window(0, size, "compression header", RULE))
    method, stated = Struct(order + ("I4xQ" if bits == 64 else "II")).unpack_from(header)
    packed = raw.part(size, raw.size - size, "compressed section", RULE)
    if method == ELFCOMPRESS_ZLIB:
        return Inflated(_Zlib(packed), packed.size, stated, MAX_INFLATED_HELD)
    if method == ELFCOMPRESS_ZSTD:
        return Inflated(_Zstd(packed), packed.size, stated, MAX_ZSTD_HELD)
    raise FormatError(RULE, "unknown compression of a section", got=method)


def inflated_gnu(raw: View) -> Inflated:
    """
    Return the contents of a section named `.zdebug_*`: "ZLIB", eight bytes of size, a stream.

    Raises:
        FormatError: As `inflated` does.
    """
    header = bytes(raw.window(0, GNU_HEADER, "compression header", RULE))
    if header[:4] != GNU_MAGIC:
        raise FormatError(RULE, "unknown compression of a section", got=header[:4].hex())
    packed = raw.part(GNU_HEADER, raw.size - GNU_HEADER, "compressed section", RULE)
    stated = int.from_bytes(header[4:], "big")
    return Inflated(_Zlib(packed), packed.size, stated, MAX_INFLATED_HELD)


class Inflated:
    """
    The contents of a compressed section.

    Attributes:
        size: How many bytes there are, as the section's header states.
    """

    __slots__ = ("_blocks", "_every", "_made", "_most", "_states", "_stream", "size")

    def __init__(self, stream: _Zlib | _Zstd, packed: int, size: int, held: int) -> None:
        """
        Take a *stream* at its start, which *packed* bytes inflate to *size*; *held*: of which so
        many are kept.

        Raises:
            FormatError: If *size* is over a limit (DBG-2).
        """
        if size > MAX_DEBUG_SECTION:
            raise FormatError("DBG-2", "inflated section", got=size, limit=MAX_DEBUG_SECTION)
        most = max(SMALL_SECTION, packed * MAX_RATIO)
        if size > most:
            raise FormatError(
                "DBG-2", "inflated section, by its compressed size", got=size, limit=most
            )
        self.size = size
        self._stream = stream
        self._made = 0  # bytes that have come out of the stream
        self._states: list[tuple[int, _Zlib | _Zstd]] = [(0, stream.fresh())]
        self._every = STATES_EVERY
        self._blocks: dict[int, bytes] = {}  # the one used longest ago first
        self._most = held // BLOCK

    def window(self, offset: int, size: int, what: str, rule: str) -> memoryview | bytes:
        """
        Return the *size* bytes at *offset*.

        Raises:
            FormatError: With *rule*, if any of them lies outside; if the stream is damaged or of
                another size than stated (DBG-1).
            Unreadable: If the system refuses to read the file.
        """
        if offset < 0 or size < 0 or offset > self.size - size:
            raise FormatError(
                rule, f"{what} is past the end", got=offset + size, limit=self.size, at=offset
            )
        first, start = divmod(offset, BLOCK)
        if start + size <= BLOCK:
            return self._block(first)[start : start + size] if size else b""
        out = bytearray(size)
        at = 0
        for number in range(first, (offset + size - 1) // BLOCK + 1):
            piece = self._block(number)[start : start + size - at]
            out[at : at + len(piece)] = piece
            at += len(piece)
            start = 0
        return memoryview(out)

    def _block(self, number: int) -> bytes:
        block = self._blocks.pop(number, None)
        if block is None:
            block = self._inflate(number)
            if len(self._blocks) >= self._most:
                del self._blocks[next(iter(self._blocks))]
        self._blocks[number] = block
        return block

    def _inflate(self, number: int) -> bytes:
        """Bring the stream to block *number*, by the shortest way, and read it."""
        wanted = number * BLOCK
        made, state = max((s for s in self._states if s[0] <= wanted), key=lambda s: s[0])
        if self._made > wanted or made > self._made:
            self._stream, self._made = state.copy(), made
        while self._made < wanted:
            self._next()
        return self._next()

    def _next(self) -> bytes:
        """Return the block that comes next out of the stream."""
        if self._made - self._states[-1][0] >= self._every and self._stream.keeps:
            self._states.append((self._made, self._stream.copy()))
            if len(self._states) > MAX_INFLATED_STATES:
                del self._states[1::2]
                self._every *= 2
        made = self._made
        wanted = min(BLOCK, self.size - made)
        self._made = self.size + 1  # until all went well: a broken stream stands nowhere
        parts, left = [], wanted
        while left:
            part = self._stream.read(left)
            if not part:
                raise FormatError(RULE, "compressed section ends early", limit=self.size)
            parts.append(part)
            left -= len(part)
        if made + wanted == self.size and self._stream.read(1):
            raise FormatError(RULE, "compressed section is longer than stated", limit=self.size)
        self._made = made + wanted
        return b"".join(parts)


class _Zlib:
    """
    A zlib stream at some place.

    Attributes:
        keeps: Whether `copy` works everywhere, and not only at the start.
    """

    __slots__ = ("_packed", "_taken", "_zlib")
    keeps = True

    def __init__(self, packed: View) -> None:
        self._packed = packed
        self._taken = 0
        self._zlib = zlib.decompressobj()

    def fresh(self) -> _Zlib:
        """Return the stream at its start."""
        return _Zlib(self._packed)

    def copy(self) -> _Zlib:
        """Return the same at the same place."""
        other = _Zlib(self._packed)
        other._taken = self._taken
        other._zlib = self._zlib.copy()
        return other

    def read(self, size: int) -> bytes:
        """Return at most *size* bytes, none at the end, of a stream that is whole so far."""
        stream = self._zlib
        while not stream.eof:
            rest = self._packed.size - self._taken
            data = self._packed.window(self._taken, min(INPUT, rest), "compressed section", RULE)
            try:
                out = stream.decompress(data, size)
            except zlib.error as error:
                raise FormatError(RULE, f"compressed section: {error}") from None
            self._taken += len(data) - len(stream.unconsumed_tail)
            if out:
                return out
            if not data:
                raise FormatError(RULE, "compressed section ends early")
        return b""


class _Zstd:
    """A zstd stream at some place: frames one after the other."""

    __slots__ = ("_packed", "_taken", "_zstd")
    keeps = False

    def __init__(self, packed: View) -> None:
        self._packed = packed
        self._taken = 0
        self._zstd = _zstd_stream()

    def fresh(self) -> _Zstd:
        """Return the stream at its start."""
        return _Zstd(self._packed)

    def copy(self) -> _Zstd:
        """Return the stream at its start, the one place where it is kept."""
        return self.fresh()

    def read(self, size: int) -> bytes:
        """Return at most *size* bytes, none at the end, of a stream that is whole so far."""
        while True:
            if self._zstd.eof:
                self._taken -= len(self._zstd.unused_data)
                if self._taken == self._packed.size:
                    return b""
                self._zstd = _zstd_stream()
            data: memoryview | bytes = b""
            if self._zstd.needs_input:
                rest = self._packed.size - self._taken
                data = self._packed.window(
                    self._taken, min(INPUT, rest), "compressed section", RULE
                )
                if not data:
                    raise FormatError(RULE, "compressed section ends early")
            try:
                out: bytes = self._zstd.decompress(data, size)
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                raise FormatError(RULE, f"compressed section: {error}") from None
            self._taken += len(data)
            if out:
                return out


def _zstd_stream() -> Any:
    """Return a new stream of the standard library, which has them from Python 3.14 on."""
    from importlib import import_module

    for name in ("compression.zstd", "backports.zstd"):
        try:
            zstd = import_module(name)
        except ImportError:
            continue
        limit = {zstd.DecompressionParameter.window_log_max: MAX_ZSTD_WINDOW}
        return zstd.ZstdDecompressor(options=limit)
    raise Refusal("DBG-3", NO_ZSTD)
