"""An image maps a file that is larger than what it touches of it."""

import os

import pytest

SIZE, STEP = 1 << 30, 16 << 20
"""In bytes; as in sparse.c."""


@pytest.mark.spec("MAP-1", "MAP-2")
@pytest.mark.parametrize("host", ["installed", "sanitized"])
def test_a_sparse_file(run, sanitized_host, tmp_path, host):
    """Every byte is found and written at its place, and the file's holes stay holes."""
    file = tmp_path / "sparse"
    marks = range(STEP - 2, SIZE, STEP)
    with open(file, "wb") as out:
        out.truncate(SIZE)
        for mark in marks[::2]:
            os.pwrite(out.fileno(), b"x", mark)
    options = ["--host", sanitized_host] if host == "sanitized" else []
    done = run("sparse", options=options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) == len(marks[::2])
    with open(file, "rb") as written:
        assert [os.pread(written.fileno(), 1, mark + 1) for mark in marks] == [b"M"] * len(marks)
    assert file.stat().st_size == SIZE
    assert file.stat().st_blocks * 512 < SIZE // 16
