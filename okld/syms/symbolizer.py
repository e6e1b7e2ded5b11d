"""`symbols(path)`: what lies at an address of a program file, from everything that knows it."""

from __future__ import annotations

from time import time_ns

from okld.base.errors import OkError
from okld.base.units import require_addresses
from okld.image.open import open_file
from okld.syms.address_space import ElfSpace
from okld.syms.answer import Miss
from okld.syms.index.reader import open_index
from okld.syms.options import Options
from okld.syms.sources import NAMES_FROM, open_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from okld.base.units import ImageOffset, LinkAddr
    from okld.image.open import OpenFile
    from okld.syms.address_space import AddressSpace
    from okld.syms.answer import Found
    from okld.syms.choose import Symbol
    from okld.syms.elf_sources import ElfSources
    from okld.syms.foreign import Foreign
    from okld.syms.foreign_table import ForeignTable
    from okld.syms.index.bulk import Teller
    from okld.syms.index.reader import Index
    from okld.syms.table import Table

MANY = 1 << 10  # addresses; fewer answers cost less than bringing a whole table in order
SMALL = 1 << 22  # bytes of a file and its debug file that answer in a few ms without an index
MAX_WANTED = 1 << 16  # addresses that are kept for the index to grow by


def symbols(path: str | bytes | os.PathLike[str], *, options: Options | None = None) -> Symbols:
    """
    Open the program file at *path*, to look addresses up in it.

    Raises:
        FormatError: If it is none that can be read. A file without symbols is no error.
        Unreadable: If it cannot be opened or read.
    """
    return Symbols(open_file(path), options=options)


class Symbols:
    """
    What a program file and the files that say more of it know of addresses; a context manager that
    closes them. Iterating gives the entries of the symbol table.

    Addresses are of the kinds of `okld.base.units`; a plain integer is a link address. An index of
    the file answers where the user's cache has one; the file and others are opened and read when an
    answer needs them.
    """

    __slots__ = ("_asked", "_file", "_index", "_sources", "_space", "_want_lines", "_wanted")

    def __init__(
        self, file: OpenFile, *, options: Options | None = None, keep_open: bool = False
    ) -> None:
        """
        Take over *file*, which is closed with this, unless it is to be kept open.

        Raises:
            FormatError: If it is no program file that can be read.
            Unreadable: If the system refuses to read it.
        """
        self._file = None if keep_open else file
        self._index: Index | None = None
        self._sources: ElfSources | Foreign | None = None
        self._wanted: list[int] = []
        self._want_lines = False
        self._asked: tuple[OpenFile, Options] | None = (file, options or Options())
        try:
            self._index = open_index(*self._asked, time_ns())
            self._space: AddressSpace = self._index_space() or self._opened().space
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Symbols:
        """Return the same."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every file."""
        self.close()

    def close(self) -> None:
        """Close every file; what was answered stays valid."""
        for each in (self._index, self._sources, self._file):
            if each is not None:
                each.close()
        self._index = self._sources = self._file = self._asked = None

    def __del__(self) -> None:
        """Close what whoever used it left open."""
        self.close()

    @property
    def source(self) -> str:
        """Which symbol table names come from: ".symtab", for example."""
        if self._index is None:
            self._opened().table()
        named = [note for note in self.notes if note.startswith(NAMES_FROM)]
        return named[0].removeprefix(NAMES_FROM) if named else ""

    @property
    def damage(self) -> str:
        """What is broken in the file and was got around, or ""."""
        return self._space.damage

    @property
    def notes(self) -> tuple[str, ...]:
        """What answers came from, and what was found and could not be used, a line each."""
        notes = self._index.head.notes if self._index else ()
        return (*notes, *(self._sources.notes if self._sources else ()))

    def __iter__(self) -> Iterator[Symbol]:
        """
        Give every entry of the symbol table but the first, which is empty by definition.

        Raises:
            FormatError: Once their names, which can overlap, are more than MAX_NAMES bytes (SYM-1).
        """
        yield from self.table()  # a generator keeps this, whose end closes the file

    def table(self) -> Table | ForeignTable:
        """
        Return the symbol table that names come from.

        Raises:
            FormatError: If it breaks a limit.
            Unreadable: If the system refuses to read it.
        """
        return self._opened().table()

    def guess(self, number: int) -> LinkAddr | ImageOffset:
        """
        Return *number* as what its range says: a link address if it lies in a segment, else bytes
        from where the image is mapped if that place does, else a link address. Source: ADR-2.

        Raises:
            TypeError, ValueError: If it is no integer of 64 bits.
        """
        require_addresses((number,))
        return self._space.guess(number)

    def guess_many(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return for each of *numbers* what `guess` says; plain integers are link addresses."""
        return self._space.guess_many(numbers)

    def named(self, name: str, offset: int = 0, size: int = 0) -> list[int]:
        """
        Return the address *offset* bytes behind each symbol or, in a relocatable file, section of
        this *name*; of several symbols those of this *size*, where it is not 0 and there are such.

        Source: ADR-4.
        """
        # A program and its debug file both have the name: that is one symbol.
        return list(dict.fromkeys(self._opened().named(name, offset, size)))

    def lookup(self, address: int, *, lines: bool = True) -> Found | Miss:
        """
        Return what *address* belongs to, or why that is nothing.

        Args:
            address: Of any kind of `okld.base.units`.
            lines: Whether frames are wanted. Without, no debug information is read for them, and
                `name` is the symbol's.

        Raises:
            TypeError, ValueError: If it is no address: an integer of 64 bits, in bytes.
            FormatError: If a table breaks a limit.
            Unreadable: If the system refuses to read a file.
        """
        require_addresses((address,))
        link = self._space.to_link(address)
        if isinstance(link, Miss):
            return link
        found = self._index.lookup(link, lines=lines) if self._index else None
        return self._shown(found or self._anew([link], lines)[0])

    def lookup_many(self, addresses: Iterable[int], *, lines: bool = True) -> list[Found | Miss]:
        """
        Return for each of *addresses* what `lookup` returns, much faster where they are many.

        An answer takes some hundred bytes. Where `is_indexed`, some thousand at a time are as fast
        as all at once; else each call reads what it needs of debug information.
        """
        given = addresses if isinstance(addresses, list) else list(addresses)
        require_addresses(given)
        asked = self._space.to_links(given)
        links = [link for link in asked if not isinstance(link, Miss)]
        found = self._known(links, lines)
        if len(links) == len(asked) and not self._space.is_relocatable:
            return found
        rest = map(self._shown, found)
        return [link if isinstance(link, Miss) else next(rest) for link in asked]

    def text_many(
        self, numbers: Sequence[int], addresses: Iterable[int], teller: Teller, *, lines: bool
    ) -> Iterable[str]:
        """
        Return the lines that *teller* writes of the answers, much faster than one by one; a text
        can have many.

        Args:
            numbers: What the addresses are called in their lines.
            addresses: As `lookup_many` takes them.
            teller: Says how answers look, always the same one.
            lines: Whether frames are wanted.
        """
        links = addresses if isinstance(addresses, list) else list(addresses)
        if self._index is None or len(links) < MANY or not self._space.is_plain(links):
            found = self.lookup_many(links, lines=lines)
            return (teller.line(hex(n), each) for n, each in zip(numbers, found, strict=True))
        from okld.syms.index.bulk import texts

        made = texts(self._index, links, numbers, teller, lines=lines)
        if all(made):
            return made  # type: ignore[return-value]  # there is no None among them
        left = [at for at, text in enumerate(made) if text is None]
        rest = self._anew([links[at] for at in left], lines)
        for at, answer in zip(left, rest, strict=True):
            made[at] = teller.line(hex(numbers[at]), answer)
        return made  # type: ignore[return-value]  # none is missing any more

    @property
    def is_indexed(self) -> bool:
        """Whether an index of the file has answered all so far."""
        return self._index is not None and not self._wanted

    def grow_index(self) -> None:
        """
        Let the index have what was asked and was not in it, in a process of its own.

        This is for programs of one thread that are about to end. Source: IDX-9.
        """
        if not self._wanted or not self._asked or not self._sources:
            return
        file, options = self._asked
        if options.cache and file.status and self._sources.extent >= SMALL:
            from okld.syms.index.apart import grow_apart

            sources: ElfSources = self._sources  # type: ignore[assignment]  # another has no extent
            grow_apart(file, sources, self._wanted, lines=self._want_lines)
            self._wanted = []

    def _known(self, links: list[int], lines: bool) -> list[Found | Miss]:
        """Return the answers for link addresses, by the index where it has them."""
        if self._index is None:
            return self._anew(links, lines)
        indexed = list(self._index.lookup_many(links, lines=lines))
        left = [link for link, found in zip(links, indexed, strict=True) if found is None]
        rest = iter(self._anew(left, lines))
        return [next(rest) if found is None else found for found in indexed]

    def _anew(self, links: list[int], lines: bool) -> list[Found | Miss]:
        """Return the answers for link addresses that the index does not have."""
        if not links:
            return []
        self._wanted += links[: MAX_WANTED - len(self._wanted)]
        self._want_lines = self._want_lines or lines
        if len(links) == 1:
            return [self._opened().lookup(links[0], lines=lines)]
        return self._opened().lookup_many(links, lines=lines)

    def _shown(self, found: Found | Miss) -> Found | Miss:
        """Return *found* with a value that people know, in place of a made-up one."""
        if self._space.is_relocatable and found.name is not None:
            found.value = self._space.from_link(found.value)
        return found

    def _index_space(self) -> ElfSpace | None:
        """Return the address space by the index, if there is one that has all headers."""
        if self._index is None or self._index.head.sections is None:
            return None
        return ElfSpace(self._index.head)

    def _opened(self) -> ElfSources | Foreign:
        """Return all that is known of the file, read anew."""
        if self._sources is None:
            if self._asked is None:
                raise OkError("the symbols are closed")
            self._sources = open_sources(*self._asked)
        return self._sources
