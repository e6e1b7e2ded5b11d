"""Programs whose every address is known, and logs that speak of them."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from okld.syms.logs.engine import rewrite
from okld.syms.logs.resolver import Resolver
from okld.syms.modules import Modules

HERE = Path(__file__).parent
BUILD_ID = "00112233445566778899aabbccddeeff00112233"
UUID = "0123456789abcdef0123456789abcdef"
RELEASE = "6.1.0-57-test"
FLAGS = ["-O2", "-g", "-gno-column-info", "-nostdlib", "-fno-align-functions",
         "-fno-toplevel-reorder", "-fno-reorder-functions", "-fno-asynchronous-unwind-tables",
         f"-ffile-prefix-map={HERE}=/src"]  # fmt: skip
MARK = re.compile(r"<<(@?)([^>|]+)(?:\|(\w+))?>>")


class Files:
    """
    What the logs speak of.

    Attributes:
        root: A directory that stands for a system's root.
        paths: The programs by name.
        symbols: The addresses of their symbols, by nm: ``name`` of the program "prog", and
            ``program.name`` of the others.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths: dict[str, Path] = {}
        self.symbols: dict[str, int] = {}

    def link(self, name: str, path: str, sources: list[str], *options: str) -> None:
        """Build a program, and read its addresses."""
        output = self.root / path
        output.parent.mkdir(parents=True, exist_ok=True)
        inputs = [str(HERE / source) for source in sources]
        subprocess.run(["gcc", *FLAGS, *options, *inputs, "-o", output], check=True)
        self.paths[name] = output
        for line in subprocess.check_output(["nm", output], text=True).splitlines():
            value, _, symbol = line.rpartition(" ")[0].partition(" ")[0], "", line.split()[-1]
            if re.fullmatch("[0-9a-f]+", value):
                key = symbol if name == "prog" else f"{name}.{symbol}"
                self.symbols.setdefault(key, int(value, 16))

    def fill(self, template: bytes) -> bytes:
        """
        Put addresses and lines for the marks of a log: ``<<a-b+0x10|016x>>`` is a sum of symbols
        and numbers, ``<<@text>>`` the place in the source of the first line that has this text.
        """
        return MARK.sub(self._value, template.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )

    def _value(self, match: re.Match[str]) -> str:
        if match[1]:
            return place(match[2])
        total = 0
        for sign, word in re.findall(r"([+-]?)([^+-]+)", match[2]):
            number = int(word, 16) if word.startswith("0x") else self.symbols[word]
            total += -number if sign == "-" else number
        return format(total, match[3] or "x")

    def rewrite(
        self,
        log: bytes,
        *,
        inlines: bool = False,
        given: Iterable[tuple[str, str]] = (),
        said: list[str] | None = None,
    ) -> bytes:
        """Return what becomes of a log here; *said* takes the messages."""
        source, sink = io.BytesIO(log), io.BytesIO()
        say = (said if said is not None else []).append
        with Resolver(Modules(given, sysroot=str(self.root)), say=say) as resolver:
            rewrite(source, sink, resolver, inlines=inlines)
        return sink.getvalue()


def place(text: str) -> str:
    """Return ``file:line`` of the first line of the sources that has this text."""
    for name in ("program.c", "twin_a.c", "twin_b.c"):
        for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
            if text in line:
                return f"/src/{name}:{number}"
    raise AssertionError(text)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """
    "prog" runs anywhere, "fixed" where it is linked, "based" anywhere though it is linked at
    0x400000; there is a kernel, with a module, under their usual paths.
    """
    made = Files(tmp_path_factory.mktemp("root"))
    identity = f"-Wl,--build-id=0x{BUILD_ID}"
    made.link("prog", "opt/app/prog", ["program.c"], "-pie", "-fPIE", identity)
    made.link("fixed", "opt/app/fixed", ["program.c"], "-no-pie", "-static", identity)
    made.link("based", "opt/app/libbased.so", ["program.c"], "-shared", "-fPIC",
              "-Wl,-Ttext-segment=0x400000", "-Wl,--build-id=none")  # fmt: skip
    made.link("apple", "opt/app/Apple", ["program.c"], "-pie", "-fPIE",
              f"-Wl,--build-id=0x{UUID}")  # fmt: skip
    made.link("vmlinux", f"usr/lib/debug/boot/vmlinux-{RELEASE}",
              ["program.c", "twin_a.c", "twin_b.c"], "-no-pie", "-static",
              "-Wl,-Ttext-segment=0x10000000")  # fmt: skip
    made.link("my_mod", f"usr/lib/debug/lib/modules/{RELEASE}/kernel/fs/my-mod.ko",
              ["program.c"], "-r", "-no-pie", "-fno-pie", identity)  # fmt: skip
    return made
