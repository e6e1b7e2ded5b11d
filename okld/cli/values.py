"""What options name is there and of its kind, before anything is read: also what no answer needs.

Only commands that are given such an option import this.
"""

from __future__ import annotations

import os
import stat

from okld.base.errors import OkError, Unreadable
from okld.image.macho_slices import is_architecture
from okld.image.open import foreign_kind, open_file
from okld.syms.modules import parse_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from okld.cli.quick import Words

MAX_PORT = 65535
SCHEMES = ("http", "https")
ELF_MAGIC = b"\x7fELF"
DSYM = "Contents/Resources/DWARF"  # in a directory that is a file with debug information, to Apple


def require(args: Words | Namespace) -> None:
    """
    Return when all values of options are right.

    Raises:
        OkError: With the first that is not, and the option's name.

    Source: ADR-13.
    """
    if args.sysroot is not None:
        _require_directory("--sysroot", args.sysroot, args.sysroot)
    for path in args.debug_dirs:
        is_below = args.sysroot is not None and path.startswith("/")
        _require_directory("--debug-dir", path, args.sysroot + path if is_below else path)
    for url in args.debuginfod:
        _require_url("--debuginfod", url)
    for word in getattr(args, "modules", ()):
        _require_program("--module", parse_module(word)[1])
    debug_file = getattr(args, "debug_file", None)
    if debug_file is not None and not os.path.isdir(os.path.join(debug_file, DSYM)):
        _require_program("--debug-file", debug_file)
    architecture = getattr(args, "arch", None)
    if architecture is not None and not is_architecture(architecture):
        raise OkError(f"--arch: neither an architecture nor a UUID: {architecture}")


def _require_directory(option: str, name: str, path: str) -> None:
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise OkError(f"{option}: not a directory: {name}")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "a path holds no NUL"
        raise OkError(f"{option}: {name}: {why}") from None


def _require_url(option: str, url: str) -> None:
    scheme, _, rest = url.partition("://")
    host, _, port = rest.partition("/")[0].rpartition("@")[2].partition(":")
    if host.startswith("["):  # [::1]:8002
        host, _, port = rest.partition("/")[0].rpartition("@")[2].rpartition("]")
        port = port.removeprefix(":")
    is_clean = url.isascii() and url.isprintable() and " " not in url
    is_port = (port or "0").isdigit() and int(port[:6] or "0") <= MAX_PORT
    if scheme not in SCHEMES or not host or not is_clean or not is_port:
        raise OkError(f"{option}: no URL of http or https: {url}")


def _require_program(option: str, path: str) -> None:
    try:
        with open_file(path) as file:
            magic = bytes(file.view.window(0, min(4, file.view.size), "magic", "ADR-13"))
            is_program = magic == ELF_MAGIC or foreign_kind(file) != ""
    except Unreadable as error:
        raise OkError(f"{option}: {error}") from None
    if not is_program:
        raise OkError(f"{option}: no ELF, PE or Mach-O file: {path}")
