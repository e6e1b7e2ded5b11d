"""From an admitted image to the plan of its start. Nothing else can be planned."""

from __future__ import annotations

from okrun.plan.codec import (
    MAGIC,
    PAGE,
    SYMBOL_ABSOLUTE,
    SYMBOL_KAL,
    SYMBOL_KAL_WEAK,
    encode,
    fill,
    word_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from okld.image.shape import Shape
    from okrun.admission.decide import Admitted

DEFAULT_STACK = 8 << 20
"""In bytes: what the host gives an image that asks for nothing (NOTE-3)."""

_WORD = 2**64 - 1
_OF_A_START = (
    "file_fd", "file_dev", "file_ino", "file_size", "file_mtime_ns", "file_ctime_ns",
    "image_offset", "measure",
)  # fmt: skip
"""The words that are a start's and not the image's."""


def make(
    admitted: Admitted,
    fd: int,
    status: os.stat_result,
    path: bytes,
    measure: int,
    report_dir: bytes,
) -> bytes:
    """Return the plan, encoded, of an image that is the whole of the open file *fd*."""
    return complete(outline(admitted), fd, status, 0, path, measure, (report_dir, b"", b"", b""))


def complete(
    outline: bytes,
    fd: int,
    status: os.stat_result,
    image_offset: int,
    path: bytes,
    measure: int,
    rest: Sequence[bytes],
) -> bytes:
    """
    Return the plan, encoded, of one start of an image.

    Args:
        outline: What `outline` gives of the image.
        fd: The descriptor of its file in the host's process.
        status: The file's status when it was admitted.
        image_offset: Where the image begins in its file, in bytes.
        path: The image as the user named it.
        measure: Bits of ``MEASURE_*``.
        rest: Where the report goes, and the run that it belongs to, or nothing; the directories
            that the image is given; and the command that starts another: the plan's strings
            ``report_dir``, ``run``, ``preopens`` and ``runner``.
    """
    words = {
        "file_fd": fd,
        "file_dev": status.st_dev,
        "file_ino": status.st_ino,
        "file_size": status.st_size,
        "file_mtime_ns": status.st_mtime_ns & _WORD,  # negative before 1970
        "file_ctime_ns": status.st_ctime_ns & _WORD,
        "image_offset": image_offset,
        "measure": measure,
    }
    return fill(outline, words, path, rest)


def outline(admitted: Admitted) -> bytes:
    """Return what every plan of the image has: one in which all that a start adds is zero."""
    shape, interfaces = admitted.shape, admitted.interfaces
    relro, relro_size = shape.relro
    init_array, init_count = shape.init_array
    fini_array, fini_count = shape.fini_array
    rela, rela_count = shape.rela
    jmprel, jmprel_count = shape.jmprel
    relr, relr_count = shape.relr
    names, names_count = shape.names
    strings, strings_size = shape.strings
    values, kinds, imports = _symbols(shape)
    header = {
        "machine": shape.machine,
        **dict.fromkeys(_OF_A_START, 0),
        "image_size": shape.size,
        "lo": shape.lo,
        "hi": shape.hi,
        "align": shape.align,
        "entry": shape.entry,
        "stack": _whole_pages(interfaces.stack or DEFAULT_STACK),
        "version": interfaces.version,
        "required": interfaces.required_word,
        "optional": interfaces.optional_word,
        "relro": relro,
        "relro_size": relro_size,
        "init": shape.init,
        "fini": shape.fini,
        "init_array": init_array,
        "init_count": init_count,
        "fini_array": fini_array,
        "fini_count": fini_count,
        "rela": rela,
        "rela_count": rela_count,
        "jmprel": jmprel,
        "jmprel_count": jmprel_count,
        "relr": relr,
        "relr_count": relr_count,
        "names": names,
        "names_count": names_count,
        "names_dynamic": int(shape.names_dynamic),
        "strings": strings,
        "strings_size": strings_size,
    }
    segments = [(s.offset, s.vaddr, s.filesz, s.memsz, s.flags) for s in shape.segments]
    build_id = shape.build_id.encode()
    return encode(header, segments, values, kinds, (b"", build_id, b"", b"", b"", b"", imports))


def is_outline_of(plan: bytes, admitted: Admitted) -> bool:
    """Return whether an outline that was kept says of an image what its shape says now."""
    shape, interfaces = admitted.shape, admitted.interfaces
    wanted = (
        ("magic", MAGIC),
        ("size", len(plan)),
        ("machine", shape.machine),
        ("image_size", shape.size),
        ("entry", shape.entry),
        ("required", interfaces.required_word),
        ("segment_count", len(shape.segments)),
        ("symbol_count", len(shape.values)),
    )
    return all(word_of(plan, name) == value for name, value in wanted)


def _whole_pages(size: int) -> int:
    return (size + PAGE - 1) // PAGE * PAGE


def _symbols(shape: Shape) -> tuple[Sequence[int], bytearray, bytes]:
    """Return the value and the kind of each dynamic symbol, and the names of the imported ones."""
    values = list(shape.values)
    kinds = bytearray(len(values))
    for index in shape.absolute:
        kinds[index] = SYMBOL_ABSOLUTE
    imports = bytearray()
    for wanted in shape.imports:
        values[wanted.index] = len(imports)
        kinds[wanted.index] = SYMBOL_KAL_WEAK if wanted.weak else SYMBOL_KAL
        imports += wanted.name.encode() + b"\0"
    return values, kinds, bytes(imports)
