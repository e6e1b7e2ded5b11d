"""What a comparison of two sides says. Times are nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from okrun.report.side import Side
    from okrun.report.significance import Shift

BOTH, NEW, GONE = "both", "new", "gone"
SLOWER, FASTER = "slower", "faster"


@frozen(kw_only=True)
class Change:
    """
    How a time moved from A to B.

    Attributes:
        shift: How far, with its interval.
        p_adjusted: Its p beside all that the comparison tests.
        mark: ``slower`` or ``faster`` where that is no chance; else None.
        needs: How many runs a side it takes before it can have a mark; None where there are enough.
    """

    shift: Shift
    p_adjusted: float
    mark: str | None
    needs: int | None


@frozen(kw_only=True)
class TimeRow:
    """
    The time of one thing: in a run, as the middle one of each side's runs has it.

    Attributes:
        kind, name: See `okrun.report.side.Key`.
        interface: Of a call, or None.
        presence: ``new`` if no run of A has it, ``gone`` if none of B; else ``both``.
        a_ns, b_ns: In a run.
        total: How that moved; None where it is new or gone.
        a_each_ns, b_each_ns: Of one call, on average; None of what is no call and of calls none of
            which returned.
        each: How that moved, where it can be told: the same as *total* if every run has as many
            calls.
    """

    kind: str
    name: str
    interface: str | None
    presence: str
    a_ns: float
    b_ns: float
    total: Change | None
    a_each_ns: float | None
    b_each_ns: float | None
    each: Change | None

    @property
    def moved_ns(self) -> float:
        """How much longer a run of B takes."""
        return self.b_ns - self.a_ns


@frozen(kw_only=True)
class CountRow:
    """
    An exact count: the least and the greatest that a run of each side has.

    Attributes:
        kind, name, interface, presence: As in `TimeRow`.
        a, b: (least, greatest).
    """

    kind: str
    name: str
    interface: str | None
    presence: str
    a: tuple[int, int]
    b: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether every run of both sides has the same."""
        return self.a == self.b and self.a[0] == self.a[1]

    @property
    def varies(self) -> bool:
        """Whether runs of one side differ."""
        return self.a[0] != self.a[1] or self.b[0] != self.b[1]


@frozen(kw_only=True)
class Diff:
    """
    What has changed from A to B.

    Attributes:
        a, b: The sides.
        notes: What may stand in the way of comparing them, a sentence each.
        times: Whose time moved most, first.
        counts: By kind.
        tested: How many changes of times were tested together.
        needs: How many runs a side it takes before any of them can have a mark; None where there
            are enough.
    """

    a: Side
    b: Side
    notes: tuple[str, ...]
    times: tuple[TimeRow, ...]
    counts: tuple[CountRow, ...]
    tested: int
    needs: int | None
