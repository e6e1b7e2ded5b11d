"""The decision whether an image may run. It is pure: it reads no file and asks no system."""

from __future__ import annotations

from okld.base.errors import Refusal
from okld.elf.header import EM_AARCH64, EM_X86_64
from okld.iface.need import require_declared
from okld.iface.table import VERSION
from okld.image.shape import ARCHITECTURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.iface.need import Interfaces
    from okld.image.shape import Shape

HOSTED = (EM_X86_64, EM_AARCH64)
"""The processors that there is a host program for."""


class Host:
    """
    What the decision has to know of the program that an image would run in.

    Attributes:
        path: Where the program is.
        machine: Its processor, as ``e_machine`` numbers them.
    """

    __slots__ = ("machine", "path")

    def __init__(self, path: str, machine: int) -> None:
        self.path = path
        self.machine = machine


class Admitted:
    """
    An image that may run in a host. Only `decide` makes one, and only one of these can be planned.

    Attributes:
        shape: What the gate found the image to be.
        interfaces: What the image declares and uses.
    """

    __slots__ = ("interfaces", "shape")

    def __init__(self, shape: Shape, interfaces: Interfaces) -> None:
        self.shape = shape
        self.interfaces = interfaces


def decide(shape: Shape, interfaces: Interfaces, host: Host) -> Admitted:
    """
    Admit an image to a host.

    What only the implementation can answer (BIND-2, BIND-3) the host decides, before it runs any
    code of the image.

    Raises:
        Refusal: BIND-1, NOTE-4, NEED-1 or NEED-2, the first of them that holds.
    """
    _require_processor(shape, host)
    # Before the imports: a name that is not on this surface may be on the later one asked for.
    _require_version(interfaces.version)
    require_declared(interfaces)
    return Admitted(shape, interfaces)


def _require_processor(shape: Shape, host: Host) -> None:
    """BIND-1."""
    if shape.machine == host.machine:
        return
    if shape.machine not in HOSTED:
        raise Refusal("BIND-1", f"image is for {shape.arch}: no host runs it here")
    processor = ARCHITECTURES.get(host.machine, f"processor {host.machine}")
    raise Refusal("BIND-1", f"image is for {shape.arch}, the host program for {processor}")


def _require_version(needed: int) -> None:
    """NOTE-4."""
    if needed >> 32 == VERSION >> 32 and needed >> 16 <= VERSION >> 16:
        return
    raise Refusal("NOTE-4", f"image needs openkal {_version(needed)}, this is {_version(VERSION)}")


def _version(word: int) -> str:
    return f"{word >> 32}.{word >> 16 & 0xFFFF}.{word & 0xFFFF}"
