"""The tables of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okrun.report.export.elements import bar, heading, named, number, put
from okrun.report.figures import count, duration, how, moment, percent, rough_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from okrun.report.model import Report
    from okrun.report.summary import Row, Summary

PERCENTILES = (50, 90, 99)
ESTIMATES = (
    "Times are wall-clock times, waiting included; those of several tasks add up. p50, p90 and p99 "
    "are estimates from the distributions, whose steps are a factor of two."
)


def _parts(section: Element) -> tuple[Element, Element]:
    """Return the row of the head, and the body, of the table in *section*."""
    [head], [body] = section.findall(".//thead/tr"), section.findall(".//tbody")
    return head, body


def interfaces(section: Element, _: Sequence[Report], summary: Summary) -> None:
    """Fill the table of interfaces, with a bar for the share of each."""
    head, body = _parts(section)
    timed = any(row.total_ns is not None for row in summary.interfaces)
    names = ["interface", "", _share(summary), "#calls", *(["#total"] if timed else [])]
    heading(head, names, by=_order(summary))
    for row in summary.interfaces:
        line = put(body, "tr")
        named(line, row.name or "(none)")
        _shared(line, row)
        number(line, row.count, count(row.count))
        if timed:
            number(line, row.total_ns, duration(row.total_ns))


def functions(section: Element, _: Sequence[Report], summary: Summary) -> None:
    """Fill the table of functions: with times where any was taken, else with shares of calls."""
    head, body = _parts(section)
    histograms = [row.log2_ns for row in summary.functions if row.log2_ns is not None]
    times = ["#total", "#mean", *(f"#p{each}" for each in PERCENTILES), "#max", "distribution"]
    names = ["#calls", *times] if histograms else ["", _share(summary), "#calls"]
    heading(head, ("function", *names), by=_order(summary))
    used = [at for each in histograms for at, calls in enumerate(each) if calls]
    buckets = range(min(used), max(used) + 1) if used else range(0)
    for row in summary.functions:
        line = put(body, "tr")
        named(line, row.name or "", row.interface or "")
        if not histograms:
            _shared(line, row)
        number(line, row.count, count(row.count))
        if histograms:
            number(line, row.total_ns, duration(row.total_ns))
            number(line, row.mean_ns, duration(row.mean_ns))
            for ns in map(row.percentile, PERCENTILES):
                number(line, ns, rough_duration(ns))
            number(line, row.max_ns, duration(row.max_ns))
            _distribution(put(line, "td"), row, buckets)
    if histograms:
        put(section, "p", ESTIMATES, class_="note")


def _order(summary: Summary) -> str:
    return "total" if summary.timed else "calls"


def _share(summary: Summary) -> str:
    return "#of the time" if summary.timed else "#of the calls"


def _shared(line: Element, row: Row) -> None:
    bar(put(line, "td", class_="wide"), row.share)
    number(line, row.share, percent(row.share))


def _distribution(cell: Element, row: Row, buckets: range) -> None:
    """Append a histogram of *buckets*, which are those of every row, so that they compare."""
    if not row.log2_ns or not sum(row.log2_ns):
        return
    most = max(row.log2_ns)
    size = {"viewBox": f"0 0 {len(buckets)} 20", "preserveAspectRatio": "none"}
    drawing = put(cell, "svg", class_="histogram", role="img", **size)
    said = []
    path = []
    for at, calls in enumerate(row.log2_ns):
        if calls:
            height = max(1.5, 20 * calls / most)
            path.append(f"M{at - buckets.start}.1 20v-{height:.1f}h.8v{height:.1f}z")
            said.append(f"{duration(1 << at if at else 0)} to {duration(2 << at)}: {count(calls)}")
    put(drawing, "title", "; ".join(said))
    put(drawing, "path", d="".join(path))


def counters(section: Element, _: Sequence[Report], summary: Summary) -> None:
    """Fill the table of counters, and say which could not be read whole."""
    head, body = _parts(section)
    heading(head, ("counter", "#value"))
    for counter, value in summary.counters:
        line = put(body, "tr")
        named(line, counter)
        number(line, value, count(value))
    if summary.lost:
        lost = ", ".join(summary.lost)
        put(section, "p", f"Not read whole: {lost}. Their memory was gone.", class_="note")


def heap(section: Element, reports: Sequence[Report], _: Summary) -> None:
    """Fill the table of what each image took from the heap."""
    head, body = _parts(section)
    what = ("#bytes", "#blocks", "#bytes at the peak", "#blocks", "#bytes at the end", "#blocks")
    heading(head, ("report", *what, "DHAT file"))
    for at, report in enumerate(reports, 1):
        if report.heap is None:
            continue
        line = put(body, "tr")
        named(line, f"{at} {report.image.path}")
        took = report.heap
        for value in (
            *(took.bytes, took.blocks, took.peak_bytes, took.peak_blocks),
            *(took.end_bytes, took.end_blocks),
        ):
            number(line, value, count(value))
        put(line, "td", took.file or "could not be written")


def each_report(section: Element, reports: Sequence[Report], _: Summary) -> None:
    """Fill the table of reports: what ran, when, and how it ended."""
    head, body = _parts(section)
    what = ("ended", "#took", "#calls", "#in calls", "#tasks", "#pid", "began", "measured")
    heading(head, ("report", *what))
    for at, report in enumerate(reports, 1):
        line = put(body, "tr")
        named(line, f"{at} {report.image.path}", " ".join(report.argv[1:]))
        put(line, "td", how(report.ended), class_="" if report.ended.status == 0 else "bad")
        number(line, report.elapsed_ns, duration(report.elapsed_ns))
        number(line, *_calls(report))
        number(line, *_time(report))
        number(line, report.tasks, count(report.tasks))
        number(line, report.pid, str(report.pid))
        put(line, "td", moment(report.started_ns))
        put(line, "td", ", ".join(report.what))


def _calls(report: Report) -> tuple[int | None, str]:
    calls = sum(call.count for call in report.calls) if report.counts_calls else None
    return calls, count(calls)


def _time(report: Report) -> tuple[int | None, str]:
    times = [call.total_ns for call in report.calls if call.total_ns is not None]
    timed = report.counts_calls and len(times) == len(report.calls)
    total_ns = sum(times) if timed else None
    return total_ns, duration(total_ns)
