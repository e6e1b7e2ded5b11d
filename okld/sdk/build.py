"""
`okld build`: from sources to an image that the gate has admitted.

Source: SPEC SDK-1 and SDK-2.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile

from okld.base.errors import OkError, Refusal, Unreadable
from okld.base.output import replacing
from okld.base.view import View
from okld.iface.need import Interfaces, interfaces_of, require_declared
from okld.image.shape import read_shape
from okld.sdk.flags import CPLUSPLUS, LINK, RUNTIME, TARGETS, cflags, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CPLUSPLUS_SUFFIXES = (".cc", ".cpp", ".cxx")
OBJECT_SUFFIXES = (".o", ".a")
SUFFIXES = (".c", ".S", ".s", *OBJECT_SUFFIXES, *CPLUSPLUS_SUFFIXES)

OURS = ("-l", "-o", "-shared", "-static", "-pie", "-c", "-S", "-E", "-x")
"""Options that `okld build` chooses, or that leave nothing to link."""

OF_THE_LINKER = ("-Wl,", "-fuse-ld=")

_NOTE_SOURCE = """\
#include <openkal/image.h>
OPENKAL_IMAGE_VERSION({version:#x}, {required:#x}, {optional:#x}, {stack})
"""


def build(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    target: str | None = None,
    cc: str | None = None,
    options: Sequence[str] = (),
) -> Interfaces:
    """
    Compile and link *sources* to an image, check it, and write it to *output*.

    The compiler's own messages go to standard error. *output* is replaced by rename, and only by an
    image that the gate admits and that declares what it uses.

    Args:
        sources: C, C++ and assembly sources, objects and archives.
        output: Where the image goes.
        target: Its processor, `x86_64` or `aarch64`; the compiler's own when None.
        cc: The compiler's command; otherwise CC of the environment, otherwise one that is found.
        options: For the compiler, as they are: -O, -g, -I, -D, -Wl,...

    Returns:
        What the image declares and uses.

    Raises:
        OkError: If an argument is wrong, or there is no compiler.
        Refusal: SDK-1, if the compiler or linker fails; NEED-1 and NEED-2.
        FormatError: If the gate refuses what came out.
        Unreadable: If a source cannot be read, or *output* cannot be written.
    """
    paths = [os.fspath(source) for source in sources]
    _check_arguments(paths, options)
    command, target = _compiler_for(target, cc or os.environ.get("CC"))
    try:
        with tempfile.TemporaryDirectory(prefix="okld-build-") as room:
            data = _made(_Compiler(command, target, list(options), room), paths)
    except OSError as error:
        raise Unreadable("cannot build in a temporary directory", "", error) from None
    shape = read_shape(View.of_bytes(data))
    if shape.arch != target:
        raise Refusal("SDK-1", f"the compiler makes code for {shape.arch}, not for {target}")
    interfaces = interfaces_of(shape)
    _require_no_library(interfaces)
    require_declared(interfaces)
    with replacing(os.fspath(output), "image") as file:
        file.write(data)
    return interfaces


def _made(make: _Compiler, sources: Sequence[str]) -> bytes:
    """Return the image of *sources*, with a note."""
    objects = [*(make.compiled(source) for source in sources), *make.runtime()]
    data = make.linked(objects)
    interfaces = interfaces_of(read_shape(View.of_bytes(data)))
    if interfaces.declared_by == "imports":
        data = make.linked([*objects, make.note(interfaces)])
    return data


def _check_arguments(sources: Sequence[str], options: Sequence[str]) -> None:
    """Refuse what could only fail later, and less clearly."""
    if not sources:
        raise OkError("no sources")
    for source in sources:
        if not source.endswith(SUFFIXES):
            raise OkError(f"not a source or an object: {source} (one of {' '.join(SUFFIXES)})")
        try:
            open(source, "rb").close()
        except OSError as error:
            raise Unreadable("source cannot be read", source, error) from None
    for option in options:
        if option.startswith(OURS):
            raise OkError(f"option {option}: an image has no libraries, and okld build links it")


def _require_no_library(interfaces: Interfaces) -> None:
    """
    Refuse names that nothing defines, all at once, and say what is amiss.

    Raises:
        Refusal: NEED-1.
    """
    names = sorted(interfaces.unknown)
    if "main" in names:
        raise Refusal("NEED-1", "no source defines main or _start")
    if names:
        raise Refusal("NEED-1", f"undefined: {' '.join(names)}: not of openkal, nor of a library")


def _compiler_for(target: str | None, asked: str | None) -> tuple[list[str], str]:
    """
    Return the compiler's command, and the processor that it is to make code for.

    Raises:
        OkError: If there is no compiler, or no such processor.
    """
    if asked:
        try:
            command = shlex.split(asked)
        except ValueError:  # a quotation that does not end
            command = []
        if not command or not shutil.which(command[0]):
            raise OkError(f"no such compiler: {asked}")
        target = target or _machine_of(command)
    if target is None:
        target = native()
    if target not in TARGETS:
        raise OkError(f"no such target: {target} (there are {', '.join(TARGETS)})")
    return (command if asked else _found_for(target)), target


def _machine_of(command: list[str]) -> str:
    """Return the processor that a compiler names, as gcc and clang do; else this machine's."""
    try:
        asked = subprocess.run(
            [*command, "-dumpmachine"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Unreadable("compiler cannot be run", command[0], error) from None
    return asked.stdout.strip().split("-")[0] or native()


def _found_for(target: str) -> list[str]:
    """Return gcc, or else clang, for *target*."""
    names = ["cc", "gcc"] if target == native() else []
    for name in [*names, f"{target}-linux-gnu-gcc"]:
        if shutil.which(name):
            return [name]
    if shutil.which("clang"):
        return ["clang", f"--target={target}-linux-gnu"]
    raise OkError(f"no C compiler for {target}: install gcc or clang, or set CC")


class _Compiler:
    """One compiler with its options, working in a directory that goes away."""

    def __init__(self, command: list[str], target: str, options: list[str], room: str) -> None:
        words = [*command, *options]
        self._command = command[:1]
        self._always = [word for word in command[1:] if not word.startswith(OF_THE_LINKER)]
        self._options = [word for word in options if not word.startswith(OF_THE_LINKER)]
        self._link = [word for word in words if word.startswith(OF_THE_LINKER)]
        if any(word.startswith("--target=") for word in command):
            self._link.append("-fuse-ld=lld")  # the linker that has every target
        self._cflags = cflags(target)
        self._room = room
        self._objects = 0

    def compiled(self, source: str) -> str:
        """Return the object of *source*, which may be one already."""
        if source.endswith(OBJECT_SUFFIXES):
            return _path(source)
        language = CPLUSPLUS if source.endswith(CPLUSPLUS_SUFFIXES) else ()
        return self._compile(source, *language, *self._options)

    def runtime(self) -> list[str]:
        """Return the objects of the SDK's sources, which the options are not for."""
        return [self._compile(source, "-x", "c", "-O2") for source in RUNTIME]

    def note(self, interfaces: Interfaces) -> str:
        """Return an object with the note that declares *interfaces*."""
        source = os.path.join(self._room, "note.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(
                _NOTE_SOURCE.format(
                    version=interfaces.version,
                    required=interfaces.required_word,
                    optional=interfaces.optional_word,
                    stack=interfaces.stack,
                )
            )
        return self._compile(source, "-x", "c")

    def linked(self, objects: list[str]) -> bytes:
        """Return the image that *objects* make; archives come last, for what the others ask."""
        objects = sorted(objects, key=lambda path: path.endswith(".a"))
        words = [*self._options, *objects, *LINK, *self._link]
        with open(self._run("the image", *words, result="image"), "rb") as file:
            return file.read()

    def _compile(self, source: str, *options: str) -> str:
        self._objects += 1
        words = [*self._cflags, *options, "-c", _path(source)]
        return self._run(source, *words, result=f"{self._objects}.o")

    def _run(self, what: str, *words: str, result: str) -> str:
        """Run the compiler, which says why it fails itself; return the path of its *result*."""
        path = os.path.join(self._room, result)
        name = self._command[0]
        command = [name, *self._always, *words, "-o", path]
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        except OSError as error:
            raise Unreadable("compiler cannot be run", name, error) from None
        if status:
            raise Refusal("SDK-1", f"{what}: {name} ended with status {status}")
        if not os.path.exists(path):
            raise Refusal("SDK-1", f"{what}: {name} wrote nothing")
        return path


def _path(source: str) -> str:
    """Return *source* as a compiler reads it: never as an option or a list of options."""
    return os.path.join(".", source) if source.startswith(("-", "@")) else source
