"""
The surface by name and position, read from `surface.txt` each time Python starts (about 40 us).

Source: SPEC chapter 4. The file's grammar is at its top; `generate.py` reads all of it, this module
the names only.
"""

VERSION = 0x140000  # 0.20.0: major << 32, minor << 16, patch


def _read_surface() -> bytes:
    with open(__file__.removesuffix("table.py") + "surface.txt", "rb", buffering=0) as file:
        return file.readall()


def _owners(text: str) -> tuple[tuple[str, ...], dict[str, str | None]]:
    """Return the interfaces by position, and each function's interface in the file's order."""
    interfaces: list[str] = []
    owners: dict[str, str | None] = {}
    owner = None
    for section in text.split("\ninterface "):
        head, *functions = section.split("\nfunction ")
        if head[0] != "#":  # the file's opening comment: what follows it belongs to no interface
            owner = head[: head.index(" ")]
            interfaces.append(owner)
        for function in functions:
            owners[function[: function.index(" ")]] = owner
    return tuple(interfaces), owners


INTERFACES, _OWNERS = _owners(_read_surface().decode("ascii"))
FUNCTIONS = tuple(_OWNERS)
_POSITIONS = {name: position for position, name in enumerate(INTERFACES)}


def interface_of(name: str) -> str | None:
    """
    Return the interface that the function *name* belongs to; None for the two that belong to none.

    Raises:
        KeyError: If *name* is no function of the surface.

    Source: SPEC SURF-2.
    """
    return _OWNERS[name]


def position_of(interface: str) -> int:
    """
    Return the bit of *interface* in an interface word, 0 to 18.

    Raises:
        KeyError: If there is no such interface.
    """
    return _POSITIONS[interface]


def interfaces_in(word: int) -> tuple[str, ...]:
    """Return the interfaces whose bits are set in *word*, by position; other bits give nothing."""
    return tuple(name for position, name in enumerate(INTERFACES) if word >> position & 1)


def version_answers(have: int, need: int) -> bool:
    """
    Return whether what answers version *have* runs an image that needs *need*.

    A later patch adds nothing that an image could need.

    Source: SPEC NOTE-4.
    """
    return have >> 32 == need >> 32 and have >> 16 >= need >> 16


def version_text(version: int) -> str:
    """Return *version* as people write it: 0x140000 is `0.20.0`."""
    return f"{version >> 32}.{version >> 16 & 0xFFFF}.{version & 0xFFFF}"
