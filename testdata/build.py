"""
Build the test images that `images.toml` describes.

    build.py                           build those that are committed, and write SHA256SUMS
    build.py --check                   build them elsewhere, and compare with SHA256SUMS and images/
    build.py --into DIR NAME.ARCH...   build these, committed or not, into DIR

The compilers must be the versions that images.toml states: others make other bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from okld.sdk.flags import SCRIPT, cflags, ldflags

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
IMAGES = HERE / "images"
SUMS = HERE / "SHA256SUMS"
ARCHES = ("x86_64", "aarch64")
VERSIONS = {
    "x86_64": ["gcc", "--version"],
    "aarch64": ["aarch64-linux-gnu-gcc", "--version"],
    "lld": ["ld.lld", "--version"],
    "rust": ["/usr/bin/rustc", "--version"],
}


def description() -> dict[str, Any]:
    """Return what images.toml says."""
    return tomllib.loads((HERE / "images.toml").read_text(encoding="utf-8"))


def members(*, committed_only: bool) -> list[tuple[str, str]]:
    """Return every (name, processor) there is an image for."""
    return [
        (name, arch)
        for name, image in description()["images"].items()
        for arch in image.get("arches", ARCHES)
        if image.get("committed", True) or not committed_only
    ]


def make(name: str, arch: str, directory: Path) -> Path:
    """Build the image *name* for *arch* in *directory*, and return its path."""
    image = description()["images"][name]
    result = directory / f"{name}.{arch}.ok"
    with tempfile.TemporaryDirectory() as room:
        objects = [
            _compile(source, arch, image, Path(room) / f"{number}.o")
            for number, source in enumerate(image["sources"])
        ]
        link = [_with_script_of(option, image, room) for option in ldflags(arch)]
        link += _for(arch, image.get("link", ()))
        if _for(arch, image.get("linker")) == "lld":
            link.append("-fuse-ld=lld")
        options = [_map(room), *image.get("options", ())]
        if "script" in image:
            options.append(f"-Wl,-T,{image['script']}")
        _run([*_compiler(arch, image), *options, *objects, *link, "-o", result])
    result.chmod(0o644)
    return result


def _compile(source: str, arch: str, image: dict[str, Any], result: Path) -> Path:
    if source.endswith(".rs"):
        options = ["-Cpanic=abort", "-Copt-level=2", "-Cforce-frame-pointers=yes", "--emit=obj"]
        _run(["/usr/bin/rustc", "--crate-type=lib", *options, source, "-o", result])
    else:
        options = [*cflags(arch), _map(str(result.parent)), *image.get("options", ())]
        _run([*_compiler(arch, image), "-O2", *options, "-c", source, "-o", result])
    return result


def _compiler(arch: str, image: dict[str, Any]) -> list[str]:
    if _for(arch, image.get("linker")) == "lld":
        return ["clang", f"--target={arch}-linux-gnu"]
    return [VERSIONS[arch][0]]


def _for(arch: str, value: Any) -> Any:
    """Return *value*, or where it is a table what it has for *arch*."""
    return value.get(arch, ()) if isinstance(value, dict) else value


def _map(directory: str) -> str:
    return f"-ffile-prefix-map={directory}=."


def _with_script_of(option: str, image: dict[str, Any], room: str) -> str:
    """Return the linker's *option*, with the SDK's script edited as the image wants."""
    if SCRIPT not in option or "script_edits" not in image:
        return option
    text = Path(SCRIPT).read_text(encoding="ascii")
    for old, new in image["script_edits"]:
        if text.count(old) != 1:
            sys.exit(f"the SDK's script does not have {old!r} once")
        text = text.replace(old, new)
    edited = Path(room) / "image.ld"
    edited.write_text(text, encoding="ascii")
    return option.replace(SCRIPT, str(edited))


def _run(command: list[str | Path]) -> None:
    subprocess.run(command, cwd=SOURCES, check=True)


def _sums(directory: Path) -> str:
    """Return the digests of the images in *directory*, as `sha256sum` writes them."""
    lines = []
    for name, arch in sorted(members(committed_only=True)):
        path = directory / f"{name}.{arch}.ok"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"{digest}  images/{path.name}\n")
    return "".join(lines)


def _check_tools() -> None:
    for tool, want in description()["tools"].items():
        output = subprocess.run(VERSIONS[tool], check=True, capture_output=True, text=True).stdout
        if output.splitlines()[0] != want:
            sys.exit(
                f"{' '.join(VERSIONS[tool])} says {output.splitlines()[0]}, images.toml {want}"
            )


def main() -> int:
    """Build, or build and compare."""
    parser = argparse.ArgumentParser(description="Build the test images.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--into", type=Path, metavar="DIR")
    parser.add_argument("names", nargs="*", metavar="NAME.ARCH")
    options = parser.parse_args()
    if options.into:
        for name in options.names:
            image, _, arch = name.rpartition(".")
            make(image, arch, options.into.resolve())
        return 0
    _check_tools()
    with tempfile.TemporaryDirectory() as room:
        directory = Path(room) if options.check else IMAGES
        for name, arch in members(committed_only=True):
            make(name, arch, directory)
        built = _sums(directory)
    if not options.check:
        SUMS.write_text(built, encoding="ascii")
        return 0
    wanted = SUMS.read_text(encoding="ascii")
    for line in sorted({*built.splitlines(), *wanted.splitlines(), *_sums(IMAGES).splitlines()}):
        if not (line in built and line in wanted and line in _sums(IMAGES)):
            print("differs:", line, file=sys.stderr)
    return int(not built == wanted == _sums(IMAGES))


if __name__ == "__main__":
    sys.exit(main())
