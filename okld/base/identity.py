"""Which file this is, as far as the system can say without reading it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

FIELDS = ("device", "inode", "length", "modification time", "change time")
"""What an identity consists of, in order; times in nanoseconds since 1970."""

SETTLED = 2 * 10**9  # ns; the coarsest time stamps of local file systems are seconds


def identity_of(status: os.stat_result) -> tuple[int, ...]:
    """Return the values of `FIELDS`. Source: CAC-1, IDX-3."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def difference(then: tuple[int, ...], now: tuple[int, ...]) -> str:
    """Return the first of `FIELDS` that differs, or ""."""
    for name, was, is_now in zip(FIELDS, then, now, strict=True):
        if was != is_now:
            return name
    return ""


def unsettled(status: os.stat_result, now: int) -> str:
    """
    Return why the times of the file do not tell a later change from none, or "".

    *now* is in nanoseconds since 1970. Source: CAC-3, IDX-4.
    """
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    if latest > now:
        return "the file's times are in the future"
    if now - latest < SETTLED:
        return "the file changed less than 2 s ago"
    return ""
