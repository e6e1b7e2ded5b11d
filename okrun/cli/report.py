"""``okprof report``: what the reports of runs say, added up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from okld.base.errors import Refusal, printable
from okrun.cli.options import Options, asks_for_help
from okrun.cli.say import complain, encoded, out
from okrun.report.export import FORMATS, exporter
from okrun.report.files import Found, find, folders
from okrun.report.order import ORDERS

if TYPE_CHECKING:
    from argparse import Namespace

HELP = """\
usage: okprof report [options] FILE|DIR...

What the reports of runs say, added up: by interface, by function, by phase, with counters. A DIR
stands for all okprof-*.json in it; what was begun there and has left no report is told, too.

  --sort KEY         of interfaces and functions: time (default; count where none was taken),
                     count, mean, max, p50, p90, p99, name
  --json             all of it, as JSON of schema 2
  --html             one page that needs no network
  --format NAME      text (default), json, html, speedscope, trace, folded or dhat
  -o FILE            write FILE, at once or not at all; - is standard output
  --                 end of the options
  --help

Times are wall-clock times, waiting included, and those of several tasks add up. p50, p90 and p99
are estimates: steps of the histograms are a factor of two.

status: 0; 1 there is no report, or a file is none; 2 usage, or a file that cannot be read
"""


def main(words: list[str]) -> int:
    """
    Run the command with the words after ``report`` and return its status.

    Raises:
        OkError: If the request makes no sense, or a file cannot be read or is no report.
        OSError: If standard output does not take the answer.

    Source: REP-3, RPT-1 to RPT-12.
    """
    if asks_for_help(words):
        out(HELP)
        return 0
    args, paths = _parse(words)
    found = find(paths)
    if found.empty or not found.reports:
        raise Refusal("REP-3", _nothing(found))
    if args.format in FORMATS:
        _complain_of(found)
    if args.output in (None, "-"):
        out(_answer(found, args.format, args.sort, to_terminal=os.isatty(1)))
    else:
        answer = _answer(found, args.format, args.sort, to_terminal=False)
        from okld.base.output import replacing

        with replacing(args.output, "report") as file:
            file.write(encoded(answer))
    return 0


def _parse(words: list[str]) -> tuple[Namespace, list[str]]:
    options = Options("report")
    options.add_argument("--sort", choices=ORDERS, default="time")
    options.add_argument("-o", dest="output", metavar="FILE")
    form = options.add_mutually_exclusive_group()
    form.add_argument("--format", choices=("text", "json", *FORMATS), default="text")
    for name in ("json", "html"):
        form.add_argument(f"--{name}", dest="format", action="store_const", const=name)
    args, paths = options.split(words)
    if not paths:
        options.error("no report, and no directory of reports, is named")
    return args, paths


def _nothing(found: Found) -> str:
    from okrun.cli.render_head import elsewhere

    if not found.empty:
        return "; ".join(("these files: no okprof-*.json", *_begun(found)))
    where = found.empty[0]
    return "; ".join((f"{where}: no okprof-*.json", *_begun(found))) + elsewhere(folders(where))


def _begun(found: Found) -> list[str]:
    from okrun.cli.render_head import begun

    return [f"{what}: {', '.join(whose)}" for what, whose in begun(found).items() if whose]


def _complain_of(found: Found) -> None:
    """Say on standard error what a format of another tool has no place for (RPT-3)."""
    for each in _begun(found):
        complain("okprof", printable(f"not in it, {each}"))
    if not any(report.calls for report in found.reports):
        complain("okprof", "no calls were measured, so there is little to show")


def _answer(found: Found, form: str, order: str, *, to_terminal: bool) -> str:
    if form in FORMATS:
        return exporter(form)(found.reports)
    from okrun.report.merge import merge

    summary = merge(found.reports)
    if form == "json":
        from okrun.cli.report_json import as_json

        return as_json(summary, found, order)
    from okrun.cli.render import as_text

    if not to_terminal:
        return as_text(summary, found, order)
    bold = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = os.get_terminal_size(1).columns or None  # 0: nobody has told the terminal
    return as_text(summary, found, order, width=width, bold=bold)
