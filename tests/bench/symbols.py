"""Names, lines and inlined calls of addresses: against llvm-symbolizer, addr2line and Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from rows import Row
from symbols_files import Subject, subjects

LLVM = ["llvm-symbolizer-19", "--no-demangle"]
SETTLED = 2.1  # seconds after which a file can have an index
ONE, BATCH = 30, 3  # times that each is run
LOOKED_AT = 2_000  # addresses whose answers are compared before anything is timed
AGREE = 0.995  # of them have the peer's answer; the rest is told apart by tests/traps
NOTABLE = 100.0  # MB from which on a peer's memory is compared
PEAK = """
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
print(os.wait4(child, 0)[2].ru_maxrss, file=sys.stderr)
"""
ADDR2LINE = "JVM"  # the file with 50,000 symbols


def run(work: Path) -> Iterator[Row]:
    okld = str(Path(sys.executable).with_name("okld"))
    os.environ["OKLD_CACHE_DIR"] = str(work / "cache")
    for subject in subjects(work):
        time.sleep(SETTLED)
        asking = _Asking(okld, subject, work)
        yield from asking.names()
        if subject.aranges is not None:
            yield from asking.lines()


class _Asking:
    """Questions about one file."""

    def __init__(self, okld: str, subject: Subject, work: Path) -> None:
        self._okld = okld
        self._subject = subject
        self._cache = work / "cache"
        self._bare = [sys.executable, "-c", "pass"]
        self._all = work / "addresses"
        self._all.write_text("".join(f"{address:#x}\n" for address in subject.addresses))
        self._some = work / "some"
        self._some.write_text("".join(f"{a:#x}\n" for a in subject.addresses[:10_000]))

    def names(self) -> Iterator[Row]:
        """Names alone, of the file without its debug information."""
        subject, path = self._subject, str(self._subject.bare)
        first = f"{subject.addresses[0]:#x}"
        assert _agree(map(_named_alike, self._asked("--no-lines", path), _llvm(subject, path)))
        ours = self._command("symbolize", "--no-demangle", "--no-lines", path)
        llvm = [*LLVM, "--no-inlines", f"--obj={path}"]
        cold = [ours[0], ours[1], "--no-index", *ours[2:], first]
        yield from self._row("a name, cold", cold, [*llvm, first], ONE, 1.0)
        subprocess.run(self._command("symbols", "--index", path), check=True, capture_output=True)
        yield from self._row("a name, indexed", [*ours, first], self._bare, ONE, 1.3)
        yield from self._row("100,000 names", ours, llvm, BATCH, 1.2, stdin=self._all)
        if subject.name == ADDR2LINE:
            gnu = ["addr2line", "-f", "-e", path]
            yield from self._row("100,000 names", ours, gnu, 1, 1 / 50, stdin=self._all)
        shutil.rmtree(self._cache)

    def lines(self) -> Iterator[Row]:
        """Lines and inlined calls, of the file with its debug information."""
        subject, path = self._subject, str(self._subject.path)
        first = f"{subject.addresses[0]:#x}"
        assert _agree(map(_placed_alike, self._asked("-i", path), _llvm(subject, path)))
        ours = self._command("symbolize", "--no-demangle", "-i", path)
        llvm = [*LLVM, f"--obj={path}"]
        budget = 0.7 if subject.aranges else 1.0
        cold = [ours[0], ours[1], "--no-index", *ours[2:], first]
        yield from self._row("lines, cold", cold, [*llvm, first], ONE, budget, memory=0.1)
        first_use = [*ours, first]
        shutil.rmtree(self._cache, ignore_errors=True)
        what = "lines, cold, and the index grows"
        yield from self._row(what, first_use, [*llvm, first], ONE // 3, budget, before=self._forget)
        self._forget()
        yield from self._whole(path, llvm)
        yield from self._row("lines, indexed", [*ours, first], self._bare, ONE, 1.5)
        many = self._row("100,000 lines", ours, llvm, BATCH, 0.5, memory=0.2, stdin=self._all)
        yield from many
        shutil.rmtree(self._cache)

    def _whole(self, path: str, llvm: list[str]) -> Iterator[Row]:
        """Building the whole index, and what it takes."""
        command = self._command("symbols", "--index", path)
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        built = (time.perf_counter() - begin) * 1e3
        peer = _measured(llvm, self._some)
        name = f"{self._subject.name}: "
        yield Row(
            what=f"{name}the whole index",
            ours=[built],
            peer=[peer],
            against="llvm-symbolizer, 10,000 addresses",
            budget=10.0,
        )
        size = sum(file.stat().st_size for file in self._cache.rglob("*") if file.is_file())
        yield Row(
            what=f"{name}the index's size",
            ours=[size / 1e6],
            peer=[self._subject.debug_bytes / 1e6],
            unit="MB",
            against="debug information",
            budget=0.25,
        )

    def _row(
        self,
        what: str,
        ours: Sequence[str],
        peer: Sequence[str],
        times: int,
        budget: float,
        *,
        memory: float = 0.0,
        stdin: Path = Path(os.devnull),
        before: Callable[[], None] = lambda: None,
    ) -> Iterator[Row]:
        mine, theirs = [], []
        for _ in range(times):
            before()
            mine.append(_measured(ours, stdin))
            theirs.append(_measured(peer, stdin))
        against = Path(peer[0]).name if peer != self._bare else "python -c pass"
        name = f"{self._subject.name}: {what}"
        yield Row(what=name, ours=mine, peer=theirs, against=against, budget=budget)
        needs = _memory(peer, stdin) if memory else 0.0
        if needs > NOTABLE:
            yield Row(
                what=f"{name}, memory",
                ours=[_memory(ours, stdin)],
                peer=[needs],
                unit="MB",
                against=against,
                budget=memory,
            )

    def _command(self, *words: str) -> list[str]:
        return [self._okld, *words]

    def _asked(self, *words: str) -> list[dict[str, Any]]:
        """Return the answers to some addresses."""
        asked = "".join(f"{a:#x}\n" for a in self._subject.addresses[:LOOKED_AT])
        command = self._command("symbolize", "--json", "--no-demangle", "--no-index", *words)
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _forget(self) -> None:
        """Wait until nobody adds to the index any more, and remove it."""
        time.sleep(0.2)
        for packs in self._cache.glob("symbols/*/"):
            folder = os.open(packs, os.O_RDONLY)
            flock(folder, LOCK_EX)
            os.close(folder)
        shutil.rmtree(self._cache, ignore_errors=True)


def _llvm(subject: Subject, path: str) -> list[list[tuple[str, str, int]]]:
    asked = "".join(f"{a:#x}\n" for a in subject.addresses[:LOOKED_AT])
    command = [*LLVM, "--output-style=JSON", f"--obj={path}"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return [
        [_frame(f["FunctionName"], f["FileName"], f["Line"]) for f in answer["Symbol"]]
        for answer in map(json.loads, done.stdout.splitlines())
    ]


def _frame(function: str | None, file: str | None, line: int | None) -> tuple[str, str, int]:
    # The peer has the symbol's name for the last frame, with the suffix of a clone: trap 23.
    return (function or "").partition(".")[0], os.path.normpath(file) if file else "", line or 0


def _named_alike(answer: dict[str, Any], theirs: list[tuple[str, str, int]]) -> bool:
    """Say whether the last frame has a name of the symbol: any alias is right, traps 4 and 5."""
    names = (answer["name"], answer.get("symbol"), *answer.get("aliases", ()))
    return theirs[-1][0] in {_frame(name, None, None)[0] for name in names}


def _placed_alike(answer: dict[str, Any], theirs: list[tuple[str, str, int]]) -> bool:
    """Say whether the frames are the same, but for which of the symbol's names the last has."""
    frames = answer.get("frames") or [{"function": answer["name"]}]
    found = [_frame(f["function"], f.get("file"), f.get("line")) for f in frames]
    if found == theirs:
        return True
    return (found[:-1], found[-1][1:]) == (theirs[:-1], theirs[-1][1:]) and _named_alike(
        answer, theirs
    )


def _agree(alike: Iterable[bool]) -> bool:
    """Say whether there is an answer to each address, and nearly all are the same."""
    answers = list(alike)
    return len(answers) == LOOKED_AT and sum(answers) >= AGREE * LOOKED_AT


def _measured(command: Sequence[str], stdin: Path) -> float:
    """Run a command to its end; return its milliseconds."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    begin = time.perf_counter_ns()
    child = os.posix_spawnp(command[0], command, environment, file_actions=actions)
    _, status = os.waitpid(child, 0)
    taken = (time.perf_counter_ns() - begin) / 1e6
    assert os.waitstatus_to_exitcode(status) in (0, 1), command
    return taken


def _memory(command: Sequence[str], stdin: Path) -> float:
    """
    Run a command to its end; return its largest memory in MB.

    By a process that is small itself: what this one has counts as a child's until its `execve`.
    """
    words = [sys.executable, "-c", PEAK, *command]
    with stdin.open() as file:
        done = subprocess.run(words, stdin=file, capture_output=True, text=True, check=True)
    return int(done.stderr.splitlines()[-1]) / 1024
