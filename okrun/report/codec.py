"""From a report's bytes to a `Report`. The host writes reports (okrun/host/report.c), Python reads.

The format is SPEC 12.4, one JSON object. Keys that are not named there are left alone, so that a
later writer can say more. History: 1, the first; 2, begun when the image begins, and phases carry
calls and counters; also `run`, `tasks` and `heap`.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from okld.base.errors import FormatError
from okrun.report.model import (
    Call,
    Clock,
    Counter,
    Ended,
    Head,
    Heap,
    Image,
    Phase,
    PhaseTotal,
    Report,
)

SCHEMA = 2
MAX_SIZE = 64 << 20
"""In bytes; a report of every function and of thousands of counters is far below a tenth of it."""

MAX_HEAD = 4 << 20
"""In bytes; the arguments of a process take no more than half of it on Linux, mostly escaped."""

ENDS = ("return", "exit", "abort", "signal")
BUCKETS = 64
WORD = 2**64 - 1

Named = TypeVar("Named", Call, Counter, PhaseTotal)


def decode(data: bytes) -> Report:
    """
    Return the report that *data* holds.

    Raises:
        FormatError: REP-1, if it is no report of schema 2, or its parts contradict each other.
    """
    return _report(_schema_2(data))


def decode_head(line: bytes) -> Head:
    """
    Return the head that *line* is: the first of a report's lines, or of what was begun as one.

    Raises:
        FormatError: REP-1, if it is no head of a report of schema 2.
    """
    return Head(**_head(_schema_2(line.removesuffix(b"\n").removesuffix(b",") + b"}")))


def _schema_2(data: bytes) -> _Keys:
    keys = _Keys(_json(data), "the report")
    schema = keys.count("okprof")
    if schema != SCHEMA:
        raise FormatError("REP-1", f"a report of schema {schema}, and this okprof reads {SCHEMA}")
    return keys


def _json(data: bytes) -> object:
    try:
        return json.loads(data.decode(), parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise FormatError("REP-1", "not a report: nested too deep") from None
    except UnicodeDecodeError as error:
        raise FormatError("REP-1", "not a report: not UTF-8", at=error.start) from None
    except ValueError as error:
        raise FormatError("REP-1", f"not a report: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is given twice")
    return value


class _Keys:
    """The keys of one JSON object, each taken with the type that it has to have."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise FormatError("REP-1", f"not a report: {where} is not an object")
        self._value: dict[str, Any] = value
        self._where = where

    def _wrong(self, key: str, wanted: str) -> FormatError:
        return FormatError("REP-1", f"not a report: {key} of {self._where} is not {wanted}")

    def _get(self, key: str) -> Any:
        if key not in self._value:
            raise FormatError("REP-1", f"not a report: {self._where} has no {key}")
        return self._value[key]

    def is_null(self, key: str) -> bool:
        return self._get(key) is None

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def text_or_null(self, key: str) -> str | None:
        return None if self.is_null(key) else self.text(key)

    def count(self, key: str, limit: int = WORD) -> int:
        value = self._get(key)
        if type(value) is not int or not 0 <= value <= limit:
            raise self._wrong(key, f"a whole number from 0 to {limit}")
        return value

    def count_or_null(self, key: str, limit: int = WORD) -> int | None:
        return None if self.is_null(key) else self.count(key, limit)

    def number(self, key: str) -> float:
        value = self._get(key)
        if type(value) not in (int, float) or not 0 <= value <= WORD:
            raise self._wrong(key, "a number")
        return float(value)

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise self._wrong(key, f"one of {', '.join(choices)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, "a list of text")
        return tuple(value)

    def counts_or_null(self, key: str, length: int) -> tuple[int, ...] | None:
        value = self._get(key)
        if value is None:
            return None
        if (
            not isinstance(value, list)
            or len(value) > length
            or not set(map(type, value)) <= {int}  # neither this nor what follows runs Python code
            or not (min(value, default=0) >= 0 and max(value, default=0) <= WORD)
        ):
            raise self._wrong(key, f"a list of at most {length} counts")
        return tuple(value)

    def part(self, key: str) -> _Keys:
        return _Keys(self._get(key), key)

    def parts(self, key: str) -> tuple[_Keys, ...]:
        value = self._get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return tuple(_Keys(each, f"an entry of {key}") for each in value)


def _report(keys: _Keys) -> Report:
    calls = _each_once("calls", tuple(_call(each) for each in keys.parts("calls")))
    of_run = {call.name: call for call in calls}
    totals = tuple(_phase_total(each, of_run) for each in keys.parts("phase_totals"))
    return Report(
        **_head(keys),
        elapsed_ns=keys.count("elapsed_ns"),
        ended=_ended(keys.part("ended")),
        clock=_clock(keys.part("clock")),
        tasks=keys.count("tasks"),
        calls=calls,
        counters=_counters(keys),
        phases=tuple(_phase(each) for each in keys.parts("phases")),
        phases_left_out=keys.count("phases_left_out"),
        phase_totals=_each_once("phase_totals", totals),
        lost=keys.texts("lost"),
        heap=_heap(keys),
    )


def _head(keys: _Keys) -> dict[str, Any]:
    return {
        "id": keys.text("id"),
        "run": keys.text_or_null("run"),
        "image": _image(keys.part("image")),
        "pid": keys.count("pid"),
        "argv": keys.texts("argv"),
        "what": keys.texts("what"),
        "started_ns": keys.count("started_ns"),
    }


def _each_once(key: str, named: tuple[Named, ...]) -> tuple[Named, ...]:
    if len({each.name for each in named}) != len(named):
        raise FormatError("REP-1", f"not a report: {key} has a name twice")
    return named


def _image(keys: _Keys) -> Image:
    return Image(
        path=keys.text("path"), build_id=keys.text_or_null("build_id"), arch=keys.text("arch")
    )


def _ended(keys: _Keys) -> Ended:
    ended = Ended(
        by=keys.one_of("by", ENDS),
        status=keys.count("status", 255),
        signal=keys.count_or_null("signal", 127),
    )
    if (ended.by in ("abort", "signal")) != (ended.signal is not None):
        raise FormatError("REP-1", f"not a report: ended by {ended.by}, signal {ended.signal}")
    return ended


def _clock(keys: _Keys) -> Clock:
    return Clock(source=keys.text("source"), overhead_ns=keys.number("overhead_ns"))


def _call(keys: _Keys) -> Call:
    call = _times(keys, keys.text_or_null("interface"))
    if call.log2_ns is not None and sum(call.log2_ns) > call.count:
        raise FormatError("REP-1", f"not a report: more calls of {call.name} returned than began")
    return call


def _times(keys: _Keys, interface: str | None) -> Call:
    """Return calls of a function; of a phase's, more may have returned in it than began in it."""
    call = Call(
        name=keys.text("name"),
        interface=interface,
        count=keys.count("count"),
        total_ns=keys.count_or_null("total_ns"),
        max_ns=keys.count_or_null("max_ns"),
        log2_ns=keys.counts_or_null("log2_ns", BUCKETS),
    )
    if len({call.total_ns is None, call.max_ns is None, call.log2_ns is None}) > 1:
        raise FormatError("REP-1", f"not a report: {call.name} has some times and lacks others")
    if (call.max_ns or 0) > (call.total_ns or 0):
        raise FormatError("REP-1", f"not a report: the longest of {call.name} is longer than all")
    return call


def _counters(keys: _Keys) -> tuple[Counter, ...]:
    counters = (
        Counter(name=each.text("name"), value=each.count("value"))
        for each in keys.parts("counters")
    )
    return _each_once("counters", tuple(counters))


def _phase(keys: _Keys) -> Phase:
    return Phase(
        name=keys.text("name"),
        start_ns=keys.count("start_ns"),
        elapsed_ns=keys.count("elapsed_ns"),
    )


def _phase_total(keys: _Keys, of_run: dict[str, Call]) -> PhaseTotal:
    calls = []
    for each in keys.parts("calls"):
        name = each.text("name")
        if name not in of_run:
            raise FormatError("REP-1", f"not a report: a phase has calls of {name}, the run none")
        call = _times(each, of_run[name].interface)
        if (call.log2_ns is None) != (of_run[name].log2_ns is None):
            raise FormatError("REP-1", f"not a report: not all calls of {name} have times")
        calls.append(call)
    return PhaseTotal(
        name=keys.text("name"),
        count=keys.count("count"),
        elapsed_ns=keys.count("elapsed_ns"),
        calls=_each_once("a phase", tuple(calls)),
        counters=_counters(keys),
    )


def _heap(keys: _Keys) -> Heap | None:
    if keys.is_null("heap"):
        return None
    heap = keys.part("heap")
    return Heap(
        file=heap.text_or_null("file"),
        blocks=heap.count("blocks"),
        bytes=heap.count("bytes"),
        peak_blocks=heap.count("peak_blocks"),
        peak_bytes=heap.count("peak_bytes"),
        end_blocks=heap.count("end_blocks"),
        end_bytes=heap.count("end_bytes"),
        overhead_ns=heap.number("overhead_ns"),
    )
