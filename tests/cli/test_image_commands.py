"""`okld interfaces`, `check`, `symbolize` on the test images, whose sources say what is right."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

TESTDATA = Path(__file__).parents[2] / "testdata"
STATED = tomllib.loads((TESTDATA / "images.toml").read_text())["images"]
MADE = sorted((TESTDATA / "images").glob("*.ok"))
STRUCTURE = ("IMG-",)


def stated(path: Path) -> dict:
    return STATED[path.name.split(".")[0]]


def breaks_structure(path: Path) -> bool:
    return stated(path).get("rule", "").startswith(STRUCTURE)


SOUND = [path for path in MADE if not breaks_structure(path)]
BROKEN = [path for path in MADE if breaks_structure(path)]


@pytest.mark.spec("CLI-2", "NEED-3")
@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.name)
def test_interfaces_are_those_of_the_source(okld, path):
    """Declared, used by which functions, and unknown: as images.toml states them."""
    want = stated(path)
    ran = okld("interfaces", "--json", path)
    (got,) = ran.objects
    used = {name: set(names) for name, names in want["used"].items() if name}
    assert (ran.status, got["schema"], got["image"]) == (0, 1, str(path))
    assert {name: set(names) for name, names in got["used"].items()} == used
    assert got["unknown"] == want.get("unknown", [])
    if "note" in want:
        declared = set(want["note"]["required"]), set(want["note"]["optional"])
        assert (set(got["required"]), set(got["optional"])) == declared
        assert set(got["undeclared"]) == set(used) - declared[0] - declared[1]


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize(
    ("image", "names", "status"),
    [
        ("counters", ["openkal.prof"], 0),
        ("counters", ["openkal.prof", "openkal.stream"], 0),
        ("counters", ["openkal.prof", "openkal.net"], 1),
        ("weak", ["openkal.net"], 0),
        ("hello", ["openkal.prof"], 1),
        ("hello", ["openkal.profile"], 2),
    ],
)
def test_require_is_answered_by_the_status(okld, images, image, names, status):
    """Declared as required or optional, not declared, or no interface at all."""
    options = [word for name in names for word in ("--require", name)]
    ran = okld("interfaces", *options, images / f"{image}.x86_64.ok")
    assert (ran.status, ran.out) == (status, "")
    assert ran.err.count("\n") == (status != 0)
    assert status == 0 or names[-1] in ran.err


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.name)
def test_a_broken_image_is_refused_by_its_rule(okld, path):
    """With one line, which names the thing; nothing is said on standard output."""
    ran = okld("interfaces", path)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.rstrip().endswith(f"[{stated(path)['rule']}]")
    assert stated(path)["says"] in ran.err


@pytest.mark.spec("CLI-1", "CLI-2", "NEED-1", "NEED-2")
def test_check_says_for_each_file_by_which_rule(okld, images, tmp_path):
    """An object a line, in the order given, and the worst status of all."""
    names = ("hello", "bad-import", "bad-undeclared", "bad-interpreter")
    paths = [images / f"{name}.x86_64.ok" for name in names]
    ran = okld("check", "--json", *paths)
    assert ran.status == 1
    assert [(o["file"], o["ok"], o["rule"]) for o in ran.objects] == [
        (str(paths[0]), True, None),
        (str(paths[1]), False, "NEED-1"),
        (str(paths[2]), False, "NEED-2"),
        (str(paths[3]), False, "IMG-17"),
    ]
    assert ran.objects[0] == {
        "schema": 1,
        "file": str(paths[0]),
        "ok": True,
        "rule": None,
        "message": None,
        "at": None,
    }
    assert "printf" in ran.objects[1]["message"]
    assert isinstance(ran.objects[3]["at"], int)
    assert okld("check", paths[0]) == (0, f"{paths[0]}: ok\n", "")


@pytest.mark.spec("CLI-1")
def test_check_of_a_file_that_cannot_be_read_is_not_ok(okld, images, tmp_path):
    """Its line says why, the other files are checked, and the status is 2."""
    ran = okld("check", "--json", tmp_path / "absent", images / "bad-import.x86_64.ok", tmp_path)
    assert ran.status == 2
    assert [(o["ok"], o["rule"]) for o in ran.objects] == [
        (False, None),
        (False, "NEED-1"),
        (False, None),
    ]
    assert "No such file" in ran.objects[0]["message"]


KNOWN = {
    0x2000FFF: None,
    0x2001000: "factorial+0x0",
    0x200100F: "factorial+0xf",
    0x2001010: "inner+0x0",
    0x200101F: "inner+0xf",
    0x2001020: "factorial+0x20",
    0x2001028: "factorial+0x28",
    0x200103F: "factorial+0x3f",
    0x2001040: None,
    0x200104F: None,
    0x2001050: "open+0x0",
    0x200107F: "open+0x2f",
    0x2001080: "one+0x0",
    0x2001081: None,
    0x2001090: "under+0x0",
    0x200109F: "under+0xf",
    0x20010A0: "tail+0x0",
    0x20010AF: "tail+0xf",
}


@pytest.mark.spec("SYM-3", "SYM-4", "SYM-5", "CLI-2")
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_symbolize_answers_what_the_linker_script_fixed(okld, images, arch):
    """One object an address, in the order given; a miss has a reason and makes the status 1."""
    path = images / f"names.{arch}.ok"
    ran = okld("symbolize", "--json", path, *(f"{address:#x}" for address in KNOWN))
    assert ran.status == 1
    for got, (address, want) in zip(ran.objects, KNOWN.items(), strict=True):
        assert (got["schema"], got["address"], got["module"]) == (1, f"{address:#x}", str(path))
        if want is None:
            assert (got["name"], "offset" in got) == (None, False)
            assert got["reason"] in ("between symbols", "outside every segment")
        else:
            assert f"{got['name']}+{got['offset']:#x}" == want


@pytest.mark.spec("SYM-5")
def test_symbolize_gives_the_aliases(okld, images):
    """In the order in which they would have been chosen."""
    (got,) = okld("symbolize", "--json", images / "names.x86_64.ok", "2001004").objects
    assert (got["name"], got["aliases"]) == ("factorial", ["fact", "a_fact"])
    assert (got["kind"], got["value"], got["size"]) == ("function", 0x2001000, 64)


@pytest.mark.spec("CLI-1")
def test_symbolize_as_text(okld, images):
    """Addresses are hexadecimal, with 0x or without."""
    path = images / "names.x86_64.ok"
    assert okld("symbolize", path, "0x2001014") == (0, "0x2001014 inner+0x4\n", "")
    assert okld("symbolize", path, "2001014", "0X2001040") == (
        1,
        "0x2001014 inner+0x4\n0x2001040 ?? (between symbols)\n",
        "",
    )


@pytest.mark.spec("CLI-1")
@pytest.mark.parametrize("word", ["", "0x", "zz", "-1", "1_0", "0x1_0", "1" * 17, " 1", "\u0661"])
def test_what_is_no_address_is_usage(okld, images, word):
    """Python reads more as a number than an address can be."""
    ran = okld("symbolize", images / "names.x86_64.ok", "--", word)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.spec("CLI-2")
def test_symbols_lists_the_table(okld, images):
    """Each named symbol with its value, size, type and binding, as the source fixes them."""
    (got,) = okld("symbols", "--json", images / "names.x86_64.ok").objects
    listed = {row["name"]: row for row in got["symbols"]}
    assert (got["schema"], got["table"]) == (1, ".symtab")
    for name, want in STATED["names"]["symbols"].items():
        assert (listed[name]["value"], listed[name]["size"]) == (want["address"], want["size"])
    assert [listed[n]["binding"] for n in ("factorial", "fact", "a_fact")] == [
        "global",
        "weak",
        "local",
    ]
    text = okld("symbols", images / "names.x86_64.ok")
    assert len(text.out.splitlines()) == len(got["symbols"])


@pytest.mark.spec("CLI-2", "CLI-4")
def test_show_describes_an_image(okld, images):
    """As a file of its format, and by what it declares."""
    path = images / "counters.aarch64.ok"
    (got,) = okld("show", "--json", path).objects
    assert (got["schema"], got["format"], got["arch"], got["type"]) == (
        1,
        "elf",
        "aarch64",
        "ET_DYN",
    )
    assert set(got["interfaces"]["required"]) == {"openkal.stream", "openkal.prof"}
    assert {"entry", "segments", "build_id", "needed", "sections"} <= set(got)
    assert okld("show", path).out.startswith(f"{path}: elf ET_DYN aarch64, 64 bits")
