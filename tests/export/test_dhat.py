"""DHAT files, also as valgrind's own viewer shows them."""

import json
import time
from pathlib import Path

import pytest

from okrun.report.export.dhat import export

VIEWER = Path("/usr/libexec/valgrind/dh_view.html")
REQUIRED = {
    *("dhatFileVersion", "mode", "verb", "bklt", "bkacc"),
    *("tu", "Mtu", "cmd", "pid", "te", "pps", "ftbl"),
}
"""The keys that a file without lifetimes and accesses must have: dh_view.js, buildTree."""


def read(reports):
    """Return the file, and its places by their frames' names, after checking its form."""
    value = json.loads(export(reports))
    assert set(value) >= REQUIRED
    assert (value["dhatFileVersion"], value["bklt"], value["bkacc"]) == (2, False, False)
    assert type(value["pid"]) is type(value["te"]) is int
    names = value["ftbl"]
    assert names[0] == "[root]"
    assert all(set(place) == {"tb", "tbk", "fs"} for place in value["pps"])
    assert all(at in range(1, len(names)) for place in value["pps"] for at in place["fs"])
    stacks = [tuple(names[at] for at in place["fs"]) for place in value["pps"]]
    assert len(set(stacks)) == len(stacks), "the viewer takes no place twice"
    sums = [(place["tb"], place["tbk"]) for place in value["pps"]]
    return value, dict(zip(stacks, sums, strict=True))


@pytest.mark.spec("EXP-6")
def test_places_are_stacks_from_the_innermost(make_report):
    """Bytes are nanoseconds and blocks are calls; frames go from the function outwards."""
    value, places = read([make_report()])
    assert (value["mode"], value["verb"]) == ("kal-calls", "Called")
    assert (value["bu"], value["bsu"], value["bksu"], value["tu"]) == ("ns", "ns", "calls", "ns")
    assert places == {
        ("kal_stdout", "openkal.stream", "read", "hello.ok"): (60, 1),
        ("kal_stream_write", "openkal.stream", "read", "hello.ok"): (1400, 2),
        ("kal_stream_write", "openkal.stream", "write", "hello.ok"): (400, 1),
        ("kal_version", "(outside any phase)", "hello.ok"): (100, 1),
        ("kal_stdout", "openkal.stream", "(outside any phase)", "hello.ok"): (40, 1),
    }


@pytest.mark.spec("EXP-6")
def test_calls_where_not_all_were_timed(make_report):
    """With a report of counts the bytes are calls, and are called so."""
    value, places = read([make_report(), make_report(what=["count"])])
    assert value["bsu"] == "calls"
    assert all(total == calls for total, calls in places.values())


def viewed(browser, path):
    """Return what the viewer shows of a file."""
    browser.open(VIEWER)
    browser.type("input[type=file]", str(path))
    for _ in range(200):
        text = browser.run("document.body.innerText")
        if "Invocation" in text or "error" in text.lower():
            return text
        time.sleep(0.05)
    raise AssertionError(text)


@pytest.mark.spec("EXP-6")
def test_the_viewer_shows_it(browser, tmp_path, make_report):
    """The viewer has the sums, under the units' names, and a tree by function."""
    path = tmp_path / "dhat.json"
    path.write_text(export([make_report()]), encoding="utf-8")
    text = viewed(browser, path)
    assert "Mode:    kal-calls" in text
    assert "Total:     2,000 ns (100%" in text
    assert "Total:     1,400 ns (70%" in text
    assert "in 6 calls (100%" in text
    assert "#1: kal_stream_write" in text
    assert "#2: openkal.stream" in text


@pytest.mark.spec("EXP-6")
@pytest.mark.parametrize("which", ["hostile", "big", "no call"])
def test_the_viewer_takes_any_report(browser, tmp_path, make_report, request, which):
    """Hostile and large reports, and one without a call, open without an error."""
    if which == "no call":
        report = make_report(calls=[], phases=[], phase_totals=[])
    else:
        report = request.getfixturevalue(which)
    read([report])
    path = tmp_path / "dhat.json"
    path.write_text(export([report]), encoding="utf-8")
    text = viewed(browser, path)
    assert "Invocation {" in text
    assert browser.log("browser") == []
