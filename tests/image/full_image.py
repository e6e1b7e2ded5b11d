"""The good image that is broken: full.c, built by both linkers for both processors."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "full.c"
FLAGS = [
    "-O1",
    "-shared",
    "-nostdlib",
    "-fPIC",
    "-fno-asynchronous-unwind-tables",
    "-fno-stack-protector",
    "-Wl,-e,_start",
    "-Wl,-z,now",
    "-Wl,-z,max-page-size=65536",
    "-Wl,-init=initial",
    "-Wl,-fini=final",
    "-Wl,-soname=full",
    "-Wl,--build-id=sha1",
    "-Wl,--defsym=constant=0x1234",
    "-Wl,--hash-style=both",
]
LLD = ["-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr"]
RISCV = ["-march=rv64gc", "-mabi=lp64d", "-mno-relax"]
COMPILERS = {
    "lld-x86_64": ["clang", "--target=x86_64-linux-gnu", *LLD],
    "lld-aarch64": ["clang", "--target=aarch64-linux-gnu", *LLD],
    "lld-riscv64": ["clang", "--target=riscv64-linux-gnu", *RISCV, "-fuse-ld=lld"],
    "gnu-x86_64": ["gcc"],
    "gnu-aarch64": ["aarch64-linux-gnu-gcc"],
}


def build(which: str, directory: Path) -> bytes:
    """Return the bytes of full.c as built by a linker for a processor, such as "lld-x86_64"."""
    output = directory / f"full.{which}.ok"
    command = [*COMPILERS[which], *FLAGS, str(SOURCE), "-o", str(output)]
    subprocess.run(command, check=True)
    return output.read_bytes()
