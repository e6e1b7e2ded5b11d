"""From a report's bytes to a `Report`. The host writes reports (okrun/host/report.c), Python reads.

The format is SPEC 12.4, one JSON object. Keys that are not named there are left alone, so that a
later writer can say more. History: 1, the first.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from okld.base.errors import FormatError
from okrun.report.model import Call, Clock, Counter, Ended, Image, Phase, Report

SCHEMA = 1
MAX_SIZE = 64 << 20
"""In bytes; a report of every function and of thousands of counters is far below a tenth of it."""

ENDS = ("return", "exit", "abort", "signal")
WORD = 2**64 - 1


def decode(data: bytes) -> Report:
    """
    Return the report that *data* holds.

    Raises:
        FormatError: REP-1, if it is no report of schema 1.
    """
    return _report(_Keys(_json(data), "the report"))


def _json(data: bytes) -> object:
    try:
        return json.loads(data.decode(), parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise FormatError("REP-1", "not a report: nested too deep") from None
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

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def text_or_null(self, key: str) -> str | None:
        return None if self._get(key) is None else self.text(key)

    def count(self, key: str, limit: int = WORD) -> int:
        value = self._get(key)
        if type(value) is not int or not 0 <= value <= limit:
            raise self._wrong(key, f"a whole number from 0 to {limit}")
        return value

    def count_or_null(self, key: str, limit: int = WORD) -> int | None:
        return None if self._get(key) is None else self.count(key, limit)

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
            or not all(type(each) is int and 0 <= each <= WORD for each in value)
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
    schema = keys.count("okprof")
    if schema != SCHEMA:
        raise FormatError("REP-1", f"not a report of schema {SCHEMA}, but of {schema}")
    return Report(
        id=keys.text("id"),
        image=_image(keys.part("image")),
        pid=keys.count("pid"),
        argv=keys.texts("argv"),
        what=keys.texts("what"),
        started_ns=keys.count("started_ns"),
        elapsed_ns=keys.count("elapsed_ns"),
        ended=_ended(keys.part("ended")),
        clock=_clock(keys.part("clock")),
        calls=tuple(map(_call, keys.parts("calls"))),
        counters=tuple(map(_counter, keys.parts("counters"))),
        phases=tuple(map(_phase, keys.parts("phases"))),
        lost=keys.texts("lost"),
    )


def _image(keys: _Keys) -> Image:
    return Image(
        path=keys.text("path"), build_id=keys.text_or_null("build_id"), arch=keys.text("arch")
    )


def _ended(keys: _Keys) -> Ended:
    return Ended(
        by=keys.one_of("by", ENDS),
        status=keys.count("status", 255),
        signal=keys.count_or_null("signal", 127),
    )


def _clock(keys: _Keys) -> Clock:
    return Clock(source=keys.text("source"), overhead_ns=keys.number("overhead_ns"))


def _call(keys: _Keys) -> Call:
    call = Call(
        name=keys.text("name"),
        interface=keys.text_or_null("interface"),
        count=keys.count("count"),
        total_ns=keys.count_or_null("total_ns"),
        max_ns=keys.count_or_null("max_ns"),
        log2_ns=keys.counts_or_null("log2_ns", 64),
    )
    if len({call.total_ns is None, call.max_ns is None, call.log2_ns is None}) > 1:
        raise FormatError("REP-1", f"not a report: {call.name} has some times and lacks others")
    return call


def _counter(keys: _Keys) -> Counter:
    return Counter(name=keys.text("name"), value=keys.count("value"))


def _phase(keys: _Keys) -> Phase:
    return Phase(
        name=keys.text("name"),
        start_ns=keys.count("start_ns"),
        elapsed_ns=keys.count("elapsed_ns"),
    )
