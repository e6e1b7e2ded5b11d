"""``okprof diff``: what has changed between two runs, or two folders of runs."""

from __future__ import annotations

import argparse
import os
from math import inf, nan
from typing import TYPE_CHECKING

from okld.base.errors import Refusal, printable
from okrun.cli.options import Options, asks_for_help
from okrun.cli.say import out
from okrun.report.check import THRESHOLD, regressions
from okrun.report.diff import diff
from okrun.report.files import find, folders
from okrun.report.runs import runs
from okrun.report.side import side

if TYPE_CHECKING:
    from okrun.report.check import Regression
    from okrun.report.difference import Diff
    from okrun.report.side import Side

HELP = """\
usage: okprof diff [options] A B

What has changed from A to B, each a report or a folder of the reports of runs: times, those that
moved most first, and apart from them what is counted exactly. All that one okprof record has made
is one run. With several runs a side, times have a 95 % interval, and a mark, slower or faster,
where that is no chance: sides that do not differ show any mark in at most 1 of 100 comparisons.
Record A and B by turns, so that whatever happens on the machine meets both.

  --check              say what is worse in B, and end with 1 if anything is: a time that is marked
                       slower, or a count of calls or of the heap that is greater in every run, of
                       what A never called too
  --threshold PERCENT  by how much worse it has to be (default 5)
  --json               all of it, as JSON of schema 1
  --                   end of the options
  --help

status: 0; 1 something is worse, with --check, or a side has no report, or a file is none; 2 usage,
or a file that cannot be read
"""


def main(words: list[str]) -> int:
    """
    Run the command with the words after ``diff`` and return its status.

    Raises:
        OkError: If the request makes no sense, or a file cannot be read or is no report.
        OSError: If standard output does not take the answer.

    Source: DIFF-1, DIFF-11, DIFF-12.
    """
    if asks_for_help(words):
        out(HELP)
        return 0
    args, (a, b) = _parse(words)
    changed = diff(_side("A", a), _side("B", b))
    threshold = THRESHOLD if args.threshold is None else args.threshold
    worse = regressions(changed, threshold) if args.check else None
    out(_answer(changed, worse, threshold, as_json=args.json))
    return 1 if worse else 0


def _parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    options = Options("diff")
    options.add_argument("--check", action="store_true")
    options.add_argument("--threshold", type=_share, metavar="PERCENT")
    options.add_argument("--json", action="store_true")
    args, paths = options.split(words)
    if len(paths) != 2:
        options.error(f"two sides are compared, A and B, not {len(paths)}")
    if args.threshold is not None and not args.check:
        options.error("--threshold is for --check")
    return args, paths


def _share(percent: str) -> float:
    try:
        value = float(percent.removesuffix("%"))
    except ValueError:
        value = nan
    if not 0 <= value < inf:
        raise argparse.ArgumentTypeError(f"not a percentage: {printable(percent)}")
    return value / 100


def _side(name: str, path: str) -> Side:
    found = find([path])
    cut_off = {each.run for each in found.unfinished if each.run is not None}
    whole = [run for run in runs(found.reports) if run.id not in cut_off]
    left_out = len(found.headless) + len({each.run or each.id for each in found.unfinished})
    if not whole:
        from okrun.cli.render_head import elsewhere

        begun = f" (begun and not ended: {left_out})" if left_out else ""
        raise Refusal("DIFF-1", f"{name} has no report: {path}{begun}{elsewhere(folders(path))}")
    return side(path, whole, left_out)


def _answer(
    changed: Diff, worse: tuple[Regression, ...] | None, threshold: float, *, as_json: bool
) -> str:
    if as_json:
        from okrun.cli.diff_json import as_json as rendered

        return rendered(changed, worse, threshold)
    from okrun.cli.render_diff import as_text

    if not os.isatty(1):
        return as_text(changed, worse, threshold)
    bold = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = os.get_terminal_size(1).columns or None  # 0: nobody has told the terminal
    return as_text(changed, worse, threshold, width=width, bold=bold)
