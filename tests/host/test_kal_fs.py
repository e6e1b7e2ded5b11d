"""openkal.fs of the native host, with openat2() and without."""

import subprocess

import pytest

HOST = ("plan", "text", "kal/handle", "kal/stream")
FS = ("kal/fs", "kal/fs_dir", "kal/fs_list", "kal/fs_names", "kal/fs_node")


@pytest.fixture
def check(build, tmp_path):
    """Return a call that runs a test program in a directory of its own."""

    def check(test):
        subprocess.run(build(test, *HOST, *FS), check=True, cwd=tmp_path)

    return check


@pytest.mark.spec("FS-2", "FS-3", "KAL-1")
def test_names(check):
    """A name is any bytes as stated, leads through links within its base, and never out of it."""
    check("kal_fs_names.c")


@pytest.mark.spec("FS-3")
def test_walk(check):
    """
    Where the kernel cannot resolve names beneath a directory they lead to the same; and whoever
    exchanges what they lead through gets nothing from outside reached.
    """
    check("kal_fs_walk.c")


@pytest.mark.spec("FS-4", "FS-5", "FS-6", "FS-11", "KAL-2")
def test_files(check):
    """Files are opened, moved in, cut and known as stated, with each error."""
    check("kal_fs_files.c")


@pytest.mark.spec("FS-7")
def test_locks(check):
    """A lock keeps other handles and other processes out, and ends with its file."""
    check("kal_fs_locks.c")


@pytest.mark.spec("FS-1", "FS-4", "FS-9", "FS-10", "FS-12")
def test_directories(check):
    """Directories are given, opened and changed as stated, with each error."""
    check("kal_fs_dirs.c")


@pytest.mark.spec("FS-8")
def test_lists(check):
    """All of a directory is listed once, whoever changes, closes, removes or copies meanwhile."""
    check("kal_fs_list.c")
