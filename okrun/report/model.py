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
class PhaseTotal:
    """
    All phases of one name.

    Attributes:
        name: Their name.
        count: How many began.
        elapsed_ns: Their lengths, added up.
        calls: By function: the counts of those that began in them, and the times of those that
            returned in them.
        counters: What each counter grew by in them, modulo 2^64.
    """

    name: str
    count: int
    elapsed_ns: int
    calls: tuple[Call, ...]
    counters: tuple[Counter, ...]


@frozen(kw_only=True)
class Heap:
    """
    What the image took from the heap.

    Attributes:
        file: The name of the DHAT file beside the report, or None where it could not be written.
        blocks, bytes: Of all that was allocated.
        peak_blocks, peak_bytes: Alive when the most bytes were.
        end_blocks, end_bytes: Alive at the end.
        overhead_ns: What measuring adds to a block.
    """

    file: str | None
    blocks: int
    bytes: int
    peak_blocks: int
    peak_bytes: int
    end_blocks: int
    end_bytes: int
    overhead_ns: float


@frozen(kw_only=True)
class Head:
    """
    What a report says from its beginning on; the attributes are those of `Report`.

    A run that goes on, or that left no report, has said no more.
    """

    id: str
    run: str | None
    image: Image
    pid: int
    argv: tuple[str, ...]
    what: tuple[str, ...]
    started_ns: int


@frozen(kw_only=True)
class Report:
    """
    One measured run of one image.

    Attributes:
        id: Unique; the ``<id>`` of the file's name.
        run: The run of ``okprof record`` that it belongs to, or None.
        image: The image that ran.
        pid: Of its process, in its own PID namespace.
        argv: Its arguments, the image's path first.
        what: What was measured.
        started_ns: The wall clock at its start, since 1970.
        elapsed_ns: From start to end.
        ended: How it ended.
        clock: What the times were taken with.
        tasks: How many tasks it had, the first included.
        calls: By function, in the surface's order.
        counters: In order of first registration.
        phases: In order.
        phases_left_out: How many more there were.
        phase_totals: By name, in order of first beginning.
        lost: The names of counters that could not be read whole.
        heap: What it took from the heap, or None where that was not measured.
    """

    id: str
    run: str | None
    image: Image
    pid: int
    argv: tuple[str, ...]
    what: tuple[str, ...]
    started_ns: int
    elapsed_ns: int
    ended: Ended
    clock: Clock
    tasks: int
    calls: tuple[Call, ...]
    counters: tuple[Counter, ...]
    phases: tuple[Phase, ...]
    phases_left_out: int
    phase_totals: tuple[PhaseTotal, ...]
    lost: tuple[str, ...]
    heap: Heap | None

    @property
    def counts_calls(self) -> bool:
        """Whether calls were counted; where they were not, that there are none says nothing."""
        return bool(self.calls) or "calls" in self.what or "count" in self.what
