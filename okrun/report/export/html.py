"""Reports as one page that needs nothing else: no network, no other file, and no script to be read.

The page's frame, style and script are files in ``page/``. The script only rearranges what the page
says already. Strings of a report are text of elements, which `elements.put` makes harmless and
ElementTree escapes; none is part of an attribute, the style or the script, and the page's policy
lets a browser use no other style and script than these two, known by their digests.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from okrun.report.export import phases, tables
from okrun.report.export.elements import put
from okrun.report.figures import count, duration, how, many
from okrun.report.merge import merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from okrun.report.model import Report
    from okrun.report.summary import Summary

SECTIONS = {
    "interfaces": tables.interfaces,
    "phases": phases.lanes_and_totals,
    "functions": tables.functions,
    "counters": tables.counters,
    "heap": tables.heap,
    "reports": tables.each_report,
}
"""What fills each section of the page, which is there where the summary's part of its name is."""


def export(reports: Sequence[Report]) -> str:
    """
    Return a page that shows the reports added up, each one's phases, and a list of them.

    Source: EXP-7 to EXP-12.
    """
    summary = merge(reports)
    page = ElementTree.fromstring(_file("page.html"))
    _frame(page)
    _about(page, summary)
    main = _find(page, ".//main")
    for name, fill in SECTIONS.items():
        section = _find(main, f"section[@id='{name}']")
        if getattr(summary, name):
            fill(section, reports, summary)
        else:
            main.remove(section)
    return "<!doctype html>\n" + ElementTree.tostring(page, "unicode", method="html") + "\n"


def _file(name: str) -> str:
    return (files(__name__.rpartition(".")[0]) / "page" / name).read_text("utf-8")


def _find(parent: Element, path: str) -> Element:
    element = parent.find(path)
    assert element is not None, f"page.html has {path}"
    return element


def _frame(page: Element) -> None:
    """Put in the style, the script, and the policy that allows these and nothing else."""
    style, script = _file("page.css"), _file("page.js")
    _find(page, ".//style").text = style
    _find(page, ".//script").text = script
    _find(page, ".//meta[@http-equiv]").set(
        "content",
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
    )


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _about(page: Element, summary: Summary) -> None:
    names = list(dict.fromkeys(row.image.path.rpartition("/")[2] for row in summary.images))
    title = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    head = _find(page, ".//header/div")
    put(_find(page, ".//head"), "title", f"okprof: {title}")
    put(head, "h1", title)
    about = [many(summary.reports, "report")]
    if summary.runs != summary.reports:
        about.append(many(summary.runs, "run"))
    if len(summary.images) > 1:
        about.append(many(len(summary.images), "image"))
    about += dict.fromkeys(row.image.arch for row in summary.images)
    put(head, "p", ", ".join(about))
    facts = _find(page, ".//dl")
    for name, value, more in _facts(summary):
        fact = put(facts, "div")
        put(fact, "dt", name)
        put(put(fact, "dd", value), "small", more)


def _facts(summary: Summary) -> list[tuple[str, str, str]]:
    rows = summary.functions
    times = [row.total_ns for row in rows if row.total_ns is not None]
    facts = [
        ("Time", duration(summary.elapsed_ns), "of all reports" if summary.reports > 1 else ""),
        _called(summary),
    ]
    if rows and len(times) == len(rows):
        facts.append(("In calls", duration(sum(times)), "of all tasks"))
    return [
        *facts,
        ("Tasks", count(summary.tasks), "at the most" if summary.reports > 1 else ""),
        _ended(summary),
        ("Measuring cost", duration(summary.measuring_ns), _cost(summary)),
    ]


def _called(summary: Summary) -> tuple[str, str, str]:
    if not summary.calls_measured:
        return "Calls", "-", "not measured"
    calls = count(sum(row.count for row in summary.functions))
    of = f"of {many(len(summary.functions), 'function')}"
    if summary.calls_measured < summary.reports:
        of += f", measured in {count(summary.calls_measured)} of {many(summary.reports, 'report')}"
    return "Calls", calls, of


def _cost(summary: Summary) -> str:
    """Return what measuring adds to a call, by which clock; reports differ a little."""
    clocks = [clock for clock, _ in summary.clocks if clock.overhead_ns]
    if not clocks:  # calls were not measured
        return ""
    costs = [f"{clock.overhead_ns:.1f}" for clock in clocks]
    least, most = min(costs, key=float), max(costs, key=float)
    sources = ", ".join(dict.fromkeys(clock.source for clock in clocks))
    return f"{least if least == most else f'{least} to {most}'} ns a call, by {sources}"


def _ended(summary: Summary) -> tuple[str, str, str]:
    ends = ", ".join(f"{how(ended)} ({count(reports)})" for ended, reports in summary.ends)
    if len(summary.ends) == 1:
        return "Ended", how(summary.ends[0][0]), "all of them" if summary.reports > 1 else ""
    well = sum(reports for ended, reports in summary.ends if ended.status == 0)
    return "Ended with 0", f"{count(well)} of {count(summary.reports)}", ends
