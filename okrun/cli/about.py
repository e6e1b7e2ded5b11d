"""What ``okrun`` says of itself, and with -v of an image before it starts."""

from __future__ import annotations

import os

from okld.base.errors import OkError, printable
from okrun import __version__
from okrun.cli.say import complain, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okrun.admission.record import Signer
    from okrun.launch import Start
    from okrun.measuring import Measuring

HELP = """\
usage: okrun [options] IMAGE|BUNDLE[:MEMBER] [arguments of the image...]
       okrun cache dir|list|verify|gc|clear
       okrun trust list|add|remove

Run an ok image in this process: streams, signals, environment and exit status are the image's.
Of a bundle, run the member of the host program's processor, or the one that is named.

  --prof=WHAT[,WHAT...][:DIR]
                    measure, and write okprof-<id>.json into DIR (default: the working directory);
                    WHAT: calls (count and time), count (count only), counters (the program's own),
                    heap (blocks by where they are taken, in dhat-heap-<id>.json for DHAT's viewer),
                    perfmap (/tmp/perf-<pid>.map, by which perf names the image's functions);
                    OKRUN_PROF is used where this is not given
  --dir PATH[=NAME] give the image a directory, under the name PATH or NAME; once or more often, in
                    place of the working directory (as ".") and "/"
  --no-dir          give it none but those of --dir
  --env NAME=VALUE  set a variable of the image's environment
  --clear-env       begin with an empty environment; --env adds to it
  --policy any|signed|trusted
                    ask for a signed bundle, or for one signed by a key of the trust file; the
                    strictest of this, OKRUN_POLICY and the file `policy` of the settings holds
  --no-cache        neither use what is remembered of earlier starts nor remember this one
  -v, --verbose     say on standard error what was admitted, and what runs it
  --impl LIBRARY    bind another implementation of openkal: a shared object that exports it
  --host PATH       run the image in another host program; with --impl one that binds libraries
  --argv0 NAME      what the image gets as its own name, in place of IMAGE
  --file DEV:INO    refuse any file at IMAGE but this one
  --dir-fd FD=NAME  as --dir, a directory that is open already
  --emulator PROG   run the host program with PROG, as qemu-aarch64
  --                end of the options
  --version, --help

status: the image's own; 125 usage or internal, 126 the image is refused, 127 there is no such image
"""


def about(option: str) -> int:
    """Answer ``--help`` or ``--version``."""
    out(f"okrun {__version__}\n" if option == "--version" else HELP)
    return 0


def describe(start: Start, measure: Measuring, emulator: str) -> None:
    """Say on standard error what was admitted, what runs it and what is measured (BIND-6)."""
    shape, interfaces = start.admitted.shape, start.admitted.interfaces
    relocations = shape.rela[1] + shape.jmprel[1]
    lines = (
        f"{start.image}: {shape.arch}, {len(shape.segments)} segments, {relocations} relocations"
        f" and {shape.relr[1]} words of RELR, build id {shape.build_id or 'none'}",
        f"requires {', '.join(interfaces.required) or 'nothing'};"
        f" optional {', '.join(interfaces.optional) or 'nothing'};"
        f" declared by its {interfaces.declared_by}",
        f"host program {start.host.path}{start.impl and f', implementation {start.impl}'}",
        _answers(start, emulator),
        f"measures {measure.names} into {os.fsdecode(measure.directory)}"
        if measure.bits
        else "measures nothing",
        *_bundle_lines(start),
    )
    for line in lines:
        complain("okrun", printable(line))


def _answers(start: Start, emulator: str) -> str:
    """Return what the host program answers; the start itself says why where that is not known."""
    from okld.iface.host import ask_host
    from okld.iface.table import version_text

    try:
        host = ask_host(start.host.path, emulator=emulator, impl=start.impl)
    except OkError as error:
        return f"what it answers is not known: {error}"
    return f"answers openkal {version_text(host.version)}: {', '.join(host.interfaces)}"


def _bundle_lines(start: Start) -> list[str]:
    record = start.record
    if record is None:
        return []
    where = f"{record.length} bytes at {record.offset:#x} of the bundle"
    return [
        f"member {record.member}, {where}, SHA-256 {record.sha256}",
        f"cache: {start.cache}",
    ]


def name_signer(image: str, signer: Signer) -> None:
    """Say on standard error who signed the bundle (ADM-9)."""
    who = "a trusted key" if signer.trusted else "a key that is not trusted"
    what = f"{image}: signed by {who}, {signer.fingerprint}: {signer.said}"
    complain("okrun", printable(what))
