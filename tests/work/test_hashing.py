"""An image walks a tree and hashes what lies in it."""

import shutil
import subprocess

import pytest

FILES = 10_000


@pytest.fixture(scope="module")
def hashed(tmp_path_factory):
    """Return a directory with a tree of 10,000 files, and the lines of sha256sum."""
    place = tmp_path_factory.mktemp("hashed")
    for number in range(FILES):
        folder = place / "tree" / str(number % 10) / f"{number % 100} \xe9" / str(number % 500)
        folder.mkdir(parents=True, exist_ok=True)
        data = bytes((number + k * number % 251) & 255 for k in range(number % 131))
        (folder / f"file {number}").write_bytes(data * (1000 if number % 997 == 0 else 1))
    sums = shutil.which("sha256sum")
    assert sums is not None, "sha256sum is not installed"
    find = ["find", "tree", "-type", "f", "-exec", sums, "{}", "+"]
    done = subprocess.run(find, cwd=place, stdout=subprocess.PIPE, check=True)
    return place, sorted(done.stdout.splitlines())


@pytest.mark.spec("FS-4", "FS-8")
@pytest.mark.parametrize("host", ["installed", "sanitized"])
def test_ten_thousand_files(run, request, hashed, host):
    """What it says of each file is what sha256sum says; under sanitizers nothing is found."""
    place, sums = hashed
    options = []
    if host == "sanitized":
        options = ["--host", request.getfixturevalue("sanitized_host")]
    done = run("hash", options=options, cwd=place)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(sums) == FILES
    assert sorted(done.stdout.splitlines()) == sums
