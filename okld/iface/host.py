"""What a host program answers, as it says itself, and what of that an image lacks."""

from __future__ import annotations

import subprocess

from attrs import frozen

from okld.base.errors import OkError, Refusal
from okld.base.installed import program
from okld.iface.table import INTERFACES, version_answers, version_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from okld.iface.need import Interfaces
    from okld.iface.open import Image

MOST = 1 << 16
"""Bytes that a description can have; that of a host program has less than one KiB."""


@frozen(kw_only=True)
class Lacking:
    """
    What an image asks for and a host program does not have.

    Attributes:
        version: Whether the image needs a later version, or another major one. Source: NOTE-4.
        required: Interfaces without which the image does not start. Source: BIND-2.
        optional: Interfaces that it starts without. Source: BIND-3.
    """

    version: bool
    required: tuple[str, ...]
    optional: tuple[str, ...]


@frozen(kw_only=True)
class HostProgram:
    """
    A host program.

    Attributes:
        path: Where it is.
        arch: The processor whose images it runs.
        version: The openkal version that it answers: major << 32, minor << 16, patch.
        interfaces: Those that it answers, in order of position.
    """

    path: str
    arch: str
    version: int
    interfaces: tuple[str, ...]

    def lacking(self, image: Interfaces) -> Lacking:
        """Return what *image* asks for and this host program does not have."""
        return Lacking(
            version=not version_answers(self.version, image.version),
            required=tuple(name for name in image.required if name not in self.interfaces),
            optional=tuple(name for name in image.optional if name not in self.interfaces),
        )


def ask_host(path: str = "", *, emulator: str = "", impl: str = "") -> HostProgram:
    """
    Run a host program, and return what it says of itself.

    Args:
        path: The program; the installed one when empty.
        emulator: A program to run it with.
        impl: The library that it is to bind; of that the answer is then.

    Raises:
        OkError: If there is none, if it cannot be executed, or if it does not describe itself.

    Source: NEED-4.
    """
    path = path or program("okhost-impl" if impl else "okhost")
    words = [emulator] if emulator else []
    words += [path if "/" in path else f"./{path}"]  # what has no "/" is looked for on PATH
    words += ["--impl", impl] if impl else []
    try:
        return _read(path, _output([*words, "--describe"]))
    except OSError as error:
        raise OkError(f"host program: {path}: {error.strerror}") from None
    except ValueError:
        raise OkError(f"host program: {path}: does not describe itself") from None


def require_host(image: Image, host: HostProgram) -> None:
    """
    Return when *host* can run *image*.

    Raises:
        Refusal: BIND-1, NOTE-4, or BIND-2 with the names of all that is lacking.
    """
    needs, lacking = image.interfaces, host.lacking(image.interfaces)
    if image.shape.arch != host.arch:
        what = f"image is for {image.shape.arch}, the host program for {host.arch}"
        raise Refusal("BIND-1", f"{image.path}: {what}")
    if lacking.version:
        need, have = version_text(needs.version), version_text(host.version)
        what = f"image needs openkal {need} (host program answers {have})"
        raise Refusal("NOTE-4", f"{image.path}: {what}")
    if lacking.required:
        names = " ".join(lacking.required)
        what = f"image requires {names}, which the host program does not answer"
        raise Refusal("BIND-2", f"{image.path}: {what}")


def _output(words: Sequence[str]) -> bytes:
    """
    Return what a program writes on standard output, up to MOST bytes.

    Raises:
        OSError: If it cannot be executed.
        ValueError: If it fails, or writes more.
    """
    nothing = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing) as process:
        assert process.stdout is not None
        data = process.stdout.read(MOST + 1)
        if len(data) > MOST:
            process.kill()
    if process.returncode or len(data) > MOST:
        raise ValueError(words)
    return data


def _read(path: str, data: bytes) -> HostProgram:
    """
    Read a description.

    Raises:
        ValueError: If it is none.
    """
    import json

    try:
        said = json.loads(data)
        major, minor, patch = map(int, said["version"].split("."))
        interfaces = tuple(name for name in INTERFACES if name in said["interfaces"])
        arch = str(said["arch"])
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(path) from error
    return HostProgram(
        path=path, arch=arch, version=major << 32 | minor << 16 | patch, interfaces=interfaces
    )
