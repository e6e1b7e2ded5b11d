"""All forty-five traps, and what okld says to their questions, through its public interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import trap_dwarf
import trap_files
import trap_formats
import trap_logs
import trap_names
from trap_question import TRAPS, Question, Said

import okld

ROOMS = (trap_names, trap_files, trap_dwarf, trap_formats, trap_logs)
assert sorted(TRAPS) == list(range(1, 46)), [room.__name__ for room in ROOMS]


def ours(question: Question) -> Said:
    """Return what okld says."""
    if question.log:
        return in_log(question)
    with okld.symbols(question.path, options=question.options) as symbols:
        found = symbols.lookup(question.address)
    if isinstance(found, okld.Miss):
        return Said()
    names = [frame.function for frame in found.frames] or [found.name]
    names[-1] = found.name
    places = [(Path(f.file).name, f.line) if f.file else None for f in found.frames]
    return Said(tuple(names), found.offset, tuple(places))


def in_log(question: Question) -> Said:
    """Return what is right, if the line of the rewritten log tells it, else that line."""
    row = rewritten(question).splitlines()[question.row]
    want = question.want
    told = [*want.names, *(f"{p[0]}:{p[1]}" for p in want.places if p)]
    return want if all(text in row for text in told) else Said((row.strip(),))


def rewritten(question: Question) -> str:
    """Return the log as `okld symbolize` rewrites it."""
    okld = Path(sys.executable).with_name("okld")
    words = [okld, "symbolize", "--no-index", *question.words]
    done = subprocess.run(words, input=question.log, capture_output=True, text=True, timeout=60)
    return done.stdout
