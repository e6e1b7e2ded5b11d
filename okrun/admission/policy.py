"""What a user asks for before an image runs: any, a signature, or a signature that is trusted."""

from __future__ import annotations

import os

from okld.base.errors import OkError, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

POLICIES = ("any", "signed", "trusted")
"""From the weakest to the strictest."""

FILE, VARIABLE, OPTION = "policy", "OKRUN_POLICY", "--policy"
TRUST_FILE = "allowed_signers"

_TYPE, _REGULAR = 0o170000, 0o100000
_OTHERS_WRITE = 0o022

MAX_SETTING = 1 << 20  # bytes of a file of settings; people write a few lines


def read_policy(option: str, environ: Mapping[str, str], config_dir: str | None) -> str:
    """
    Return the strictest of the policies of the option, the environment and the user's settings.

    Raises:
        OkError: ADM-8, if one of them is none: nobody knows what was meant, so nothing runs.
        Unreadable: As `read_setting`.

    Source: ADM-8.
    """
    chosen = POLICIES[0]
    setting = read_setting(config_dir, FILE)
    for source, word in (
        (OPTION, option),
        (VARIABLE, environ.get(VARIABLE, "")),
        (f"{config_dir}/{FILE}", setting.decode("utf-8", "surrogateescape").strip()),
    ):
        if not word:
            continue
        if word not in POLICIES:
            what = f"{source} takes {', '.join(POLICIES)} (got '{word}')"
            raise OkError(what, rule="ADM-8")
        chosen = max(chosen, word, key=POLICIES.index)
    return chosen


def read_setting(config_dir: str | None, name: str) -> bytes:
    """
    Return the bytes of one file of the user's settings; none where the user has none.

    A file that this process may not read is another user's.

    Raises:
        OkError: ADM-8, if somebody else can change it.
        Unreadable: If there is one that the system does not give, or that is too long to be one.
    """
    if config_dir is None:
        return b""
    path = f"{config_dir}/{name}"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return b""
    except OSError as error:
        raise Unreadable("settings", path, error) from None
    try:
        _require_ours(os.fstat(fd), path)
        data = b""
        while len(data) <= MAX_SETTING:
            more = os.read(fd, MAX_SETTING + 1 - len(data))
            if not more:
                return data
            data += more
    except OSError as error:
        raise Unreadable("settings", path, error) from None
    finally:
        os.close(fd)
    raise Unreadable("settings", path, OSError(f"longer than {MAX_SETTING} bytes"))


def _require_ours(status: os.stat_result, path: str) -> None:
    if status.st_mode & _TYPE != _REGULAR:
        raise Unreadable("settings", path, OSError(0, "not a regular file"))
    if status.st_uid not in (os.geteuid(), 0) or status.st_mode & _OTHERS_WRITE:
        raise OkError(f"{path} can be changed by others; chown and chmod go-w it", rule="ADM-8")
