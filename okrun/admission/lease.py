"""The system's word that nobody writes to a file.

No time stamp tells of a writer through a shared mapping: what it has written once, it writes again
without a trace. A lease for reading is granted only where no writer lives, and tells of any that
comes. Source: fcntl(2); CAC-4.
"""

from __future__ import annotations

import fcntl
import signal


class Lease:
    """
    A lease on an open file, from now until `end`.

    Attributes:
        refused: Why there is none, or "".
    """

    __slots__ = ("_fd", "refused")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.refused = ""
        try:
            # The signal that a writer comes would end this process; this one is ignored.
            fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            self.refused = "somebody is writing to the file"
        except PermissionError:
            self.refused = "only its owner may ask whether somebody is writing to the file"
        except OSError as error:
            self.refused = f"nothing says whether somebody is writing to the file: {error.strerror}"

    def check(self) -> None:
        """End the lease where a writer waits for that: it may wait no longer than for a block."""
        if self.refused:
            return
        try:
            if fcntl.fcntl(self._fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
                return
        except OSError:
            pass
        self.end()
        self.refused = "somebody began to write to the file"

    def end(self) -> None:
        """Give the lease back, where there is one."""
        try:
            fcntl.fcntl(self._fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            fcntl.fcntl(self._fd, fcntl.F_SETSIG, 0)
        except OSError:
            return
