"""Every bundle that we write is read, and found right, by archivers that are not ours."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from okld.bundle.writer import write_bundle

IMAGES = Path(__file__).parents[2] / "testdata/images"
SETS = {
    "one": ["hello.x86_64.ok"],
    "two": ["hello.x86_64.ok", "hello.aarch64.ok"],
    "many": [path.name for path in sorted(IMAGES.glob("*.ok")) if "bad-" not in path.name],
}


@pytest.fixture(params=[(s, signed) for s in SETS for signed in (False, True)], ids=str)
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    """A bundle, and what is in it: the images by their names."""
    which, signed = request.param
    names = SETS[which]
    members = {f"m{n}": (IMAGES / name).read_bytes() for n, name in enumerate(names)}
    path = tmp_path / "made.okb"
    sign = (lambda manifest: b"-----BEGIN SSH SIGNATURE-----\n") if signed else None
    pairs = [(f"m{n}", str(IMAGES / name)) for n, name in enumerate(names)]
    write_bundle(pairs, str(path), name="made", sign=sign)
    return path, {f"image/{name}.ok": data for name, data in members.items()}


def run(*words: object) -> bytes:
    return subprocess.run([*map(str, words)], check=True, capture_output=True).stdout


@pytest.mark.spec("OKB-25")
def test_unzip_finds_no_error(bundle, tmp_path):
    """In the whole archive; what it unpacks is what was put in."""
    path, images = bundle
    assert b"No errors detected" in run("unzip", "-t", path)
    run("unzip", "-q", path, "-d", tmp_path / "out")
    for name, data in images.items():
        assert (tmp_path / "out" / name).read_bytes() == data


@pytest.mark.spec("OKB-13", "OKB-14")
def test_zipinfo_lists_plain_stored_files(bundle):
    """Of UNIX, version 2.0, read and write for the owner, at the first time that there is."""
    path, images = bundle
    lines = run("zipinfo", "-T", path).decode().splitlines()[2:-1]
    assert len(lines) >= len(images) + 1
    for line in lines:
        words = line.split()
        assert (words[0], words[1], words[2], words[5]) == ("-rw-r--r--", "2.0", "unx", "stor")
        assert words[6] == "19800101.000000"


@pytest.mark.spec("OKB-16", "OKB-22")
def test_zipfile_reads_the_same(bundle):
    """Names, order, bytes and the manifest's facts; each image where a page begins."""
    path, images = bundle
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert [name for name in names if not name.startswith("okb/")] == list(images)
        assert {name: archive.read(name) for name in images} == images
        manifest = json.loads(archive.read("okb/manifest.json"))
        assert [m["path"] for m in manifest["members"]] == list(images)
    data = path.read_bytes()
    for content in images.values():
        assert any(data[at : at + len(content)] == content for at in range(0, len(data), 65536))


@pytest.mark.spec("OKB-17")
def test_bsdtar_reads_the_same(bundle):
    """By the directory, and as a stream by the local headers."""
    path, images = bundle
    for name, data in images.items():
        assert run("bsdtar", "-xOf", path, name) == data
    listed = run("bsdtar", "-tf", path)
    with path.open("rb") as stream:
        command = ["bsdtar", "-tf", "-"]
        streamed = subprocess.run(command, stdin=stream, capture_output=True, check=True).stdout
    assert streamed == listed
