"""Where the programs are that are installed with these packages."""

from __future__ import annotations

import os

_SITE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
COMMANDS = (os.path.dirname(os.path.dirname(os.path.dirname(_SITE))) + "/bin/", _SITE + "/bin/")
"""Where an installer puts programs: beside the commands of a prefix, or in `bin` of a target."""


def directory() -> str:
    """Return the directory that has the host program, and with it the others; "" for none."""
    return next((each for each in COMMANDS if os.path.exists(each + "okhost")), "")


def program(name: str) -> str:
    """Return where the program *name* is, or should be."""
    return (directory() or COMMANDS[0]) + name
