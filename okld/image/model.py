"""What an ELF, PE or Mach-O file says of itself, for people and for `okld show`."""

from __future__ import annotations

from attrs import field, frozen


@frozen(kw_only=True)
class Segment:
    """
    One range that a loader maps, or a header of another kind that the format puts among them.

    Attributes:
        name: Its name, where the format has names (PE, Mach-O), else "".
        type: The format's own word for its kind: `PT_LOAD`, `LC_SEGMENT`, `IMAGE_SECTION_HEADER`.
        offset: Where its bytes start, in bytes from the start of the program (of its slice in a fat
            file).
        vaddr: Where it is linked to go, in bytes; for PE relative to the image base.
        filesz: How many bytes the file supplies.
        memsz: How many bytes it takes in memory.
        flags: Permissions at first, as "rwx" with "-" for what is not given.
    """

    name: str
    type: str
    offset: int
    vaddr: int
    filesz: int
    memsz: int
    flags: str


@frozen(kw_only=True)
class Section:
    """
    One section of a program.

    Attributes:
        name: Its name; for Mach-O "SEGMENT,section".
        offset: Where its bytes start, in bytes from the start of the program (of its slice in a fat
            file).
        vaddr: Where it is linked to go, in bytes; for PE relative to the image base.
        size: In bytes, as the file states it.
    """

    name: str
    offset: int
    vaddr: int
    size: int


@frozen(kw_only=True)
class ProgramFile:
    """
    One program, library or object file.

    Attributes:
        format: "elf", "pe" or "mach-o"; "mach-o-fat" for a file that holds several programs.
        arch: The processor ("x86_64", "aarch64", ...), or None for a fat file.
        bits: 32 or 64: the class of the file; 0 for a fat file.
        byte_order: "little" or "big".
        type: The format's own word for its kind: `ET_DYN`, `DLL`, `MH_EXECUTE`, ...
        entry: Where execution begins: a link address for ELF, an address relative to the image base
            for PE and to the start of the program for Mach-O; None where the file states none.
        segments: What a loader maps, in the file's order.
        sections: In the file's order.
        needed: The libraries it asks for, in the file's order.
        build_id: What tells this build from others, in hex (GNU build id, Mach-O UUID, PE PDB
            GUID), or None.
        interpreter: The program that is to load it (`PT_INTERP`, `LC_LOAD_DYLINKER`), or None.
        slices: The programs in a fat file.

    Source: System V gABI, chapters 4 and 5; the PE format; Apple's `mach-o/loader.h` and
        `mach-o/fat.h`.
    """

    format: str
    arch: str | None
    bits: int
    byte_order: str
    type: str
    entry: int | None
    segments: tuple[Segment, ...] = field(factory=tuple)
    sections: tuple[Section, ...] = field(factory=tuple)
    needed: tuple[str, ...] = field(factory=tuple)
    build_id: str | None = None
    interpreter: str | None = None
    slices: tuple[ProgramFile, ...] = field(factory=tuple)


def permissions(*, read: bool, write: bool, execute: bool) -> str:
    """Return permissions as "rwx", with "-" for each that is not given."""
    return ("r" if read else "-") + ("w" if write else "-") + ("x" if execute else "-")
