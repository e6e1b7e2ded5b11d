"""Mutants of good images and bundles: how many, and how they are made."""

from __future__ import annotations

import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

BLOCKS = 20
MOST_DEBUG = 20_000  # mutants of debug information; each is a file that is written and opened
SEED = 20
LIMITS = (
    0,
    1,
    2,
    7,
    8,
    0xFF,
    0xFFF0,
    0xFFFF,
    0x10000,
    1 << 20,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    1 << 63,
    -1,
)
STEPS = (-0x10000, -0x1000, -16, -8, -4, -1, 1, 4, 8, 16, 0x1000, 0x10000)

sys.path += [str(Path(__file__).parents[1] / room) for room in ("image", "bundle", "mutants")]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutants", type=int, default=5000, help="how many mutants the gate is given")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Deal the mutants out in blocks, so that several processes share them."""
    for name, most in (("block", None), ("debug_block", MOST_DEBUG)):
        if name in metafunc.fixturenames:
            count = metafunc.config.getoption("mutants", default=5000)
            count = min(count, most or count)
            edges = [count * i // BLOCKS for i in range(BLOCKS + 1)]
            blocks = [range(a, b) for a, b in pairwise(edges)]
            metafunc.parametrize(name, blocks, ids=[f"{b.start}-{b.stop}" for b in blocks])


class Mutator:
    """
    Makes the same mutant of one image for the same number, on every machine.

    A mutant has one to three faults: a field of a header or a table, a byte, a word of a hash
    table or of RELR, two headers swapped, a piece zeroed or copied, an end cut off or added.
    """

    def __init__(self, image: bytes) -> None:
        from elf_fields import Fields

        self.image = image
        self.fields = f = Fields(image)
        self.tables = [
            [f.ehdr],
            f.segments,
            f.segments,
            f.load,
            f.dynamic,
            f.dynamic,
            f.sym,
            f.rela,
            f.jmprel,
            f.relr,
            f.relr,
            f.note,
            f.shdr,
            f.init_array + f.fini_array,
            [f.hash],
            [f.gnu_hash],
            [f.symtab],
        ]
        self.tables = [table for table in self.tables if table]
        self.faults = [self.field] * 12 + [
            self.byte,
            self.bit,
            self.hash_word,
            self.swap,
            self.copy,
            self.zero,
            self.string,
        ]

    def mutant(self, number: int) -> bytes:
        self.fields.data[:] = self.image
        self.dice = random.Random(f"{SEED}/{number}")
        for _ in range(self.dice.choice((1, 1, 1, 2, 3))):
            self.dice.choice(self.faults)()
        if self.dice.random() < 0.03:
            self.cut()
        return bytes(self.fields.data)

    def value(self, old: int) -> int:
        kind = self.dice.randrange(6)
        if kind == 0:
            return self.dice.choice(LIMITS)
        if kind == 1:
            return old + self.dice.choice(STEPS)
        if kind == 2:
            return old ^ (1 << self.dice.randrange(64))
        if kind == 3:
            record = self.dice.choice(self.dice.choice(self.tables))
            return getattr(record, self.dice.choice(list(record.layout)))
        if kind == 4:
            return self.dice.randrange(1 << 18)
        return old ^ (1 << self.dice.randrange(8))

    def field(self) -> None:
        record = self.dice.choice(self.dice.choice(self.tables))
        name = self.dice.choice(list(record.layout))
        setattr(record, name, self.value(getattr(record, name)))

    def place(self) -> int:
        """Return the offset of a byte that is likely to matter."""
        record = self.dice.choice(self.dice.choice(self.tables))
        return (record.at + self.dice.randrange(64)) % len(self.fields.data)

    def byte(self) -> None:
        self.fields.data[self.place()] = self.dice.randrange(256)

    def bit(self) -> None:
        self.fields.data[self.place()] ^= 1 << self.dice.randrange(8)

    def string(self) -> None:
        self.fields.data[self.fields.strtab + self.dice.randrange(64)] = self.dice.choice(
            b"\0\x1b\xff/k"
        )

    def hash_word(self) -> None:
        at = self.dice.choice(
            (self.fields.hash, self.fields.gnu_hash)
        ).at + 4 * self.dice.randrange(40)
        self.fields.u32_set(at, self.value(0))

    def swap(self) -> None:
        table = self.dice.choice(self.tables)
        a, b = self.dice.choice(table), self.dice.choice(table)
        for name in a.layout:
            x, y = getattr(a, name), getattr(b, name)
            setattr(a, name, y)
            setattr(b, name, x)

    def copy(self) -> None:
        size = self.dice.choice((4, 8, 16, 24, 56, 64))
        source, target = self.place() & -4, self.place() & -4
        piece = self.fields.data[source : source + size]
        self.fields.data[target : target + len(piece)] = piece

    def zero(self) -> None:
        at = self.place() & -8
        size = min(self.dice.choice((8, 16, 24, 56, 512)), len(self.fields.data) - at)
        self.fields.data[at : at + size] = bytes(size)

    def cut(self) -> None:
        """Cut the end off, or add zeros to it: the last fault, for it may take fields away."""
        tail = self.dice.choice((-1, -8, -64, -4096, 1, 64, 70000))
        if tail > 0:
            self.fields.data.extend(bytes(tail))
        else:
            del self.fields.data[tail:]


@pytest.fixture(scope="session")
def mutators(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Mutator]:
    """Return a mutator for each way the full image is built."""
    from full_image import COMPILERS, build

    directory = tmp_path_factory.mktemp("mutants")
    return {which: Mutator(build(which, directory)) for which in COMPILERS}


@pytest.fixture(scope="session")
def bundle_mutators(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a mutator of a bundle of one image, of two, and of two that are signed."""
    from bundles import BundleMutator

    from okld.bundle.writer import write_bundle

    images = Path(__file__).parents[2] / "testdata/images"
    path = tmp_path_factory.mktemp("bundles") / "good.okb"
    made = {}
    for name, arches, sign in (
        ("one", ("x86_64",), None),
        ("two", ("x86_64", "aarch64"), None),
        ("signed", ("aarch64", "x86_64"), lambda manifest: b"a signature\n"),
    ):
        words = [str(images / f"hello.{arch}.ok") for arch in arches]
        write_bundle(words, str(path), name="hello", sign=sign)
        made[name] = BundleMutator(path.read_bytes())
    return made
