"""The page, in a browser."""

import re
import socket

import pytest
from hostile_text import HARMLESS, HOSTILE
from reporting import HEAP, call, call_in_phase

LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
SIZES = [
    pytest.param(dark, width, id=f"{'dark' if dark else 'light'} {width}")
    for dark in (False, True)
    for width in (1200, 400)
]

CONTRASTS = """
(() => {
  const parts = (colour) => (colour.match(/[0-9.]+/g) ?? []).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    const colour = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    return parts(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  const contrast = (a, b) => {
    const [less, more] = [light(a), light(b)].sort((a, b) => a - b);
    return (more + 0.05) / (less + 0.05);
  };
  const found = { text: [], drawing: [] };
  for (const element of document.querySelectorAll("body *:not(script)")) {
    const style = getComputedStyle(element);
    const drawn = element.matches("svg text, svg path, .bar rect, .lane [role=img]");
    const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (element.matches("title") || !(drawn || said)) continue;
    const kind = element.matches("rect, path") ? "drawing" : "text";
    found[kind].push(contrast(drawn ? style.fill : style.color, behind(element)));
  }
  return { texts: found.text.length, text: Math.min(...found.text),
    drawings: found.drawing.length, drawing: Math.min(...found.drawing) };
})()
"""
"""The least contrast of text, and of drawings, with what is behind: WCAG 2.2, 1.4.3 and 1.4.11."""


@pytest.fixture
def whole(make_report):
    """Reports that fill every section: two runs, one killed."""
    killed = {"by": "signal", "status": 139, "signal": 11}
    return (
        make_report(elapsed_ns=1000, heap=HEAP),
        make_report(elapsed_ns=1000, ended=killed, lost=["lines"]),
    )


@pytest.mark.spec("EXP-7")
@pytest.mark.parametrize(("dark", "width"), SIZES)
@pytest.mark.parametrize("which", ["whole", "hostile", "big"])
def test_nothing_else_is_asked_for(browser, page, request, which, dark, width):
    """A browser asks for nothing but the page, has nothing to complain of, and no line is cut."""
    reports = request.getfixturevalue(which)
    path = page(*reports) if isinstance(reports, tuple) else page(reports)
    browser.open(path, dark=dark, width=width)
    assert browser.requests() == [path.as_uri()]
    assert browser.log("browser") == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.spec("EXP-7")
def test_the_policy_allows_nothing_else(browser, page, whole):
    """An image, a style and a script that somebody put in are refused; nobody is connected to."""
    browser.open(page(*whole))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        refused = browser.run(f"""
            new Promise((done) => {{
              const refused = [];
              setTimeout(() => done(refused), 5000);
              addEventListener("securitypolicyviolation", (event) => {{
                refused.push(event.effectiveDirective);
                if (refused.length === 4) done(refused.sort());
              }});
              for (const [tag, properties] of [
                ["img", {{ src: "{address}/x.png" }}],
                ["script", {{ src: "{address}/x.js" }}],
                ["script", {{ textContent: "window.ran = true" }}],
                ["style", {{ textContent: "body {{ display: none }}" }}],
              ]) document.body.append(Object.assign(document.createElement(tag), properties));
            }})
        """)
        assert refused == ["img-src", "script-src-elem", "script-src-elem", "style-src-elem"]
        with pytest.raises(TimeoutError):
            server.accept()
    assert browser.run("window.ran") is None


@pytest.mark.spec("EXP-8")
def test_hostile_text_is_text(browser, page, hostile):
    """It makes no element, and stands where it belongs as ERR-2 escapes it."""
    path = page(hostile)
    browser.open(path)
    assert browser.run("document.querySelectorAll('script, style').length") == 2
    bold = browser.run(
        "[...document.querySelectorAll('b')].map(e => e.closest('summary') !== null)"
    )
    assert bold == [True] * 3
    assert browser.texts("#counters tbody th") == [HARMLESS]
    assert browser.texts("#interfaces tbody th") == [HARMLESS]
    assert browser.texts("#functions tbody th small") == [HARMLESS] * 3
    assert browser.texts("summary b") == [
        HARMLESS + "read",
        HARMLESS + "write",
        "(outside any phase)",
    ]
    assert browser.run("document.querySelector('#reports small').textContent") == HARMLESS
    assert HOSTILE not in path.read_text(encoding="utf-8")


@pytest.mark.spec("EXP-9")
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_all_is_said_without_a_script(browser, page, whole, script):
    """The sums of the good report, twice, are on the page whether scripts run or not."""
    browser.open(page(*whole), script=script)
    assert browser.texts("h1, header p") == ["hello.ok", "2 reports, x86_64"]
    assert browser.texts("dd") == [
        *("2.00 us\nof all reports", "12\nof 3 functions", "4.00 us\nof all tasks"),
        *("1\nat the most", "0 of 2\nexit 42 (1), signal 11 (1)"),
        "1.76 us\n21.5 ns a call, by tsc",
    ]
    assert browser.texts("h2") == [
        *("Interfaces", "Phases", "Functions", "Counters", "Heap", "Reports")
    ]
    [interfaces, *_] = browser.texts("#interfaces tbody")
    assert interfaces.split() == [
        *("openkal.stream", "95.0", "%", "10", "3.80", "us"),
        *("(none)", "5.0", "%", "2", "200", "ns"),
    ]
    [_, functions] = browser.texts("#functions tbody tr:nth-child(-n + 2)")
    assert functions.split()[:6] == ["kal_stdout", "openkal.stream", "4", "200", "ns", "50.0"]
    assert browser.texts("#counters tbody td") == ["14"]
    assert browser.texts("#heap tbody td") == [
        *("4,096", "10", "1,024", "4", "16", "1", "dhat-heap-4f2a.json")
    ]
    assert browser.texts("#reports tbody td:nth-child(2)") == ["exit 42", "signal 11"]
    assert browser.texts("summary b") == ["read", "write", "(outside any phase)"]
    [read, *_] = browser.texts("summary")
    assert read.split() == ["read", "4", "1.50", "us", "75.0", "%", "6", "2.92", "us"]


@pytest.mark.spec("EXP-9")
def test_a_line_of_phases_opens(browser, page, whole):
    """It has the functions called in them, and what the counters grew by."""
    browser.open(page(*whole))
    assert browser.texts("details[open]") == []
    browser.run("document.querySelector('summary').focus()")
    browser.press("Enter")
    [inside] = browser.texts("details[open] .inside")
    words = re.split(r"\s+", inside)
    assert words[:4] == ["function", "calls", "total", "share"]
    assert words[4:10] == ["kal_stream_write", "4", "2.80", "us", "95.9", "%"]
    assert words[-3:] == ["by", "lines", "10"]


@pytest.mark.spec("EXP-9")
def test_sections_of_nothing_are_not_there(browser, page, make_report):
    """A run without calls, counters, phases and heap has its line, and no empty table."""
    browser.open(page(make_report(calls=[], counters=[], phases=[], phase_totals=[])))
    assert browser.texts("h2") == ["Reports"]
    assert browser.log("browser") == []


@pytest.mark.spec("EXP-9")
def test_counts_have_no_columns_of_times(browser, page, make_report):
    """Where only counts were taken, shares are of calls."""
    browser.open(page(make_report(what=["count"])))
    assert browser.texts("#functions thead th") == ["function", "", "of the calls", "calls"]
    assert browser.texts("#functions tbody td:nth-child(3)") == ["50.0 %", "33.3 %", "16.7 %"]


def column(browser, at):
    return browser.texts(f"#functions tbody tr > :nth-child({at})")


@pytest.mark.spec("EXP-10")
def test_a_heading_sorts(browser, page, whole):
    """By a click and by a key, one way and the other, and says so to who cannot see it."""
    browser.open(page(*whole))
    heading = "#functions th:nth-child(2)"
    assert browser.run("document.querySelector('[aria-sort]').innerText") == "total"
    browser.click(f"{heading} button")
    assert column(browser, 2) == ["6", "4", "2"]
    assert browser.run(f"document.querySelector('{heading}').ariaSort") == "descending"
    browser.press("Enter")
    assert column(browser, 2) == ["2", "4", "6"]
    assert browser.run(f"document.querySelector('{heading}').ariaSort") == "ascending"
    browser.click("#functions th:first-child button")
    names = [text.split()[0] for text in column(browser, 1)]
    assert names == ["kal_stdout", "kal_stream_write", "kal_version"]
    assert browser.run("document.querySelectorAll('#functions [aria-sort]').length") == 1


@pytest.mark.spec("EXP-10")
def test_a_search_keeps_what_it_finds(browser, page, whole):
    """By a part of a function's name or of its interface's, whatever the case."""
    browser.open(page(*whole))
    browser.type("#functions input", "STREAM_")
    assert [text.split()[0] for text in column(browser, 1)] == ["kal_stream_write"]
    assert browser.texts("#functions output") == ["1 of 3"]
    browser.run("document.querySelector('#functions input').value = ''")
    browser.type("#functions input", "openkal.s")
    assert browser.texts("#functions output") == ["2 of 3"]


@pytest.mark.spec("EXP-10")
def test_arrows_go_from_phase_to_phase(browser, page, make_report):
    """A lane is one stop of the Tab key, and a line below says what the phase is."""
    browser.open(page(make_report(elapsed_ns=1000)))
    assert browser.run("document.querySelectorAll('.lane [tabindex=\"0\"]').length") == 1
    browser.run("document.querySelector('.lane [tabindex=\"0\"]').focus()")
    said = []
    for key in ("Right", "Left", "End", "Right"):
        said += browser.texts("#said")
        browser.press(key)
    assert said + browser.texts("#said") == [
        "read: 500 ns from 10 ns, 50.0 % of the run",
        "read: 250 ns from 510 ns, 25.0 % of the run",
        "read: 500 ns from 10 ns, 50.0 % of the run",
        "write: 240 ns from 760 ns, 24.0 % of the run",
        "write: 240 ns from 760 ns, 24.0 % of the run",
    ]


@pytest.mark.spec("EXP-10")
def test_the_pointer_says_what_a_phase_is(browser, page, make_report):
    """Where it is over one, the line below is that one's."""
    browser.open(page(make_report(elapsed_ns=1000)))
    browser.point(".lane [role=img]:nth-of-type(3)")
    assert browser.texts("#said") == ["read: 250 ns from 510 ns, 25.0 % of the run"]


def background(browser):
    return browser.run("getComputedStyle(document.body).backgroundColor")


@pytest.mark.spec("EXP-11")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_button_turns_light_and_dark(browser, page, whole, dark):
    """A page is as the system prefers, until its button is pressed, and as before when reloaded."""
    path = page(*whole)
    browser.open(path, dark=dark)
    colours = [DARK, LIGHT] if dark else [LIGHT, DARK]
    assert background(browser) == colours[0]
    browser.click("#theme")
    assert background(browser) == colours[1]
    browser.click("#theme")
    assert background(browser) == colours[0]
    browser.click("#theme")
    browser.open(path, dark=dark)
    assert background(browser) == colours[0]
    assert browser.run("document.cookie") == ""


@pytest.mark.spec("EXP-11")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast_is_enough_to_read(browser, page, whole, dark):
    """Text has 4.5 to 1 or more, and what is drawn 3 to 1, in every place of the page."""
    browser.open(page(*whole), dark=dark)
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    least = browser.run(CONTRASTS)
    assert least["texts"] > 100
    assert least["drawings"] > 10
    assert least["text"] >= 4.5
    assert least["drawing"] >= 3


@pytest.mark.spec("EXP-11")
def test_every_colour_of_a_phase_is_told_apart_from_the_page(browser, page, make_report):
    """Seven names have colours of their own, others share one; each has 3 to 1 or more."""
    names = [f"phase {at}" for at in range(9)]
    phases = [
        {"name": name, "start_ns": at * 100, "elapsed_ns": 100 - at}
        for at, name in enumerate(names)
    ]
    totals = [
        {"name": phase["name"], "count": 1, "elapsed_ns": phase["elapsed_ns"], "calls": [],
         "counters": []}
        for phase in phases
    ]  # fmt: skip
    path = page(make_report(elapsed_ns=900, phases=phases, phase_totals=totals))
    fills = "[...document.querySelectorAll('.lane [role=img]')].map(e => getComputedStyle(e).fill)"
    for dark in (False, True):
        browser.open(path, dark=dark)
        colours = browser.run(fills)
        assert len(set(colours)) == 8
        assert colours[7] == colours[8]
        assert browser.run(CONTRASTS)["drawing"] >= 3


@pytest.mark.spec("EXP-12")
def test_much_is_drawn_together(browser, page, big):
    """100,000 phases are at most 1,200 drawings, which say how many they stand for."""
    browser.open(page(big))
    drawn = browser.run(
        "[...document.querySelectorAll('.lane [role=img] title')].map(e => e.textContent)"
    )
    assert 300 < len(drawn) <= 1200
    counts = [int(re.match(r"([0-9,]+) phases, ", text)[1].replace(",", "")) for text in drawn]
    assert sum(counts) == 100_000
    assert "17 later phases not drawn." in browser.texts("#lanes .note")


@pytest.mark.spec("EXP-12")
def test_long_tables_are_short_until_asked(browser, page, big):
    """Of 10,000 counters 50 are shown, the greatest when sorted so, and all by a button."""
    browser.open(page(big))
    rows = "document.querySelectorAll('#counters tbody tr').length"
    assert browser.run(rows) == 50
    browser.click("#counters th:nth-child(2) button")
    assert browser.texts("#counters tbody tr:first-child td") == ["9,999"]
    browser.type("#counters input", "counter 77")
    assert browser.texts("#counters output") == ["100 of 10000"]
    assert browser.run(rows) == 50
    assert browser.texts("#counters > button") == ["Show all 100"]
    browser.click("#counters > button")
    assert browser.run(rows) == 100
    assert browser.run("document.querySelectorAll('#functions tbody tr').length") == 155


@pytest.mark.spec("EXP-12")
def test_what_is_left_out_is_counted(browser, page, make_report):
    """24 lanes, 100 names, 20 functions of a phase; then it is said how many more there are."""
    calls = [call(f"kal_function_{at}", None, 5) for at in range(23)]
    in_phase = [call_in_phase(f"kal_function_{at}", 5) for at in range(23)]
    totals = [
        {"name": f"phase {at}", "count": 1, "elapsed_ns": 9, "calls": in_phase if at == 0 else [],
         "counters": []}
        for at in range(104)
    ]  # fmt: skip
    reports = [make_report(calls=calls, phase_totals=totals) for _ in range(26)]
    browser.open(page(*reports))
    assert browser.run("document.querySelectorAll('svg.lane').length") == 24
    assert browser.texts("#lanes .note") == ["2 more reports with phases."]
    assert browser.run("document.querySelectorAll('details').length") == 101
    assert browser.texts("#totals > .note") == ["4 more names."]
    inside = "document.querySelector('.inside tbody')"
    assert browser.run(f"{inside}.rows.length") == 21
    assert browser.run(f"{inside}.rows[20].textContent") == "3 more"
