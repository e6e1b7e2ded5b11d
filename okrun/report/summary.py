"""What several reports say together. Times are nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from okrun.report.histogram import Histogram, percentile

if TYPE_CHECKING:
    from okrun.report.model import Clock, Ended, Image


@frozen(kw_only=True)
class Row:
    """
    Calls that belong together: those of one interface, or of one function.

    Attributes:
        name: Of the function, or of the interface; None for the functions that belong to none.
        interface: The function's interface, or None.
        count: How many calls began.
        total_ns: The time of those that returned; None where any of them was counted only.
        max_ns: The time of the longest; None likewise, and where it is not known.
        log2_ns: Their histogram, or None where they were counted only.
        share: Of all calls, from 0 to 1: of the time where all were timed, else of the count.
    """

    name: str | None
    interface: str | None
    count: int
    total_ns: int | None
    max_ns: int | None
    log2_ns: Histogram | None
    share: float

    @property
    def returned(self) -> int | None:
        """How many calls returned, or None where that is not known."""
        return None if self.log2_ns is None else sum(self.log2_ns)

    @property
    def mean_ns(self) -> float | None:
        """The time of a call that returned, on average, in nanoseconds, or None."""
        if self.total_ns is None or not self.returned:
            return None
        return self.total_ns / self.returned

    def percentile(self, percent: int) -> int | None:
        """Return the time that *percent* of the calls did not exceed, about, or None."""
        if self.log2_ns is None or self.max_ns is None:
            return None
        return percentile(self.log2_ns, self.max_ns, percent)


@frozen(kw_only=True)
class ImageRow:
    """
    The reports of one image.

    Attributes:
        image: The image.
        reports: How many they are.
        calls_measured: In how many of them calls were counted.
        elapsed_ns: The time of these runs, in nanoseconds, added up.
        count: How many calls.
        total_ns: Their time, or None where any of them was counted only.
    """

    image: Image
    reports: int
    calls_measured: int
    elapsed_ns: int
    count: int
    total_ns: int | None


@frozen(kw_only=True)
class PhaseRow:
    """
    The phases of one name; or what lies outside any phase.

    Attributes:
        name: The phases' name, or None for what lies outside.
        count: How many began; 0 for what lies outside.
        elapsed_ns: Their lengths in nanoseconds, added up.
        functions: One row for each function, greatest share of the phase's calls first.
        counters: (name, what it grew by, below 0 where it fell), in order of first registration.
    """

    name: str | None
    count: int
    elapsed_ns: int
    functions: tuple[Row, ...]
    counters: tuple[tuple[str, int], ...]


@frozen(kw_only=True)
class HeapRow:
    """
    What the images took from the heap.

    Attributes:
        files: Names of the DHAT files, each beside its report.
        blocks, bytes: Of all that was allocated.
        peak_blocks, peak_bytes: The most that one of the images had at once.
        end_blocks, end_bytes: Alive at the ends.
        overhead_ns: The most that measuring added to a block.
    """

    files: tuple[str, ...]
    blocks: int
    bytes: int
    peak_blocks: int
    peak_bytes: int
    end_blocks: int
    end_bytes: int
    overhead_ns: float


@frozen(kw_only=True)
class Summary:
    """
    What several reports say together. What is in an order "of first appearance" is in that of the
    reports; all else does not depend on their order.

    Attributes:
        reports: How many they are.
        runs: How many runs they belong to.
        calls_measured: In how many of the reports calls were counted.
        images: One row for each image, in order of first appearance.
        clocks: Each clock, with how many reports have it, likewise.
        ends: Each way to end, with how many ended so, likewise.
        elapsed_ns: The time of all, in nanoseconds, added up.
        tasks: The most that one of them had.
        timed: Whether every call was timed, and shares are of time.
        measuring_ns: What measuring has cost, about: what it adds to a call, or block, for each.
        interfaces: One row for each interface, greatest share first, then by name.
        functions: One row for each function, likewise.
        counters: (name, value) with the values added up, in order of first appearance.
        phases: One row for each name, likewise.
        outside: What lies outside any phase: all, less the phases; None where there is none.
        phases_left_out: How many phases are in `phases` and not in the reports' lists.
        lost: The names of counters that could not be read whole in some run.
        heap: None where no report has it.
    """

    reports: int
    runs: int
    calls_measured: int
    images: tuple[ImageRow, ...]
    clocks: tuple[tuple[Clock, int], ...]
    ends: tuple[tuple[Ended, int], ...]
    elapsed_ns: int
    tasks: int
    timed: bool
    measuring_ns: float
    interfaces: tuple[Row, ...]
    functions: tuple[Row, ...]
    counters: tuple[tuple[str, int], ...]
    phases: tuple[PhaseRow, ...]
    outside: PhaseRow | None
    phases_left_out: int
    lost: tuple[str, ...]
    heap: HeapRow | None
