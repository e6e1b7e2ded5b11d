"""Mutants of good bundles: the same one for the same number, on every machine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace

from archive import CENTRAL, END, LOCAL, Piece, pack, pieces_of

SEED = 14
VALUES = (0, 1, 2, 8, 20, 22, 30, 46, 66, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 1 << 31, (1 << 32) - 1)
NAMES = (
    b"okb/manifest.json", b"okb/manifest.json.sig", b"image/x86_64.ok", b"image", b"a", b"../a",
    b"okb", b"image/A.ok", b"image/x86_64.ok/b", b"", b"a" * 100, b"a" * 101, b"\0",
)  # fmt: skip
WIDTH = {"H": 0xFFFF, "I": 0xFFFFFFFF}


class BundleMutator:
    """
    Makes mutants of one bundle.

    Some are made of its entries, so that all offsets are right and one thing is not; some by
    changing bytes of records; some have another manifest, whose CRC-32 is right, and may be good.
    """

    def __init__(self, bundle: bytes) -> None:
        self.pieces = pieces_of(bundle)
        self.bundle = bundle

    def mutant(self, number: int) -> bytes:
        self.dice = random.Random(f"{SEED}/{number}")
        pieces = [replace(p, both={}, local={}, central={}) for p in self.pieces]
        self.options: dict = {}
        for _ in range(self.dice.choice((0, 1, 1, 1, 2))):
            self.choose(
                (self.field, self.field, self.names, self.lists, self.around, self.manifest)
            )(pieces)
        data = bytearray(pack(pieces, **self.options))
        for _ in range(self.dice.choice((0, 0, 0, 1, 2))):
            self.choose((self.byte, self.bit, self.cut, self.copy))(data)
        return bytes(data)

    def choose(self, faults: tuple[Callable, ...]) -> Callable:
        return self.dice.choice(faults)

    def value(self, kind: str, old: int) -> int:
        new = self.dice.choice((self.dice.choice(VALUES), old + 1, old - 1, old ^ 1 << 8))
        return new & WIDTH[kind]

    def field(self, pieces: list[Piece]) -> None:
        piece = self.dice.choice(pieces)
        where, layout = self.dice.choice(
            (("local", LOCAL), ("central", CENTRAL), ("both", LOCAL), ("end", END))
        )
        name = self.dice.choice([key for key, kind in layout.items() if kind in WIDTH])
        value = self.value(layout[name], len(piece.data))
        if where == "end":
            self.options.setdefault("end", {})[name] = value
        else:
            getattr(piece, where)[name] = value

    def names(self, pieces: list[Piece]) -> None:
        piece = self.dice.choice(pieces)
        if self.dice.random() < 0.3:
            piece.local_name = self.dice.choice(NAMES)
        else:
            piece.name = self.dice.choice(NAMES)

    def lists(self, pieces: list[Piece]) -> None:
        """Give other entries than there are, or in another order."""
        kind = self.dice.randrange(5)
        at = self.dice.randrange(len(pieces))
        if kind == 0:
            pieces.append(replace(pieces[at]))
        elif kind == 1:
            self.dice.shuffle(pieces)
        elif kind == 2:
            pieces[at].hidden = True
        elif kind == 3:
            pieces.insert(at, Piece(self.dice.choice(NAMES), b"x" * self.dice.randrange(3)))
        elif len(pieces) > 1:
            del pieces[at]

    def around(self, pieces: list[Piece]) -> None:
        """Put bytes where none belong."""
        piece = self.dice.choice(pieces)
        some = self.dice.choice(
            (b"\0", b"PK\5\6" + bytes(18), b"PK\6\7" + bytes(16), b"#!", bytes(65536))
        )
        places = ("before", "after", "extra", "comment", "pad")
        where = self.dice.choice((*places, "before_directory", "before_end", "tail"))
        if where in places:
            setattr(piece, where, some[:65535])
        else:
            self.options["after" if where == "tail" else where] = some

    def manifest(self, pieces: list[Piece]) -> None:
        """Change a value of the manifest, or how it is written."""
        value = json.loads(self.pieces[0].data)
        member = self.dice.choice(value["members"])
        target = self.dice.choice((value, member))
        key = self.dice.choice(list(target))
        target[key] = self.dice.choice(
            ("a", "hello", "x86_64", "2", "", 1, 4032, 0, None, [], {}, True, 1.5, target[key])
        )
        if self.dice.random() < 0.3:
            value["expires"] = self.dice.choice(("2030-01-01T00:00:00Z", "never", 1))
        style = self.dice.choice(
            (
                {"sort_keys": True, "separators": (",", ":")},
                {"sort_keys": True, "separators": (",", ":")},
                {},
            )
        )
        pieces[0] = replace(pieces[0], data=json.dumps(value, **style).encode() + b"\n")

    def place(self, data: bytearray) -> int:
        """Return the offset of a byte of some record, more often than not."""
        magic = self.dice.choice((b"PK\3\4", b"PK\1\2", b"PK\5\6"))
        at = data.rfind(magic) if self.dice.random() < 0.5 else data.find(magic)
        return min(max(at, 0) + self.dice.randrange(90), len(data) - 1)

    def byte(self, data: bytearray) -> None:
        data[self.place(data)] = self.dice.randrange(256)

    def bit(self, data: bytearray) -> None:
        data[self.dice.randrange(len(data))] ^= 1 << self.dice.randrange(8)

    def cut(self, data: bytearray) -> None:
        if self.dice.random() < 0.5:
            del data[-self.dice.choice((1, 22, 23, 68, 200, 65536)) :]
            data.extend(b"\0" if not data else b"")
        else:
            data.extend(self.dice.choice((b"\0", data[-22:], data)))

    def copy(self, data: bytearray) -> None:
        source, target = self.place(data), self.place(data)
        data[target : target + 8] = data[source : source + 8]
