"""Address spaces of program files: what is loaded where, and what a number can mean in them."""

from __future__ import annotations

from okld.base.units import ImageOffset, LinkAddr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from okld.syms.answer import Miss
    from okld.syms.elf_file import ElfFile
    from okld.syms.index.head import Head

ET_REL = 1  # as in okld.elf.header, which an answer from an index does without
MANY = 64  # numbers that are looked at all at once
PLAIN = frozenset((int, LinkAddr))


class AddressSpace:
    """
    Where a program's addresses are; a class for each kind of file says more.

    Attributes:
        loads: (start, end) link addresses of all that is loaded.
        damage: What is broken in the file and was got around, or "".
        is_relocatable: Whether link addresses are made up.
    """

    __slots__ = ("damage", "is_relocatable", "loads")

    def __init__(
        self, loads: list[tuple[int, int]], *, damage: str = "", is_relocatable: bool = False
    ) -> None:
        """State what is the same for every kind of file."""
        self.loads = loads
        self.damage = damage
        self.is_relocatable = is_relocatable

    @property
    def base(self) -> int:
        """The link address of the image's first byte; 0 where nothing says it."""
        raise NotImplementedError

    def to_link(self, address: int) -> int | Miss:
        """Return the link address that *address*, of any kind, means, or why it means none."""
        raise NotImplementedError

    def from_link(self, address: int) -> int:
        """Return a link address for people."""
        return address

    def to_links(self, addresses: Iterable[int]) -> Sequence[int | Miss]:
        """Return for each of *addresses* what `to_link` returns."""
        asked = list(addresses)
        if self.is_plain(asked):
            return asked
        return [self.to_link(address) for address in asked]

    def is_plain(self, addresses: Sequence[int]) -> bool:
        """Say whether all of *addresses* are what `to_link` would make of them."""
        return not self.is_relocatable and PLAIN.issuperset(map(type, addresses))

    def guess(self, number: int) -> LinkAddr | ImageOffset:
        """Return *number* as what its range says. Source: ADR-2."""
        if not self._is_loaded(number) and self._is_loaded(self.base + number):
            return ImageOffset(number)
        return LinkAddr(number)

    def guess_many(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return for each of *numbers* what `guess` returns, or plain ones where all are links."""
        if len(numbers) < MANY:
            return [self.guess(number) for number in numbers]
        if not self.base:  # to count from there is the same
            return numbers
        from _bisect import bisect_right  # few addresses do without
        from itertools import repeat

        edges = self._edges()
        place = bisect_right(edges, min(numbers))
        if place % 2 and max(numbers) < edges[place]:
            return numbers
        places = set(map(bisect_right, repeat(edges), numbers))
        if all(place % 2 for place in places):
            return numbers
        return [self.guess(number) for number in numbers]

    def _edges(self) -> list[int]:
        """Return where what is loaded begins and ends, by turns, ascending."""
        edges = [-1, -1]
        for start, end in sorted(self.loads):
            if start > edges[-1]:
                edges += start, end
            else:
                edges[-1] = max(edges[-1], end)
        return edges

    def _is_loaded(self, address: int) -> bool:
        return any(start <= address < end for start, end in self.loads)


class ElfSpace(AddressSpace):
    """The address space of an ELF file, by its headers."""

    __slots__ = ("_elf",)

    def __init__(self, elf: ElfFile | Head) -> None:
        """Take the headers as the file, or its index, has them."""
        super().__init__(
            [(segment[3], segment[3] + segment[6]) for segment in elf.loads()],
            damage=elf.damage,
            is_relocatable=elf.header.type == ET_REL,
        )
        self._elf: ElfFile = elf  # type: ignore[assignment]  # a Head has what is asked of it here

    @property
    def base(self) -> int:
        """The link address of the image's first byte; 0 where nothing says it."""
        from okld.syms.places import image_base

        return image_base(self._elf.segments) or 0

    def to_link(self, address: int) -> int | Miss:
        """Return the link address that *address*, of any kind, means, or why it means none."""
        if type(address) in PLAIN and not self.is_relocatable:
            return address
        from okld.syms.places import to_link

        return to_link(self._elf, address)

    def from_link(self, address: int) -> int:
        """Return a link address for people: in a relocatable file the section and the offset."""
        if not self.is_relocatable:
            return address
        from okld.syms.places import from_link

        return from_link(self._elf, address)
