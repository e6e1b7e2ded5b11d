"""Standard input: addresses, answered as they come, and lines of logs, rewritten. Source: ADR-5."""

from __future__ import annotations

import os
import sys

from okld.base.errors import OkError, Unreadable
from okld.cli.address import MAX_DIGITS, named, number, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from okld.cli.answers import Answers
    from okld.syms.logs.engine import Engine

SOME = 120_000  # bytes; ten thousand addresses
ALL = 1 << 21  # bytes; a hundred thousand addresses, and more of short ones
MOST = 1 << 17  # addresses that are answered at a time; the lines of some take 1 KB each
PIPE = 1 << 16  # bytes that a pipe holds; who fills it has more to say
PAUSE = 5  # ms that such a writer is waited for


def blocks(size: Callable[[], int] = lambda: SOME) -> Iterator[bytes]:
    """
    Give what standard input holds in blocks of whole lines, each as soon as it is there; the last
    line may have no end. A line that is longer than a block is given in pieces.

    Args:
        size: Gives for each block how many bytes it is to have at most.

    Raises:
        OkError: If standard input is closed.
        Unreadable: If it cannot be read.
    """
    if sys.stdin is None:
        raise OkError("standard input is closed")
    rest = b""
    limit = size()
    while chunk := _read(limit):
        text = rest + chunk
        end = text.rfind(b"\n") + 1
        if not end and len(text) > limit:
            end = len(text)
        rest = text[end:]
        if end:
            yield text[:end]
        limit = size()
    if rest:
        yield rest


def _read(limit: int) -> bytes:
    """Return what is there: of a writer who does not pause, all up to *limit* bytes."""
    try:
        data = more = os.read(0, limit)
        while len(data) < limit and len(more) >= PIPE // 2 and _has_more():
            more = os.read(0, limit - len(data))
            data += more
    except OSError as error:
        raise Unreadable("cannot read standard input", "", error) from None
    return data


def _has_more() -> bool:
    from select import POLLIN, poll

    waiting = poll()
    waiting.register(0, POLLIN)
    return bool(waiting.poll(PAUSE))


def _shares(block: bytes) -> Iterator[bytes]:
    """Give whole lines of *block* in parts of about MOST, as short lines are many."""
    size = MOST * len(block) // max(MOST, block.count(b"\n"))
    at = 0
    while at < len(block):
        end = block.find(b"\n", at + size - 1) + 1 or len(block)
        yield block[at:end]
        at = end


def _lines(block: bytes) -> Iterator[bytes]:
    """Give each line with its end; a carriage return ends none: progress is written with it."""
    at = 0
    while at < len(block):
        end = block.find(b"\n", at) + 1 or len(block)
        yield block[at:end]
        at = end


class Stream:
    """Answers every address that it reads, and hands every other line to an engine of logs."""

    def __init__(self, answers: Answers, engine: Callable[[], Engine] | None, out: TextIO) -> None:
        """
        Write to *out*, to which *answers* writes.

        Args:
            answers: Takes addresses.
            engine: Gives what takes lines of logs and writes to `out.buffer`; None: nobody does.
            out: Where the results go.
        """
        self._answers = answers
        self._engine = engine
        self._log: Engine | None = None
        self._out = out

    def read(self) -> bool:
        """
        Take all of standard input, and say whether all of its addresses had names.

        Raises:
            OkError: If a line is no address and there is nobody else to take it.
            Unreadable: If standard input cannot be read.
        """
        is_cut = False  # whether the block before ended within a line, of which this has more
        for block in blocks(self._size):
            was_cut, is_cut = is_cut, len(block) > SOME and not block.endswith(b"\n")
            if was_cut or is_cut:
                self._pieces(block, was_cut, is_cut)
                continue
            for share in _shares(block):
                self._share(share)
            self._out.flush()
        self._finish_log()
        return not self._answers.missed and not (self._log and self._log.counts.missed)

    def _share(self, block: bytes) -> None:
        """Take whole lines."""
        values = numbers(block)
        if values is not None:
            self._finish_log()
            self._answers.numbers(values)
        else:
            for line in _lines(block):
                self._line(line)

    def _pieces(self, block: bytes, was_cut: bool, is_cut: bool) -> None:
        """Take a block that begins, or ends, with a piece of a line: that is no address."""
        lines = list(_lines(block))
        for at, line in enumerate(lines):
            if (was_cut and at == 0) or (is_cut and at == len(lines) - 1):
                self._pass(line)
            else:
                self._line(line)
        self._out.flush()

    def _pass(self, line: bytes) -> None:
        if self._engine is None:
            raise OkError(
                f"a line is no address (got {len(line)} bytes of one, limit {MAX_DIGITS})"
            )
        self._log = self._log or self._engine()
        self._out.flush()
        self._log.feed(line)

    def _size(self) -> int:
        """Return how much is best read at a time: of lines of an index, which are long, a part."""
        return SOME if self._answers.is_indexed else ALL

    def _line(self, line: bytes) -> None:
        word = line.strip().decode("utf-8", "surrogateescape")
        if is_address(word) or (word and self._engine is None):
            self._finish_log()
            self._answers.words((word,))
        elif self._engine is not None:
            self._pass(line)

    def _finish_log(self) -> None:
        """Have written what waits for a later line of the log."""
        if self._log is not None:
            self._log.finish()


def is_address(word: str) -> bool:
    """Say whether a line is one that is asked. Source: ADR-3."""
    return number(word) is not None or named(word) is not None
