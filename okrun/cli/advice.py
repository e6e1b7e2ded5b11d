"""What to say to whoever records an image as if it were a program of the system's."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okld.base.view import View
from okld.bundle.container import looks_like_bundle, read_head
from okld.bundle.naming import split_word
from okld.iface.note import read_note
from okld.image.shape import read_shape
from okrun.cli.render_recording import path_word, word


def advice(named: str, args: list[str]) -> str:
    """
    Return how to record the image *named*, to be said after what went wrong, or "".

    Source: REC-12, OKB-28.
    """
    if not _is_image(split_word(named)[0]):
        return ""
    words = " ".join([path_word(named), *map(word, args)])
    return f"; an image is run so: okprof record -- okrun {words}"


def _is_image(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        view = View.of_fd(fd, os.fstat(fd).st_size)
        if looks_like_bundle(view):
            read_head(view)
            return True
        shape = read_shape(view)
        return bool(shape.imports) or read_note(shape) is not None
    except (OkError, OSError):
        return False
    finally:
        os.close(fd)
