"""``okprof COMMAND``: turns what a command raises into one line and a status."""

from __future__ import annotations

import sys

from okld.base.errors import FormatError, OkError, Refusal, printable
from okrun.cli.say import complain, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

YES, NO, UNUSABLE = 0, 1, 2
"""Statuses, as those of okld: the answer; no report; usage, or a file that cannot be read."""

COMMANDS = ("record", "report", "diff")

HELP = """\
usage: okprof COMMAND [options] ...

  record   run a command, and measure the images that it starts
  report   what the reports of runs say, added up
  diff     what has changed between two runs, or two folders of runs

okprof COMMAND --help says more.
Status: 0 yes, 1 the answer is no, 2 usage or a file that cannot be read; of record, its command's.
"""


def main() -> int:
    """Run the command and return its status."""
    try:
        return _run(sys.argv[1:])
    except (FormatError, Refusal) as error:
        return _failed(error, NO)
    except OkError as error:
        return _failed(error, UNUSABLE)
    except MemoryError:
        return _failed("out of memory", UNUSABLE)
    except BrokenPipeError:  # whoever read the answer has read enough
        return UNUSABLE
    except OSError as error:
        return _failed(printable(error.strerror or str(error)), UNUSABLE)


def _run(words: list[str]) -> int:
    name, *rest = words or [""]
    if name in ("-h", "--help"):
        out(HELP)
        return YES
    if name == "--version":
        from okrun import __version__

        out(f"okprof {__version__}\n")
        return YES
    if name not in COMMANDS:
        what = f"no such command: {printable(name)}" if name else "no command"
        return _failed(f"{what}; okprof --help lists them", UNUSABLE)
    command: Callable[[list[str]], int] = __import__(f"okrun.cli.{name}", fromlist=["main"]).main
    return command(rest)


def _failed(what: object, status: int) -> int:
    complain("okprof", what)
    return status
