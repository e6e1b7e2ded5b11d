"""Bundles that say what they are, and starts of them that are seen through."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from okld.bundle.writer import write_bundle
from okrun.launch import Start
from okrun.measuring import Measuring

IMAGES = Path(__file__).parents[2] / "testdata/images"
SECOND = 10**9
HELLO = b"hello\0 \0\n\0"  # the strings of testdata/src/hello.c
NOTHING = Measuring(0, b"", "")


def hello(place: Path, says: bytes = b"hello\n", name: str = "hello.okb") -> Path:
    """Make a bundle whose one image prints *says*, which is as long as "hello" and a newline."""
    data = (IMAGES / "hello.x86_64.ok").read_bytes()
    assert data.count(HELLO) == 1
    image = place / f"{name}.x86_64.ok"
    image.write_bytes(data.replace(HELLO, says[:5] + HELLO[5:]))
    write_bundle([str(image)], str(place / name), name="hello")
    return place / name


def overwrite(path: Path, old: bytes = HELLO, new: bytes = b"HELLO") -> None:
    """Change bytes of the file in place; its length and its inode stay."""
    at = path.read_bytes().index(old)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(new)


def close(start: Start) -> None:
    for fd in start.fds:
        os.close(fd)


def finish(start: Start) -> tuple[int, bytes, bytes]:
    """Run what is ready to run; return its status and what it wrote."""
    program, words = start.command([])
    try:
        done = subprocess.run(
            words, executable=program, pass_fds=start.fds, capture_output=True, check=False
        )
    finally:
        close(start)
    return done.returncode, done.stdout, done.stderr
