"""``okprof``: what the reports of measured runs say."""

from __future__ import annotations

import sys

from okld.base.errors import OkError, Unreadable, printable
from okrun.cli.say import complain, out

YES, NO, UNUSABLE = 0, 1, 2
"""Statuses, as those of okld: the answer; no report; usage, or a file that cannot be read."""

HELP = """\
usage: okprof report [--json] FILE|DIR...

Add up the reports that okrun --prof wrote: by interface, by function, by counter and by phase.
A DIR stands for all okprof-*.json in it.

  --json             write JSON of schema 1
  --version, --help

status: 0; 1 a file is no report, or a directory holds none; 2 usage, or a file that cannot be read
"""


def main() -> int:
    """Run the command and return its status."""
    try:
        return _run(sys.argv[1:])
    except Unreadable as error:
        return _failed(error, UNUSABLE)
    except OkError as error:
        return _failed(error, NO)
    except MemoryError:
        return _failed("out of memory", UNUSABLE)
    except OSError as error:
        return _failed(printable(error.strerror or str(error)), UNUSABLE)


def _run(words: list[str]) -> int:
    if words and words[0] in ("--help", "-h"):
        out(HELP)
        return YES
    if words and words[0] == "--version":
        from okrun import __version__

        out(f"okprof {__version__}\n")
        return YES
    if not words or words[0] != "report":
        return _failed("commands: report (--help says more)", UNUSABLE)
    options, paths = _split(words[1:])
    if "--help" in options or "-h" in options:
        out(HELP)
        return YES
    unknown = [option for option in options if option != "--json"]
    if unknown:
        return _failed(f"unknown option {printable(unknown[0])}; report has --json", UNUSABLE)
    if not paths:
        return _failed("report: no FILE or DIR given", UNUSABLE)
    from okrun.cli import report

    out(report.run(paths, as_json="--json" in options))
    return YES


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the options and the paths; all that follows ``--`` is a path."""
    at = words.index("--") if "--" in words else len(words)
    options = [word for word in words[:at] if word.startswith("-")]
    return options, [word for word in words[:at] if word not in options] + words[at + 1 :]


def _failed(what: object, status: int) -> int:
    complain("okprof", what)
    return status
