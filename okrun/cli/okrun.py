"""``okrun``: start an image.

The options are read by hand: an import of argparse takes longer than a whole start.
"""

from __future__ import annotations

import os
import sys

from okld.base.errors import FormatError, OkError, Refusal, Unreadable, printable
from okrun.hosts import NoHost, runner
from okrun.inherited import undo_locale_coercion
from okrun.launch import execute, prepare
from okrun.measuring import Usage, measuring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.progress import Bar
    from okrun.granting import Grants
    from okrun.launch import Start
    from okrun.measuring import Measuring

FAILED, REFUSED, NO_IMAGE = 125, 126, 127
UNUSABLE = 2  # of okrun cache and okrun trust, whose statuses are those of okld
"""Statuses that are not the image's (STAT-1)."""


VALUED = (
    "--argv0", "--dir", "--dir-fd", "--emulator", "--env", "--file", "--host", "--impl", "--policy",
    "--prof",
)  # fmt: skip
"""Options that take a value."""


class Options:
    """What the command line asks for."""

    __slots__ = (
        "about", "args", "argv0", "clear_env", "dir_fds", "dirs", "emulator", "env", "file", "host",
        "image", "impl", "no_dir", "policy", "prof", "remember", "verbose",
    )  # fmt: skip

    def __init__(self) -> None:
        self.prof: str | None = None
        self.env: list[str] = []
        self.dirs: list[str] = []
        self.dir_fds: list[str] = []
        self.clear_env = self.verbose = self.no_dir = False
        self.about = self.host = self.impl = self.emulator = self.image = self.policy = ""
        self.argv0: str | None = None
        self.file = ""
        self.remember = True
        self.args: list[str] = []


def main() -> int:
    """Run the command; return a status only where no image was started."""
    try:
        return _run(sys.argv[1:])
    except OkError as error:
        return _failed(error, _status(error))
    except MemoryError:
        return _failed("out of memory", FAILED)
    except BrokenPipeError:  # of the help, of which whoever read it has read enough
        return FAILED
    except OSError as error:
        return _failed(printable(error.strerror or str(error)), FAILED)


def _run(words: list[str]) -> int:
    if words and words[0] in ("cache", "trust"):  # an image of that name is ./cache
        return _other_command(words[0], words[1:])
    options = _parse(words)
    if options.about:
        from okrun.cli.about import about

        return about(options.about)
    measure = _measure(options.prof)
    try:
        start = _prepare(options, measure)
    except (FormatError, Refusal) as error:
        return _failed(f"{printable(options.image)}: {error}", REFUSED)
    signer = start.record and start.record.signer
    if signer and (options.verbose or not signer.trusted):
        from okrun.cli.about import name_signer

        name_signer(options.image, signer)
    if options.verbose:
        from okrun.cli.about import describe

        describe(start, measure, options.emulator)
    return execute(start, options.args, options.emulator, _environment(options))


def _other_command(command: str, words: list[str]) -> int:
    if command == "cache":
        from okrun.cli.cache import run
    else:
        from okrun.cli.trust import run
    try:
        return run(words)
    except BrokenPipeError:  # whoever read the answer has read enough
        return UNUSABLE
    except OSError as error:
        return _failed(f"cannot write standard output: {error.strerror}", UNUSABLE)


def _prepare(options: Options, measure: Measuring) -> Start:
    bars: list[Bar] = []  # one at most: only what is hashed has one

    def progress(done: int, length: int) -> None:
        if not bars:
            from okld.base.progress import Bar

            bars.append(Bar("okrun: checking"))
        bars[0].show(done, length)

    try:
        return prepare(
            options.image,
            measure,
            options.host,
            impl=options.impl,
            policy=options.policy,
            remember=options.remember,
            name=options.argv0,
            file=options.file,
            grants=_grants(options),
            runner=_runner(options),
            progress=progress,
        )
    finally:
        for bar in bars:
            bar.end()


def _runner(options: Options) -> bytes:
    given = options.host, options.impl, options.emulator, options.policy
    return runner(*given, remember=options.remember)


def _parse(words: list[str]) -> Options:
    options = Options()
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        option, equals, value = words[at].partition("=")
        at += 1
        if option == "--" and not equals:
            break
        if option in ("--help", "-h", "--version") and not equals:
            options.about = option
            return options
        if option in ("-v", "--verbose") and not equals:
            options.verbose = True
            continue
        if option == "--clear-env" and not equals:
            options.clear_env = True
            continue
        if option == "--no-dir" and not equals:
            options.no_dir = True
            continue
        if option == "--no-cache" and not equals:
            options.remember = False
            continue
        if option not in VALUED:
            raise Usage(f"unknown option {words[at - 1]} (--help lists what is known)")
        if not equals:
            if at == len(words):
                raise Usage(f"{option} takes a value")
            value = words[at]
            at += 1
        _set(options, option, value)
    if at == len(words):
        raise Usage("no image given (usage: okrun [options] IMAGE [arguments...])")
    options.image = words[at]
    options.args = words[at + 1 :]
    return options


def _set(options: Options, option: str, value: str) -> None:
    if option == "--env":
        if value.find("=") < 1:
            raise Usage(f"--env takes NAME=VALUE (got '{value}')")
        options.env.append(value)
    elif option == "--file":
        options.file = value
    elif option == "--argv0":
        options.argv0 = value
    elif not value:
        raise Usage(f"{option} takes a value that is not empty")
    elif option == "--dir":
        options.dirs.append(value)
    elif option == "--dir-fd":
        options.dir_fds.append(value)
    elif option == "--prof":
        options.prof = value
    elif option == "--policy":
        options.policy = value
    elif option == "--host":
        options.host = value
    elif option == "--impl":
        options.impl = value
    else:
        options.emulator = value


def _grants(options: Options) -> Grants | None:
    if not (options.dirs or options.dir_fds or options.no_dir):
        return None
    from okrun.granting import open_grants

    try:
        return open_grants(options.dirs, options.dir_fds)
    except Unreadable as error:
        raise Usage(str(error)) from None  # there may well be an image of that name


def _measure(option: str | None) -> Measuring:
    if option is not None:
        return measuring(option, "--prof")
    return measuring(os.environ.get("OKRUN_PROF", ""), "OKRUN_PROF")


def _environment(options: Options) -> dict[str, str] | None:
    """
    Return the environment that the image is to have, or None where it is this process's.

    Single variables are set in the C library's own copy, and not in a dictionary passed on, so that
    what is not named here reaches the image byte for byte: variables given twice, and words that
    have no "=".
    """
    settings = [setting.partition("=") for setting in options.env]
    if options.clear_env:
        return {name: value for name, _, value in settings}
    undo_locale_coercion()
    for name, _, value in settings:
        os.putenv(name, value)
    return None


def _status(error: OkError) -> int:
    if isinstance(error, (NoHost, Usage)) or error.rule == "ADM-8":
        return FAILED
    if isinstance(error, Unreadable):
        from errno import ENOENT, ENOTDIR

        return NO_IMAGE if error.errno in (ENOENT, ENOTDIR) else REFUSED
    return REFUSED


def _failed(what: object, status: int) -> int:
    from okrun.cli.say import complain

    complain("okrun", what)
    return status
