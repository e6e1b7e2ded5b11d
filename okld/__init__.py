"""
What a program image says of itself: is it sound, what does it declare, what lies at an address.

Public names are imported when they are first used, so that a program pays for what it asks.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.errors import FormatError, OkError, Refusal, Unreadable
    from okld.bundle.verify import verify
    from okld.bundle.writer import write_bundle
    from okld.iface.open import Image, open
    from okld.iface.table import interface_of
    from okld.image.open import describe
    from okld.sdk.build import build
    from okld.syms.answer import Found, Miss
    from okld.syms.table import Symbols, symbols

_HOMES = {
    "FormatError": "okld.base.errors",
    "Found": "okld.syms.answer",
    "Image": "okld.iface.open",
    "Miss": "okld.syms.answer",
    "OkError": "okld.base.errors",
    "Refusal": "okld.base.errors",
    "Symbols": "okld.syms.table",
    "Unreadable": "okld.base.errors",
    "build": "okld.sdk.build",
    "describe": "okld.image.open",
    "interface_of": "okld.iface.table",
    "open": "okld.iface.open",
    "symbols": "okld.syms.table",
    "verify": "okld.bundle.verify",
    "write_bundle": "okld.bundle.writer",
}

__all__ = [
    "FormatError",
    "Found",
    "Image",
    "Miss",
    "OkError",
    "Refusal",
    "Symbols",
    "Unreadable",
    "build",
    "describe",
    "interface_of",
    "open",
    "symbols",
    "verify",
    "write_bundle",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(home, fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
