"""Where a user's files are: settings, and what can be found out again.

The answers are those of the XDG Base Directory Specification, as `platformdirs` gives them; its
import would take longer than a whole start, and a test holds the two equal.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

AT_SECURE = 23  # of <elf.h>


def config_dir(
    application: str, environ: Mapping[str, str] = os.environ, *, elevated: bool
) -> str | None:
    """
    Return the directory of the user's settings for *application*, or None where there is no place.

    Args:
        application: Its name.
        environ: What the user says.
        elevated: As `is_elevated` says; whoever started this process then has no say.

    Source: CAC-9, ADM-8.
    """
    return _user_dir(application, {} if elevated else environ, "XDG_CONFIG_HOME", "/.config")


def cache_dir(
    application: str, environ: Mapping[str, str] = os.environ, *, elevated: bool
) -> str | None:
    """
    Return the directory of what *application* can find out again, or None where there is to be
    none: the user's, or what APPLICATION_CACHE_DIR names, which is no place unless it is absolute.

    The arguments are those of `config_dir`; for an elevated process there is none.

    Source: CAC-9, CAC-10, IDX-1.
    """
    if elevated:
        return None
    own = environ.get(f"{application.upper()}_CACHE_DIR", "")
    if own:
        return own if own.startswith("/") else None
    return _user_dir(application, environ, "XDG_CACHE_HOME", "/.cache")


def is_elevated() -> bool:
    """
    Say whether this process has rights that whoever started it has not.

    Source: CAC-10; `AT_SECURE` of getauxval(3).
    """
    if os.geteuid() != os.getuid() or os.getegid() != os.getgid():
        return True
    try:
        fd = os.open("/proc/self/auxv", os.O_RDONLY)
    except OSError:
        return False
    try:
        vector = os.read(fd, 4096)
    finally:
        os.close(fd)
    return _auxiliary(vector, AT_SECURE) != 0


def _auxiliary(vector: bytes, kind: int) -> int:
    """Return the value of one kind of a vector of pairs of words, or 0."""
    for at in range(0, len(vector) - 15, 16):
        if int.from_bytes(vector[at : at + 8], "little") == kind:
            return int.from_bytes(vector[at + 8 : at + 16], "little")
    return 0


def _user_dir(
    application: str, environ: Mapping[str, str], variable: str, below_home: str
) -> str | None:
    base = environ.get(variable, "")
    if not base.startswith("/"):  # a relative one is to be ignored, says the standard
        home = _home(environ)
        if not home:
            return None
        base = home + below_home
    return f"{base.rstrip('/')}/{application}"


def _home(environ: Mapping[str, str]) -> str:
    """Return HOME, or else what the user database says; "" where that is no place for a user."""
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        from pwd import getpwuid

        try:
            home = getpwuid(os.geteuid()).pw_dir
        except KeyError:
            return ""
    return home.rstrip("/") if home.startswith("/") else ""
