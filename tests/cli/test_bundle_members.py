"""What the commands that look at images say of bundles, and of one member."""

from __future__ import annotations

import random
import re

import pytest


@pytest.mark.spec("CLI-2", "CLI-4", "OKB-28")
def test_show_describes_a_bundle_and_a_member(okld, app, images):
    """The bundle by its manifest, the member as any program file."""
    (got,) = okld("show", "--json", app).objects
    assert (got["schema"], got["format"], got["name"], got["signed"]) == (1, "okb", "app", False)
    assert [m["arch"] for m in got["members"]] == ["x86_64", "aarch64"]
    text = okld("show", app)
    assert text.out.startswith(f"{app}: okb app 1.0, not signed\n")
    assert text.out.count("sha256: ") == 2
    (member,) = okld("show", "--json", f"{app}:aarch64").objects
    (alone,) = okld("show", "--json", images / "names.aarch64.ok").objects
    assert {**alone, "file": f"{app}:aarch64"} == member


@pytest.mark.spec("CLI-2", "NEED-3", "OKB-28")
def test_interfaces_are_told_of_each_image(okld, app, images):
    """An object a line; of one member where it is named."""
    alone = okld("interfaces", "--json", images / "names.x86_64.ok").objects[0]
    ran = okld("interfaces", "--json", app)
    assert [o["image"] for o in ran.objects] == [f"{app}:x86_64", f"{app}:aarch64"]
    assert all({**o, "image": alone["image"]} == alone for o in ran.objects)
    assert len(okld("interfaces", "--json", f"{app}:x86_64").objects) == 1


@pytest.mark.spec("CLI-1", "OKB-28")
def test_every_image_has_to_declare_what_is_required(okld, images, tmp_path):
    """The first that does not is named."""
    path = tmp_path / "x.okb"
    pair = [f"a={images}/counters.x86_64.ok", f"b={images}/hello.x86_64.ok"]
    assert okld("bundle", *pair, "-o", path).status == 0
    assert okld("interfaces", "--require", "openkal.stream", path) == (0, "", "")
    ran = okld("interfaces", "--require", "openkal.prof", path)
    assert ran == (1, "", f"okld: {path}:b does not declare openkal.prof\n")
    assert okld("interfaces", "--require", "openkal.prof", f"{path}:a").status == 0


@pytest.mark.spec("CLI-1", "OKB-23", "OKB-28")
def test_check_says_of_each_image_whether_it_is_refused(okld, app, break_image):
    """By its digest too: it would not be started."""
    assert okld("check", app) == (0, f"{app}:x86_64: ok\n{app}:aarch64: ok\n", "")
    break_image(app, "aarch64")
    ran = okld("check", "--json", app, f"{app}:x86_64", f"{app}:nope")
    assert ran.status == 1
    assert [(o["file"], o["ok"], o["rule"]) for o in ran.objects] == [
        (f"{app}:x86_64", True, None),
        (f"{app}:aarch64", False, "OKB-23"),
        (f"{app}:x86_64", True, None),
        (f"{app}:nope", False, "MAN-10"),
    ]
    app.write_bytes(app.read_bytes()[:-1])
    ran = okld("check", "--json", app)
    assert [(o["file"], o["ok"], o["rule"]) for o in ran.objects] == [(str(app), False, "OKB-3")]


@pytest.mark.spec("OKB-28", "SYM-3")
def test_names_are_given_of_a_member(okld, app):
    """One of several has to be named."""
    assert okld("symbolize", f"{app}:aarch64", "0x2001014") == (0, "0x2001014 inner+0x4\n", "")
    assert "factorial" in okld("symbols", f"{app}:x86_64").out
    for name, rest in (("symbols", []), ("symbolize", ["0x0"])):
        ran = okld(name, app, *rest)
        assert (ran.status, ran.out, f"{app}:x86_64 {app}:aarch64" in ran.err) == (2, "", True)


@pytest.mark.spec("OKB-28")
def test_a_file_with_a_colon_is_a_file(okld, images, tmp_path, monkeypatch):
    """The whole word is taken first; of no bundle there is no member."""
    monkeypatch.chdir(tmp_path)
    data = (images / "hello.x86_64.ok").read_bytes()
    for name in ("a", "a:b.ok", ":c", "d:"):
        (tmp_path / name).write_bytes(data)
        assert okld("check", name) == (0, f"{name}: ok\n", "")
    ran = okld("check", "a:c")
    assert (ran.status, ran.out) == (1, "a:c: a is no bundle, with a member c [OKB-28]\n")
    ran = okld("check", "none:c")
    assert (ran.status, "none: No such file" in ran.out) == (2, True)
    ran = okld("check", "a:C")
    assert (ran.status, "a:C: No such file" in ran.out) == (2, True)


@pytest.mark.spec("CLI-1", "ERR-1", "ERR-2")
@pytest.mark.parametrize(
    "name", ["verify", "extract", "show", "check", "interfaces", "symbols", "symbolize", "bundle"]
)
def test_mutants_of_a_bundle_are_answered_or_refused(okld, app, tmp_path, name):
    """Never with a traceback, nor with a byte that a terminal acts on."""
    good = app.read_bytes()
    chance = random.Random(name)
    places = [m.start() for m in re.finditer(rb"PK[\1-\6]{2}|okb/|image/|\"|\x7fELF", good)]
    rest = {"extract": ["-o", "out.ok"], "bundle": ["-o", "out.okb"], "symbolize": ["0x10700"]}
    for _ in range(40):
        data = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            at = (chance.choice(places) + chance.randrange(40)) % len(data)
            data[at] = chance.choice((0, 1, 27, 255))
        app.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        word = chance.choice((app, f"{app}:x86_64"))
        ran = okld(name, word, *rest.get(name, []))
        assert ran.status in (0, 1, 2)
        assert ran.err.count("\n") <= 1
        assert all(line.isprintable() for line in (ran.out + ran.err).splitlines())
