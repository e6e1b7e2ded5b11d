"""The plan's bytes; okrun/host/plan.h is the one statement of the format, with grammar and history.

The host alone reads them.

Words are written with `int.to_bytes`: importing `struct` would cost more than all of the encoding.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = 0x336E616C706B
PAGE = 0x10000
"""``PLAN_PAGE``, in bytes: the largest page size in use."""

HEADER = (
    "magic", "size", "machine",
    "file_fd", "file_dev", "file_ino", "file_size", "file_mtime_ns", "file_ctime_ns",
    "image_offset", "image_size",
    "lo", "hi", "align", "entry", "stack", "version", "required", "optional",
    "relro", "relro_size", "init", "fini",
    "init_array", "init_count", "fini_array", "fini_count",
    "rela", "rela_count", "jmprel", "jmprel_count", "relr", "relr_count",
    "names", "names_count", "names_dynamic", "strings", "strings_size",
    "measure", "segment_count", "symbol_count",
)  # fmt: skip
"""The members of ``struct plan_header``, in order."""

SYMBOL_IMAGE, SYMBOL_ABSOLUTE, SYMBOL_KAL, SYMBOL_KAL_WEAK = range(4)
"""``enum plan_symbol_kind``."""

MEASURE_COUNT, MEASURE_CALLS, MEASURE_COUNTERS, MEASURE_PERFMAP, MEASURE_HEAP = 1, 2, 4, 8, 16
"""``enum plan_measure``."""


def encode(
    header: dict[str, int],
    segments: Sequence[tuple[int, ...]],
    values: Sequence[int],
    kinds: bytes | bytearray,
    strings: Sequence[bytes],
) -> bytes:
    """
    Return the bytes of a plan.

    Args:
        header: The words of ``struct plan_header`` by name, without ``magic``, ``size`` and the
            counts of segments and symbols.
        segments: (offset, vaddr, filesz, memsz, prot) of each segment, ascending by link address.
        values: One word for each dynamic symbol.
        kinds: One of ``SYMBOL_*`` for each dynamic symbol.
        strings: ``path``, ``build_id``, ``report_dir``, ``run``, ``preopens``, ``runner`` and
            ``imports``.

    Source: PLAN-1.
    """
    body = b"".join(
        (
            *[_words(segment) for segment in segments],
            _words(values),
            _padded(bytes(kinds)),
            *[_string(text) for text in strings],
        )
    )
    counted = {
        "magic": MAGIC,
        "size": 8 * len(HEADER) + len(body),
        "segment_count": len(segments),
        "symbol_count": len(values),
    }
    words = header | counted
    return _words([words[name] for name in HEADER]) + body


def fill(plan: bytes, words: dict[str, int], path: bytes, rest: Sequence[bytes]) -> bytes:
    """
    Return a plan whose strings of a start are empty, with *words* in its header and with these: the
    path, and *rest*, which is ``report_dir``, ``run``, ``preopens`` and ``runner``.

    Source: PLAN-1.
    """
    header = bytearray(plan[: 8 * len(HEADER)])
    segments, symbols = word_of(header, "segment_count"), word_of(header, "symbol_count")
    path_at = len(header) + 40 * segments + 8 * symbols + symbols + -symbols % 8
    build_id_at = path_at + len(_EMPTY)
    build_id = int.from_bytes(plan[build_id_at : build_id_at + 8], "little") + 1
    rest_at = build_id_at + 8 + build_id + -build_id % 8
    body = b"".join(
        (
            plan[len(header) : path_at],
            _string(path),
            plan[build_id_at:rest_at],
            *[_string(text) for text in rest],
            plan[rest_at + len(rest) * len(_EMPTY) :],
        )
    )
    for name, value in (*words.items(), ("size", len(header) + len(body))):
        at = 8 * HEADER.index(name)
        header[at : at + 8] = value.to_bytes(8, "little")
    return bytes(header) + body


def word_of(plan: bytes | bytearray, name: str) -> int:
    """Return one word of a plan's header; 0 where the plan is cut before it."""
    at = 8 * HEADER.index(name)
    return int.from_bytes(plan[at : at + 8], "little")


def _string(text: bytes) -> bytes:
    return _words((len(text),)) + _padded(text + b"\0")


def _words(values: Sequence[int]) -> bytes:
    return b"".join([value.to_bytes(8, "little") for value in values])


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


_EMPTY = _string(b"")
