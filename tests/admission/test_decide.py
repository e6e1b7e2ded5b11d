"""
The decision, clause by clause. It is pure, so no file and no host program is needed to try it.
"""

from types import SimpleNamespace

import pytest

from okld.base.errors import Refusal
from okld.iface.need import Interfaces
from okld.iface.note import Note
from okrun.admission.decide import Host, decide

X86_64, AARCH64, RISCV64 = (
    SimpleNamespace(machine=62, arch="x86_64"),
    SimpleNamespace(machine=183, arch="aarch64"),
    SimpleNamespace(machine=243, arch="riscv64"),
)
HOST = Host("okhost", 62)
ABORT, STREAM = 1 << 0, 1 << 1


def declared(version=0x140000, required=ABORT, used=None, unknown=()):
    functions = {"openkal.abort": ["kal_exit"]} if used is None else used
    return Interfaces(Note(version, required, 0, 0), "note", functions, unknown)


def refused(shape, interfaces, host=HOST):
    with pytest.raises(Refusal) as caught:
        decide(shape, interfaces, host)
    return caught.value


@pytest.mark.spec("BIND-1", "NEED-1", "NEED-2", "NOTE-4")
def test_sound_image_is_admitted():
    """
    An image for the host's processor and version that declares what it uses is admitted, as it is.
    """
    interfaces = declared()
    admitted = decide(X86_64, interfaces, HOST)
    assert admitted.shape is X86_64
    assert admitted.interfaces is interfaces


@pytest.mark.spec("BIND-1")
@pytest.mark.parametrize(
    ("shape", "machine", "names"),
    [
        pytest.param(AARCH64, 62, ("aarch64", "x86_64"), id="aarch64 image, x86-64 host"),
        pytest.param(X86_64, 183, ("x86_64", "aarch64"), id="x86-64 image, aarch64 host"),
        pytest.param(X86_64, 8, ("x86_64", "processor 8"), id="a host nobody makes"),
        pytest.param(RISCV64, 62, ("riscv64", "no host runs it here"), id="riscv64 image"),
    ],
)
def test_other_processor_is_refused_by_both_names(shape, machine, names):
    """An image for another processor than the host's is refused, and the message names both."""
    error = refused(shape, declared(), Host("okhost", machine))
    assert error.rule == "BIND-1"
    assert all(name in str(error) for name in names)


@pytest.mark.spec("NOTE-4")
@pytest.mark.parametrize(
    ("version", "shown"),
    [
        pytest.param(0x150000, "0.21.0", id="a later minor version"),
        pytest.param(0x1_0000_0000, "1.0.0", id="a later major version"),
        pytest.param(0x1_0014_0000, "1.20.0", id="another major version, the same minor"),
    ],
)
def test_later_version_is_refused(version, shown):
    """
    An image that needs a later minor or another major version is refused, both versions named.
    """
    error = refused(X86_64, declared(version))
    assert error.rule == "NOTE-4"
    assert f"needs openkal {shown}" in str(error)
    assert "0.20.0" in str(error)


@pytest.mark.spec("NOTE-4")
@pytest.mark.parametrize("version", [0, 0x130000, 0x140000, 0x140001, 0x14FFFF])
def test_earlier_version_and_any_patch_is_admitted(version):
    """A patch adds nothing that an image can need: only the minor version is compared."""
    assert decide(X86_64, declared(version), HOST).interfaces.version == version


@pytest.mark.spec("NEED-1")
def test_name_off_the_surface_is_refused():
    """An import that is no function of the surface is refused by name."""
    error = refused(X86_64, declared(unknown=("kal_teleport",)))
    assert error.rule == "NEED-1"
    assert "kal_teleport" in str(error)


@pytest.mark.spec("NEED-2")
def test_undeclared_interface_is_refused():
    """An interface that is used and not declared is refused by its name and its first import's."""
    used = {"openkal.abort": ["kal_exit"], "openkal.stream": ["kal_stdout", "kal_stream_write"]}
    error = refused(X86_64, declared(required=ABORT, used=used))
    assert error.rule == "NEED-2"
    assert "openkal.stream" in str(error)
    assert "kal_stdout" in str(error)


@pytest.mark.spec("NOTE-4", "NEED-1")
def test_version_comes_before_names():
    """
    A name that is unknown here is no surprise in an image for a later version: that is what is
    said.
    """
    assert refused(X86_64, declared(0x150000, unknown=("kal_new",))).rule == "NOTE-4"


@pytest.mark.spec("NEED-3")
def test_declared_and_not_used_is_no_fault():
    """An interface that is declared and not used does not keep an image from running."""
    assert decide(X86_64, declared(required=ABORT | STREAM), HOST).interfaces.required == (
        "openkal.abort",
        "openkal.stream",
    )
