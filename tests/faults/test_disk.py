"""A disk that is full, and files that are taken away."""

import resource
import shutil
import signal
import subprocess

import pytest

NO_SPACE = 5


def written(count):
    """Return the first bytes of what the image "fill" writes."""
    return bytes(k * 7 + k // 251 & 255 for k in range(count))


@pytest.fixture
def on_a_disk(run, tmp_path):
    """Return a function that runs an image in a directory with a small file system of its own."""
    unshare = shutil.which("unshare")
    assert unshare is not None, "unshare is not installed"
    disk = tmp_path / "disk"
    disk.mkdir()

    def on_a_disk(limits, before, image, *args, options=(), after=":"):
        words = run.words(image, *args, options=options)
        script = f'mount -t tmpfs -o {limits} none "$0" && cd "$0" && {before} && "$@" && {after}'
        command = [unshare, "-rm", "sh", "-c", script, disk, *words]
        return subprocess.run(command, capture_output=True, check=False)

    return on_a_disk


@pytest.mark.spec("KAL-2", "KAL-9", "FS-4")
@pytest.mark.parametrize("size", [1, 1000, 4096, 65536])
def test_a_full_disk(on_a_disk, options, size):
    """Each byte that was reported written is in the file, and no other; then there is no space."""
    disk = 64 if size == 1 else 1024
    after = "cat file >&2"
    done = on_a_disk(f"size={disk}k", ":", "fill", "file", str(size), options=options, after=after)
    reported, error = map(int, done.stdout.split())
    assert (done.returncode, error) == (0, NO_SPACE)
    assert 0 < reported <= disk << 10
    assert done.stderr == written(reported)


@pytest.mark.spec("FS-4", "FS-10", "KAL-9")
def test_no_room_for_another_file(on_a_disk, options):
    """Nothing can be made, what is there can be used; when it is removed, something can be."""
    done = on_a_disk("nr_inodes=2", "printf x > there", "full", options=options)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.spec("RUN-7", "KAL-2")
def test_a_file_of_the_longest_length(run, options, tmp_path):
    """What was written before the system ended the program for it is there."""
    most = 100_000

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = run("fill", "file", "4096", options=options, cwd=tmp_path, preexec_fn=limit)
    assert done.returncode == -signal.SIGXFSZ
    assert (tmp_path / "file").read_bytes() == written(most)


@pytest.mark.spec("FS-5", "FS-6", "FS-8", "FS-10", "MAP-1")
@pytest.mark.parametrize("way", ["removed", "truncated"])
def test_a_file_taken_away(run, options, tmp_path, way):
    """An open file goes on when its name is gone; what it has lost reads as its end."""
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_bytes(b"abcdefghij")
    folder.mkdir()
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with run.start("taken", way, options=options, cwd=tmp_path, **pipes) as image:
        assert image.stdout.readline() == b"now\n"
        if way == "removed":
            file.unlink()
            folder.rmdir()
        else:
            file.write_bytes(b"")
        assert image.communicate(b"x") == (b"", b"")
    assert image.returncode == 0
    if way == "truncated":
        assert file.read_bytes() == bytes(5) + b"end"
