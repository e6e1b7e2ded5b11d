"""Names of numbers, and the numbers of names, are those of the system's own <elf.h>."""

from __future__ import annotations

import re
import subprocess

import pytest

from okld.elf import header, names, tables

DEFINE = re.compile(r"^#define ((?:DT|PT|EM|ET|STT|STB|SHT|SHN|DF|PF|R)_\w+) (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def elf_h() -> dict[str, int]:
    """Return the numbers that the C library's <elf.h> defines."""
    command = ["gcc", "-E", "-dM", "-include", "elf.h", "-x", "c", "/dev/null"]
    found = dict(DEFINE.findall(subprocess.check_output(command, text=True)))
    numbers = {}
    for name, text in found.items():
        text = text.strip("()")
        if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
            numbers[name] = int(text, 0)
    numbers["PF_X"], numbers["PF_W"], numbers["PF_R"] = 1, 2, 4  # (1 << n) there
    return numbers


@pytest.mark.spec("IMG-4", "IMG-20", "IMG-23", "IMG-32")
@pytest.mark.parametrize(
    "table",
    [
        names.MACHINES,
        names.FILE_TYPES,
        names.SEGMENT_TYPES,
        names.DYNAMIC_TAGS,
        names.SYMBOL_TYPES,
        *names.RELOCATIONS.values(),
    ],
)
def test_names_that_are_shown(elf_h: dict[str, int], table: dict[int, str]) -> None:
    """What a message calls a number is what the standard calls it."""
    for number, name in table.items():
        known = elf_h.get(name)
        assert known in (number, None), name
    assert sum(name in elf_h for name in table.values()) >= 0.8 * len(table)


@pytest.mark.spec("IMG-2", "IMG-14", "IMG-23", "IMG-28")
@pytest.mark.parametrize("module", [header, tables])
def test_numbers_that_rules_stand_on(elf_h: dict[str, int], module: object) -> None:
    """A constant has the number that the standard gives its name."""
    ours = {name: value for name, value in vars(module).items() if re.match(r"[A-Z]+_[A-Z]", name)}
    common = {name: elf_h[name] for name in ours if name in elf_h}
    assert {name: ours[name] for name in common} == common
    assert len(common) > 20


@pytest.mark.spec("ERR-1")
def test_a_number_without_a_name() -> None:
    """It is shown in hexadecimal."""
    assert names.named(names.DYNAMIC_TAGS, 15) == "DT_RPATH"
    assert names.named(names.DYNAMIC_TAGS, 0x12345678) == "0x12345678"
