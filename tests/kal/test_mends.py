"""What the host has done wrong, each with the image that showed it; no two interfaces alike."""

import subprocess

import pytest
from running import CLEAN


@pytest.mark.spec("SPC-2", "TASK-2")
def test_a_copy_of_a_task_joins_its_own(run):
    """A record of the original's task was given back, and used on, in a copy that a task made."""
    assert run("mends", "join").returncode == 0


@pytest.mark.spec("DGM-3", "TMO-5")
def test_a_close_ends_a_bounded_receive(run):
    """The closed socket was ready for ever, and had nothing for ever."""
    assert run("mends", "close").returncode == 0


@pytest.mark.spec("PROC-1", "PROC-3")
def test_an_image_that_is_exchanged_is_refused(run, command, sources, tmp_path):
    """What lies where the image was found, once the runner comes to open it, does not run."""
    for folder, status in (("a", 10), ("other", 20)):
        (tmp_path / folder).mkdir()
        words = ["build", sources / "status.c", f"-DSTATUS={status}", "-o"]
        subprocess.run([command("okld"), *words, tmp_path / folder / "x.ok"], check=True, env=CLEAN)
    done = run("mends", "exchange", options=["--dir", tmp_path])
    refused = done.returncode == 126 and b"another file took its place" in done.stderr
    assert refused or done.returncode == 10


@pytest.mark.spec("PROC-3")
def test_another_file_than_the_one_that_was_found_is_refused(run):
    """Said by device and inode; the right one runs."""
    image = run.image("mends")
    status = image.stat()
    right = f"{status.st_dev}:{status.st_ino}"
    assert run("mends", "join", options=["--file", right]).returncode == 0
    done = run("mends", "join", options=["--file", "1:2"])
    assert done.returncode == 126
    assert done.stderr.endswith(f" (got {right}, limit 1:2) [PROC-3]\n".encode())
