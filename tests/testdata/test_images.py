"""The committed images are what images.toml says of their sources; nm and readelf agree."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from okld.base.errors import FormatError
from okld.base.view import View
from okld.iface.need import interfaces_of
from okld.image.shape import read_shape

TESTDATA = Path(__file__).parents[2] / "testdata"


def interfaces(path: Path):
    return interfaces_of(read_shape(View.of_bytes(path.read_bytes())))


def output(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined(path: Path) -> dict[str, str]:
    """Return the binding of each undefined dynamic symbol, as readelf has it."""
    rows = [line.split() for line in output("readelf", "-W", "--dyn-syms", path).splitlines()]
    return {row[7]: row[4] for row in rows if len(row) == 8 and row[6] == "UND"}


@pytest.mark.spec("NOTE-1", "NEED-3")
def test_used_is_what_the_source_uses(path, image):
    """The functions that are used, and their interfaces, are those that the source calls."""
    want = {name: sorted(names) for name, names in image["used"].items() if name}
    got = {name: sorted(names) for name, names in interfaces(path).used.items()}
    assert got == want
    assert interfaces(path).unknown == tuple(image.get("unknown", ()))


@pytest.mark.spec("NOTE-1", "NOTE-5")
def test_declared_is_what_the_source_declares(path, image):
    """What is required and optional is what the source's note says, or else its imports."""
    got = interfaces(path)
    note = image.get("note", {"required": list(image["used"]), "optional": []})
    assert sorted(got.required) == sorted(note["required"])
    assert sorted(got.optional) == sorted(note["optional"])
    assert got.declared_by == ("note" if "note" in image else "imports")


@pytest.mark.spec("NEED-3")
def test_imports_are_those_that_readelf_shows(path, image):
    """The undefined symbols, and which of them are weak, are the source's, by another reader."""
    names = {name for names in image["used"].values() for name in names}
    weak = set(image.get("weak", ()))
    want = dict.fromkeys(names | set(image.get("unknown", ())), "GLOBAL")
    assert undefined(path) == want | dict.fromkeys(weak, "WEAK")


@pytest.mark.spec("SDK-1")
def test_symbols_are_where_the_scripts_put_them(path, image):
    """nm finds every known symbol at the address and with the size that the source fixes."""
    rows = [line.split() for line in output("readelf", "-W", "-s", path).splitlines()]
    rows = [row for row in rows if len(row) == 8 and row[0] != "Num:"]
    table = {row[7]: (int(row[1], 16), int(row[2], 0)) for row in rows}
    for name, known in image.get("symbols", {}).items():
        address, size = table[name]
        assert address == known["address"], name
        assert size == known.get("size", size), name


@pytest.mark.spec("SDK-1")
def test_images_are_small_and_name_no_place(path, image):
    """What is committed stays small, and says nothing of the machine that made it."""
    data = path.read_bytes()
    assert len(data) < 20 << 10
    for word in (b"/home/", b"/tmp/", b"/root/", str(TESTDATA.parent).encode()):
        assert word not in data


@pytest.mark.spec("SDK-1")
@pytest.mark.usefixtures("bad_images")
def test_bad_image_is_refused_by_its_rule(path, image):
    """Each image that is no image is refused by the rule that images.toml names, and says why."""
    with pytest.raises(FormatError, match=image["says"]) as caught:
        read_shape(View.of_bytes(path.read_bytes()))
    assert caught.value.rule == image["rule"]


@pytest.mark.spec("SDK-1")
def test_sums_are_those_of_the_files():
    """SHA256SUMS has every committed image, each with its digest, and there are no others."""
    lines = (TESTDATA / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {
        f"images/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (TESTDATA / "images").iterdir()
    }


@pytest.mark.spec("IMG-34")
def test_packed_pointers_are_packed():
    """The same hundred pointers take a RELR table in one image and RELA entries in the other."""
    for arch in ("x86_64", "aarch64"):
        relr, rela = (
            read_shape(View.of_bytes((TESTDATA / f"images/{name}.{arch}.ok").read_bytes()))
            for name in ("relr", "rela")
        )
        assert relr.relr[1] in range(2, 8)
        assert (rela.relr[1], rela.rela[1]) == (0, 100)
