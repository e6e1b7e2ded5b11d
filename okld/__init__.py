"""
What a program image says of itself: is it sound, what does it declare, what lies at an address.

Public names are imported when they are first used, so that a program pays for what it asks.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.base.errors import FormatError, OkError, Refusal, Unreadable
    from okld.base.units import FileOffset, ImageOffset, LinkAddr, SectionOffset
    from okld.bundle.verify import verify
    from okld.bundle.writer import write_bundle
    from okld.iface.host import HostProgram, ask_host
    from okld.iface.open import Image, open
    from okld.iface.table import interface_of
    from okld.image.open import describe
    from okld.sdk.build import build
    from okld.syms.answer import Found, Frame, Miss
    from okld.syms.demangle import demangle
    from okld.syms.options import Options
    from okld.syms.symbolizer import Symbols, symbols

_HOMES = {
    "FileOffset": "okld.base.units",
    "FormatError": "okld.base.errors",
    "Found": "okld.syms.answer",
    "Frame": "okld.syms.answer",
    "HostProgram": "okld.iface.host",
    "Image": "okld.iface.open",
    "ImageOffset": "okld.base.units",
    "LinkAddr": "okld.base.units",
    "Miss": "okld.syms.answer",
    "OkError": "okld.base.errors",
    "Options": "okld.syms.options",
    "Refusal": "okld.base.errors",
    "SectionOffset": "okld.base.units",
    "Symbols": "okld.syms.symbolizer",
    "Unreadable": "okld.base.errors",
    "ask_host": "okld.iface.host",
    "build": "okld.sdk.build",
    "demangle": "okld.syms.demangle",
    "describe": "okld.image.open",
    "interface_of": "okld.iface.table",
    "open": "okld.iface.open",
    "symbols": "okld.syms.symbolizer",
    "verify": "okld.bundle.verify",
    "write_bundle": "okld.bundle.writer",
}

__all__ = [
    "FileOffset",
    "FormatError",
    "Found",
    "Frame",
    "HostProgram",
    "Image",
    "ImageOffset",
    "LinkAddr",
    "Miss",
    "OkError",
    "Options",
    "Refusal",
    "SectionOffset",
    "Symbols",
    "Unreadable",
    "ask_host",
    "build",
    "demangle",
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
