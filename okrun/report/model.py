"""What a report says, as SPEC 12.4 defines it. Times are whole nanoseconds."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Image:
    """
    The image that ran.

    Attributes:
        path: As it was given; bytes that are not UTF-8 as lone surrogates.
        build_id: In hexadecimal, or None.
        arch: ``x86_64`` or ``aarch64``.
    """

    path: str
    build_id: str | None
    arch: str


@frozen(kw_only=True)
class Ended:
    """
    How the run ended.

    Attributes:
        by: ``return``, ``exit``, ``abort`` or ``signal``.
        status: What a shell would show, 0 to 255.
        signal: The number of the signal that ended it, or None.
    """

    by: str
    status: int
    signal: int | None


@frozen(kw_only=True)
class Clock:
    """
    What the times were taken with.

    Attributes:
        source: ``tsc``, ``cntvct`` or ``monotonic``.
        overhead_ns: What measuring adds to one call.
    """

    source: str
    overhead_ns: float


@frozen(kw_only=True)
class Call:
    """
    The calls of one function.

    Attributes:
        name: The function.
        interface: Its interface; None for ``kal_version`` and ``kal_interfaces``.
        count: How many calls.
        total_ns: The time of all; this and the next two are None where only counts were taken.
        max_ns: The time of the longest.
        log2_ns: Entry i counts the calls of at least 2^i ns and less than twice that; entry 0
            those of 0 and 1 ns.
    """

    name: str
    interface: str | None
    count: int
    total_ns: int | None
    max_ns: int | None
    log2_ns: tuple[int, ...] | None


@frozen(kw_only=True)
class Counter:
    """A counter that the program registered, and its value at the end."""

    name: str
    value: int


@frozen(kw_only=True)
class Phase:
    """A phase that the program named: its start, counted from the program's, and its length."""

    name: str
    start_ns: int
    elapsed_ns: int


@frozen(kw_only=True)
class Report:
    """
    One measured run.

    Attributes:
        id: Unique; the ``<id>`` of the file's name.
        image: The image that ran.
        pid: Of its process.
        argv: Its arguments, the image's path first.
        what: What was measured.
        started_ns: The wall clock at its start, since 1970.
        elapsed_ns: From start to end.
        ended: How it ended.
        clock: What the times were taken with.
        calls: By function, in the surface's order.
        counters: In order of first registration.
        phases: In order.
        lost: The names of counters that could not be read whole.
    """

    id: str
    image: Image
    pid: int
    argv: tuple[str, ...]
    what: tuple[str, ...]
    started_ns: int
    elapsed_ns: int
    ended: Ended
    clock: Clock
    calls: tuple[Call, ...]
    counters: tuple[Counter, ...]
    phases: tuple[Phase, ...]
    lost: tuple[str, ...]
