"""Views: no byte outside one can be had, from memory or from an open file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from okld.base.errors import FormatError, Unreadable
from okld.base.view import View

BYTES = bytes(range(200))


@pytest.fixture(params=["bytes", "bytearray", "memoryview", "file", "part of a file"])
def view(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[View]:
    kinds = {"bytes": bytes, "bytearray": bytearray, "memoryview": memoryview}
    if request.param in kinds:
        yield View.of_bytes(kinds[request.param](BYTES))
        return
    before = b"before" if request.param == "part of a file" else b""
    (tmp_path / "file").write_bytes(before + BYTES + b"after")
    fd = os.open(tmp_path / "file", os.O_RDONLY)
    yield View.of_fd(fd, len(BYTES), len(before))
    os.close(fd)


@pytest.mark.spec("ERR-1")
def test_a_window_is_the_bytes_at_its_offset(view: View) -> None:
    """The first byte of the view is byte 0, wherever the view lies."""
    assert view.size == 200
    assert view.window(0, 200, "all", "X-1") == BYTES
    assert view.window(10, 5, "some", "X-1") == BYTES[10:15]
    assert view.window(200, 0, "none, at the end", "X-1") == b""


@pytest.mark.spec("ERR-1")
@pytest.mark.parametrize(
    ("offset", "size"),
    [
        (200, 1),
        (0, 201),
        (199, 2),
        (-1, 2),
        (5, -1),
        (1 << 64, 1),
        (1, 1 << 64),
        (1 << 63, 1 << 63),
    ],
)
def test_there_is_no_window_outside(view: View, offset: int, size: int) -> None:
    """The refusal names the thing and the rule that its reader gave."""
    with pytest.raises(FormatError, match=r"^symbol table is past the end \(.*\) \[IMG-27\]$"):
        view.window(offset, size, "symbol table", "IMG-27")


@pytest.mark.spec("ERR-1")
def test_a_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    """Bytes that are gone since the size was asked make a refusal, not short bytes."""
    path = tmp_path / "file"
    path.write_bytes(BYTES)
    with path.open("r+b") as file:
        view = View.of_fd(file.fileno(), 200)
        file.truncate(50)
        assert view.window(0, 50, "what is left", "X-1") == BYTES[:50]
        with pytest.raises(FormatError, match="shrank"):
            view.window(40, 20, "header", "IMG-2")


@pytest.mark.spec("ERR-1")
def test_a_file_that_cannot_be_read_is_unreadable(tmp_path: Path) -> None:
    """The system's refusal comes with its number."""
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(Unreadable, match="Bad file descriptor") as error:
        View.of_fd(fd, 10).window(0, 10, "header", "IMG-2")
    os.close(fd)
    assert error.value.errno == 9


@pytest.mark.spec("ERR-1")
def test_a_read_that_the_system_cuts_short_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system may give less than it was asked for."""
    path = tmp_path / "file"
    path.write_bytes(BYTES)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, 7), at))
    with path.open("rb") as file:
        assert View.of_fd(file.fileno(), 200).window(1, 100, "part", "X-1") == BYTES[1:101]
