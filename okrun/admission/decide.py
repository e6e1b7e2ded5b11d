"""The decision whether an image may run. It is pure: it reads no file and asks no system."""

from __future__ import annotations

from okld.base.errors import FormatError, Refusal
from okld.elf.header import EM_AARCH64, EM_X86_64
from okld.iface.need import require_declared
from okld.iface.table import VERSION, version_answers, version_text
from okld.image.shape import ARCHITECTURES
from okrun.admission.policy import POLICIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.iface.need import Interfaces
    from okld.image.shape import Shape
    from okrun.admission.record import Record

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


def decide(
    shape: Shape,
    interfaces: Interfaces,
    host: Host,
    policy: str = POLICIES[0],
    record: Record | None = None,
    now: int = 0,
) -> Admitted:
    """
    Admit an image to a host.

    What only the implementation can answer (BIND-2, BIND-3) the host decides, before it runs any
    code of the image.

    Args:
        shape: What the gate found the image to be, now.
        interfaces: What it declares and uses, now.
        host: What it is to run in.
        policy: What is asked of a signature.
        record: What is known of the member of a bundle that it is, found out now or remembered;
            None for an image in a file of its own.
        now: The second at which this is decided, since 1970.

    Raises:
        Refusal: MAN-8, TRU-6, ADM-7, BIND-1, NOTE-4, NEED-1 or NEED-2.
        FormatError: MAN-9.

    Source: ADM-5, which has the order of the steps.
    """
    require_origin(policy, record, now)  # 1 MAN-8, 2 TRU-6 or ADM-7
    _require_processor(shape, host)  # 3 BIND-1
    if record is not None:
        _require_stated(shape, interfaces, record)  # 4 MAN-9
    # Before the imports: a name that is not on this surface may be on the later one asked for.
    _require_version(interfaces.version)  # 5 NOTE-4
    require_declared(interfaces)  # 6 NEED-1, 7 NEED-2
    return Admitted(shape, interfaces)


def require_origin(policy: str, record: Record | None, now: int) -> None:
    """
    Return when an image of that origin may run: the steps that need no byte of it.

    Raises:
        Refusal: MAN-8, TRU-6 or ADM-7.
    """
    if record is not None and record.until and now > record.until:
        raise Refusal("MAN-8", f"the bundle expired at {_utc(record.until + 1)}")
    if policy == POLICIES[0]:
        return
    if record is None:
        raise Refusal("ADM-7", f"policy {policy}: an image that is in no bundle is not signed")
    signer = record.signer
    if signer is None:
        raise Refusal("TRU-6", f"policy {policy}: the bundle is not signed")
    if policy == POLICIES[2] and not signer.trusted:
        raise Refusal("TRU-6", f"policy {policy}: key {signer.fingerprint}: {signer.said}")


def _utc(seconds: int) -> str:
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def _require_stated(shape: Shape, interfaces: Interfaces, record: Record) -> None:
    """MAN-9."""
    for what, found, stated in (
        ("build id", shape.build_id or "none", record.build_id or "none"),
        ("interfaces required", f"{interfaces.required_word:#x}", f"{record.required:#x}"),
        ("interfaces optional", f"{interfaces.optional_word:#x}", f"{record.optional:#x}"),
    ):
        if found != stated:
            what = f"{what} of {record.member} is not what the manifest states"
            raise FormatError("MAN-9", what, got=found, limit=stated)


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
    if version_answers(VERSION, needed):
        return
    need, have = version_text(needed), version_text(VERSION)
    raise Refusal("NOTE-4", f"image needs openkal {need}, this is {have}")
