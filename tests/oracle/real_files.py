"""Which real files are asked: of Debian's packages with debug information, the largest ones."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from time import sleep

ELF_MAGIC = b"\x7fELF"
CRATES = "std core alloc hashbrown object gimli addr2line rustc_demangle miniz_oxide memchr"
RUST = "libstd-rust-dev"
SETTLED = 2.1  # s; no index is kept of a file that changed later than that


@dataclass(frozen=True)
class Package:
    """
    A package, by the name to install it by, and what of it is asked.

    `own`: how its files are called, if another package is what has them; `patterns`: of each the
    largest files that match, `count` of them.
    """

    name: str
    patterns: tuple[str, ...] = ("*/.build-id/*.debug",)
    count: int = 1
    own: str = ""


SMALL = (
    Package("libc6-dbg"),
    Package("libbinutils-dbg"),
    Package("libstdc++6-12-dbg", ("*/debug/libstdc++.so.6.*",)),
    Package("perl-debug", ("/usr/bin/debugperl", "*/.build-id/*.debug")),
    Package(RUST),
)
"""What costs little to download: C with assembler, with dwz and link-time optimisation, C++, an
interpreter, Rust."""

MODULES = "ext4 xfs btrfs kvm mac80211 mlx5_core nfsd bluetooth snd-hda-intel usbcore"
LARGE = (
    Package("python3.11-dbg", ("/usr/bin/python3.11-dbg", "*/.build-id/*.debug"), 2),
    Package("libpython3.11-dbg", ("*/libpython3.11d.so.1.0",)),
    Package("openjdk-17-dbg", count=3),
    Package("cupt-dbg", count=2),
    Package("valgrind-dbg", count=4),
    Package("binutils-x86-64-linux-gnu-dbg", count=2),
    Package(
        "linux-image-amd64-dbg",
        ("*/boot/vmlinux-*", *(f"*/{module}.ko" for module in MODULES.split())),
        own="linux-image-[0-9]*-dbg",
    ),
)


@dataclass(frozen=True)
class Subject:
    """A file to be asked, and what it is called in the table."""

    path: Path
    name: str


def installed(package: Package) -> list[Path]:
    """Return the files of a package; none: it is not installed."""
    command = ["dpkg-query", "--listfiles", *_names(package.own or package.name)]
    done = subprocess.run(command, capture_output=True, text=True)
    return [Path(line) for line in done.stdout.splitlines() if line.startswith("/")]


def _names(pattern: str) -> list[str]:
    command = ["dpkg-query", "--show", "--showformat=${Package} ${Status}\n", pattern]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [row[0] for row in rows if row[-1] == "installed"] or [pattern]


def subjects(package: Package, folder: Path) -> list[Subject]:
    """Return what of an installed package is asked; what has to be made goes to *folder*."""
    files = installed(package)
    if package.name == RUST:
        return rust(files, folder)
    found = []
    for pattern in package.patterns:
        fit = [path for path in files if fnmatch(str(path), pattern) and path.is_file()]
        fit.sort(key=lambda path: (-path.stat().st_size, path))
        for path in fit[: package.count]:
            short = "".join(path.parts[-2:]) if path.suffix == ".debug" else path.name
            found.append(Subject(path, f"{package.name} {short[:16]}"))
    return found


def rust(files: Sequence[Path], folder: Path) -> list[Subject]:
    """
    Return Rust's standard library: linked from the objects that Debian compiled, since its shared
    libraries have no debug information; and the largest of the objects.
    """
    crates = {path.name.partition("-")[0][3:]: path for path in files if path.suffix == ".rlib"}
    wanted = [crates[name] for name in CRATES.split()]
    linked = folder / "libstd-rust.so"
    whole = ["-Wl,--whole-archive,--no-warn-execstack", *wanted, "-Wl,--no-whole-archive"]
    subprocess.run(["gcc", "-shared", *whole, "-o", linked], check=True)
    found = [Subject(linked, f"{RUST} (linked)")]
    for name in ("std", "core"):
        subprocess.run(["ar", "x", crates[name]], check=True, cwd=folder)
        objects = sorted(folder.glob(f"{name}-*.o"), key=lambda path: path.stat().st_size)
        found.append(Subject(objects[-1], f"{RUST} {name} .o"))
    sleep(SETTLED)
    return found
