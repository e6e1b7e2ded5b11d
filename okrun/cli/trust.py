"""``okrun trust``: whose signatures are trusted."""

from __future__ import annotations

import json
import os

from okld.base.errors import FormatError, OkError, Refusal, Unreadable, printable
from okld.base.limits import MAX_PRIVATE_KEY
from okld.bundle.trust import parse_trust, shown_time
from okld.bundle.trust_edit import add, line_of, remove
from okld.bundle.trust_file import read_trust_file
from okrun.admission.place import config_dir
from okrun.admission.policy import TRUST_FILE
from okrun.cli.say import complain, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.bundle.trust import Entry

YES, NO, UNUSABLE = 0, 1, 2
"""Statuses, as those of okld: done; refused; usage, or a file that cannot be read."""

HELP = """\
usage: okrun trust list [--json]
       okrun trust add PRINCIPAL PUBLIC-KEY-FILE
       okrun trust add LINE
       okrun trust remove PRINCIPAL|FINGERPRINT

Whose signatures of bundles are trusted: the lines of allowed_signers in the directory okrun of
$XDG_CONFIG_HOME, which ssh-keygen(1) describes under "ALLOWED SIGNERS".

  list      each principal, with the kind, the fingerprint and the comment of its key
  add       trust the key in a file, as id_ed25519.pub, as PRINCIPAL's; or add a whole line
  remove    trust a principal, or a key, no longer

status: 0; 1 refused, or nothing to remove; 2 usage, or a file that cannot be read
"""


def run(words: list[str]) -> int:
    """Run the command with the words after ``trust`` and return its status."""
    try:
        return _run(words)
    except (FormatError, Refusal) as error:
        return _failed(error, NO)
    except OkError as error:
        return _failed(error, UNUSABLE)


def _run(words: list[str]) -> int:
    command, *rest = words or [""]
    if command in ("-h", "--help"):
        out(HELP)
        return YES
    if command == "list" and rest in ([], ["--json"]):
        path = _path()
        entries = parse_trust(read_trust_file(path))
        out(_as_json(entries, path) if rest else _as_text(entries))
    elif command == "add" and len(rest) in (1, 2):
        line = rest[0] if len(rest) == 1 else line_of(rest[0], _public_key(rest[1]))
        out(f"trusts {_row(add(_path(), line))}\n")
    elif command == "remove" and len(rest) == 1:
        for entry in remove(_path(), rest[0]):
            out(f"no longer trusts {printable(rest[0])}: {_row(entry)}\n")
    else:
        return _failed("trust: list, add or remove (--help says more)", UNUSABLE)
    return YES


def _path() -> str:
    directory = config_dir(os.environ)
    if directory is None:
        raise OkError("no directory for settings: neither XDG_CONFIG_HOME nor HOME is a place")
    return f"{directory}/{TRUST_FILE}"


def _public_key(path: str) -> str:
    """Return the line of a public key file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            data = file.read(MAX_PRIVATE_KEY)
    except OSError as error:
        raise Unreadable("public key", path, error) from None
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("-----BEGIN "):
        raise FormatError("TRU-1", f"{path} is no public key; it may be the private half of one")
    return text


def _row(entry: Entry) -> str:
    names = ",".join(entry.principals)
    return printable(f"{names} {entry.key.kind} {entry.key.fingerprint} {entry.comment}".rstrip())


def _as_text(entries: tuple[Entry, ...]) -> str:
    return "".join(f"{_row(entry)}\n" for entry in entries)


def _as_json(entries: tuple[Entry, ...], path: str) -> str:
    """Source: CLI-2."""
    signers = [
        {
            "line": entry.line,
            "principals": entry.principals,
            "kind": entry.key.kind,
            "fingerprint": entry.key.fingerprint,
            "comment": entry.comment,
            "namespaces": entry.namespaces,
            "valid_after": _shown(entry.valid_after),
            "valid_before": _shown(entry.valid_before),
        }
        for entry in entries
    ]
    return json.dumps({"schema": 1, "file": path, "signers": signers}) + "\n"


def _shown(seconds: int | None) -> str | None:
    return None if seconds is None else shown_time(seconds)


def _failed(what: object, status: int) -> int:
    complain("okrun", what)
    return status
