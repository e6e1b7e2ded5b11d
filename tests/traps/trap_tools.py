"""What other tools say to the same questions, each in its own words made comparable."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from trap_question import Place, Question, Said

SECONDS = 60
UNKNOWN = ("", "??")
PLACE = re.compile(r"(.*?):(\d+|\?)")


def printed(*words: str | Path) -> str:
    """Return what a command prints; nothing where it fails or does not come to an end."""
    try:
        done = subprocess.run(words, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode(errors="replace")


def asked(question: Question) -> str:
    address = question.address if question.given is None else question.given
    return hex(int(address))


def place(path: str | None, line: int | None) -> Place | None:
    return None if not path or path in UNKNOWN else (Path(path).name, line or None)


def said(frames: list[tuple[str, Place | None]]) -> Said:
    known = [frame for frame in frames if frame[0] not in UNKNOWN or frame[1]]
    return Said(tuple(name for name, _ in known), None, tuple(where for _, where in known))


def llvm(question: Question) -> Said:
    words = ("llvm-symbolizer-19", "--no-demangle", "--output-style=JSON", *question.llvm)
    text = printed(*words, f"--obj={question.path}", asked(question))
    answer = json.loads(text or "{}")
    rows = answer[0].get("Symbol", []) if isinstance(answer, list) else []
    return said([(row["FunctionName"], place(row["FileName"], row["Line"])) for row in rows])


def pairs(text: str) -> Said:
    """Read two lines a frame: its function, and `file:line` or `file:line:column`."""
    frames = []
    rows = text.splitlines()
    for name, where in zip(rows[::2], rows[1::2], strict=False):
        path, line = PLACE.match(where).groups()
        name = name.split(" inlined at ", 1)[0]  # eu-addr2line's way to tell the next frame too
        frames.append((name, place(path, int(line.replace("?", "0")))))
    return said(frames)


def gnu(question: Question) -> Said:
    return pairs(printed("addr2line", "-f", "-i", "-e", question.path, asked(question)))


def elfutils(question: Question) -> Said:
    return pairs(printed("eu-addr2line", "-f", "-i", "-e", question.path, asked(question)))


def image_base(path: Path) -> int:
    """Return the link address of a file's first byte, as llvm-readobj prints it."""
    text = printed("llvm-readobj-19", "--program-headers", "--file-headers", path)
    stated = re.search(r"ImageBase: (0x\w+)", text)
    loads = re.findall(r"PT_LOAD .*\n.*\n *VirtualAddress: (0x\w+)", text)
    return int(stated[1], 16) if stated else min((int(at, 16) for at in loads), default=0) & -0x1000


def symbolic(question: Question) -> Said:
    module = import_module("symbolic")
    address, arch = int(asked(question), 16), question.options.architecture
    address -= image_base(question.path)  # which is where symbolic counts from
    try:
        for program in module.Archive.open(str(question.path)).iter_objects():
            if not arch or program.arch == arch:
                rows = program.make_symcache().lookup(address)
                return said([(row.symbol, place(row.full_path, row.line)) for row in rows])
    except module.SymbolicError:
        pass
    return Said()


def lief(question: Question) -> Said:
    module = import_module("lief")
    module.logging.disable()
    binary = module.parse(str(question.path))
    if binary is None:
        return Said()
    address = int(asked(question), 16)
    functions = [f for f in binary.functions if f.name and f.address <= address]
    if not functions:
        return Said()
    near = max(functions, key=lambda function: function.address)
    if near.size and address >= near.address + near.size:
        return Said()
    return Said((near.name,), address - near.address)


TOOLS: dict[str, Callable[[Question], Said]] = {
    "llvm-symbolizer": llvm,
    "addr2line": gnu,
    "eu-addr2line": elfutils,
    **({"symbolic": symbolic} if find_spec("symbolic") else {}),
    **({"lief": lief} if find_spec("lief") else {}),
}
