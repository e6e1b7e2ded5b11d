"""What a line of a log asks: a place in a module, in the terms of whoever wrote the line."""

from __future__ import annotations

LINK, IMAGE, FILE, PROCESS, SYMBOL, ANY, PERF = (
    "link",
    "image",
    "file",
    "process",
    "symbol",
    "any",
    "perf",
)
"""Spaces of an address: see `Query.space`."""


class Query:
    """
    One question of a line; equal questions have equal keys, and so equal answers.

    Attributes:
        module: The module's path, name or build id as the log has it; "": the program itself.
        address: As the log has it, in the terms of `space`; not moved for a return address.
        space: "link": a link address; "image": bytes from where the image's first byte is mapped;
            "file": an offset in the file; "process": a run-time address of which no map is known;
            "symbol": `symbol` and `offset` say it; "any": a link address, or where none can be, an
            image offset; "perf": what perf prints, an offset in the file or a run-time address.
        is_return: Whether the address is one a call returns to: the byte before it is looked up.
        symbol: The symbol's name, for "symbol", and for "perf" where the address is not clear.
        offset: Bytes from the symbol to the address.
        size: Bytes from the symbol to the next one, as kernels print it; 0: not known.
        build_id: The build id or UUID that the log states, in hexadecimal; "": none.
        arch: The architecture that the log states, as Apple names it; "": none.
        kernel: Whether `module` is a kernel's: "vmlinux", or the name of a kernel module.
        release: The release of the kernel, for its files; "": the log did not tell.
        mapped: The offset in the file by the maps of the log, for "perf"; None: in none of them.
    """

    __slots__ = (
        "address",
        "arch",
        "build_id",
        "is_return",
        "kernel",
        "mapped",
        "module",
        "offset",
        "release",
        "size",
        "space",
        "symbol",
    )

    def __init__(
        self,
        module: str,
        address: int = 0,
        *,
        space: str = LINK,
        is_return: bool = False,
        symbol: str = "",
        offset: int = 0,
        size: int = 0,
        build_id: str = "",
        arch: str = "",
        kernel: bool = False,
        release: str = "",
        mapped: int | None = None,
    ) -> None:
        """State a question."""
        self.module = module
        self.address = address
        self.space = space
        self.is_return = is_return
        self.symbol = symbol
        self.offset = offset
        self.size = size
        self.build_id = build_id.lower()
        self.arch = arch
        self.kernel = kernel
        self.release = release
        self.mapped = mapped

    def key(self) -> tuple[object, ...]:
        """Return everything, to compare by."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        """Say whether both ask the same."""
        return isinstance(other, Query) and self.key() == other.key()

    def __hash__(self) -> int:
        """Hash what `__eq__` compares."""
        return hash(self.key())

    def __repr__(self) -> str:
        """Return what tells questions apart, for people."""
        place = f"{self.symbol}+{self.offset:#x}" if self.symbol else f"{self.address:#x}"
        return f"Query({self.module!r}, {place}, {self.space}, is_return={self.is_return})"
