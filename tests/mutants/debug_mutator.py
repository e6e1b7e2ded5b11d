"""Mutants of files with debug information: the same one for the same number, on every machine."""

from __future__ import annotations

import random
import struct

SEED = 4
VALUES = (0, 1, 2, 4, 7, 8, 16, 0x7F, 0x80, 0xFF, 0xFFF0, 0xFFFF, 0x10000, 1 << 20, 0x7FFFFFFF)
VALUES += (1 << 31, 0xFFFFFFF0, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
BYTES = (0, 1, 2, 3, 4, 5, 8, 0x21, 0x22, 0x40, 0x7F, 0x80, 0xFE, 0xFF)
TOLD = (b"debug", b".symtab", b".strtab", b".rela", b".gnu", b".dyn", b".opd", b".text")
SHF_COMPRESSED = 0x800


class DebugMutator:
    """
    Makes mutants of one ELF file.

    A mutant has one to four faults in what debug information and names are read from: bytes,
    words and long numbers of a section, pieces copied or zeroed, fields of section headers, and
    now and then an end that is cut off.
    """

    def __init__(self, good: bytes) -> None:
        self.good = good
        bits = 64 if good[4] == 2 else 32
        self.order = "<" if good[5] == 1 else ">"
        at, size = (0x28, 0x3A) if bits == 64 else (0x20, 0x2E)
        (table,) = struct.unpack_from(self.order + ("Q" if bits == 64 else "I"), good, at)
        entry, count, names = struct.unpack_from(self.order + "3H", good, size)
        self.layout = "IIQQQQIIQQ" if bits == 64 else "10I"
        headers = [table + entry * i for i in range(count)]
        _, _, _, _, base, *_ = self._header(headers[names], good)
        self.headers, self.ranges = [], []
        for header in headers[1:]:
            name, kind, _, _, offset, length, *_ = self._header(header, good)
            text = good[base + name : good.index(b"\0", base + name)]
            if text.startswith(TOLD) or b"debug" in text:
                self.headers.append(header)
                if kind != 8 and length:
                    self.ranges += [(offset, length)] * (3 if b"debug_" in text else 1)

    def _header(self, at: int, data: bytes | bytearray) -> tuple[int, ...]:
        return struct.unpack_from(self.order + self.layout, data, at)

    def mutant(self, number: int) -> bytes:
        self.dice = random.Random(f"{SEED}/{number}")
        self.data = bytearray(self.good)
        faults = (self.byte,) * 4 + (self.word,) * 3 + (self.long, self.copy, self.zero, self.field)
        for _ in range(self.dice.choice((1, 1, 1, 2, 2, 4))):
            self.dice.choice(faults)()
        if self.dice.random() < 0.02:
            del self.data[-self.dice.choice((1, 64, 400, 4000)) :]
        return bytes(self.data)

    def place(self, size: int) -> int:
        """Return an offset in some section, of which *size* bytes are left, or fewer."""
        offset, length = self.dice.choice(self.ranges)
        if self.dice.random() < 0.3:
            length = min(length, 40)  # where the headers are
        return min(offset + self.dice.randrange(length), len(self.data) - size)

    def byte(self) -> None:
        value = self.dice.choice((self.dice.choice(BYTES), self.dice.randrange(256)))
        self.data[self.place(1)] = value

    def word(self) -> None:
        kind = self.dice.choice("HIIIQQ")
        at = self.place(8)
        value = self.dice.choice((self.dice.choice(VALUES), self.dice.randrange(len(self.data))))
        size = struct.calcsize(kind)
        struct.pack_into(self.order + kind, self.data, at, value & (1 << 8 * size) - 1)

    def long(self) -> None:
        """Write a LEB128 number, long or endless."""
        size = self.dice.choice((2, 4, 9, 10, 11, 40))
        at = self.place(size)
        end = self.dice.choice((b"\0", b"\1", b"\x7f", b"\xff"))
        self.data[at : at + size] = bytes([self.dice.choice((0x80, 0xFF))] * (size - 1)) + end

    def copy(self) -> None:
        size = self.dice.choice((4, 8, 16, 64))
        source, target = self.place(size), self.place(size)
        self.data[target : target + size] = self.data[source : source + size]

    def zero(self) -> None:
        size = self.dice.choice((4, 8, 32))
        at = self.place(size)
        self.data[at : at + size] = bytes(size)

    def field(self) -> None:
        """Change a field of a section header, or give one section another's bytes."""
        header, other = self.dice.choice(self.headers), self.dice.choice(self.headers)
        fields = list(self._header(header, self.data))
        if self.dice.random() < 0.3:
            fields[4:6] = self._header(other, self.data)[4:6]
        elif self.dice.random() < 0.2:
            fields[2] ^= SHF_COMPRESSED
        else:
            which = self.dice.randrange(1, 10)
            wide = self.layout[which] == "Q" if len(self.layout) == 10 else False
            value = self.dice.choice((self.dice.choice(VALUES), fields[which] + 1, 11, 4, 2))
            fields[which] = value & ((1 << 64) - 1 if wide else 0xFFFFFFFF)
        struct.pack_into(self.order + self.layout, self.data, header, *fields)
