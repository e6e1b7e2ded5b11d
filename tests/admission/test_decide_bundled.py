"""The decision about a member of a bundle: remembered or found out, by the same steps."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from okld.base.errors import OkError
from okld.iface.need import Interfaces
from okld.iface.note import Note
from okrun.admission.decide import Host, decide, require_origin
from okrun.admission.record import Record, Signer

SHAPE = SimpleNamespace(machine=62, arch="x86_64", build_id="00ff")
HOST = Host("okhost", 62)
ABORT = 1 << 0
TRUSTED, UNKNOWN = Signer(True, "SHA256:a", "me"), Signer(False, "SHA256:b", "no line has it")


def interfaces(version=0x140000, unknown=()):
    note = Note(version, ABORT, 0, 0)
    return Interfaces(note, "note", {"openkal.abort": ["kal_exit"]}, unknown)


def record(**changes):
    made = Record()
    values = {"member": "app", "required": ABORT, "optional": 0, "build_id": "00ff"}
    for name, value in (values | {"signer": None, "until": 0} | changes).items():
        setattr(made, name, value)
    return made


def refused(policy="any", *, shape=SHAPE, declared=None, host=HOST, now=1000, **changes):
    with pytest.raises(OkError) as caught:
        decide(shape, declared or interfaces(), host, policy, record(**changes), now)
    return caught.value


@pytest.mark.spec("ADM-6", "MAN-9")
def test_what_is_stated_is_admitted():
    """A member that is as its manifest states, of a bundle that nobody signed, runs under `any`."""
    declared = interfaces()
    admitted = decide(SHAPE, declared, HOST, "any", record(), 1000)
    assert admitted.shape is SHAPE
    assert admitted.interfaces is declared


@pytest.mark.spec("TRU-6", "ADM-7")
@pytest.mark.parametrize(
    ("signer", "allowed"),
    [
        pytest.param(None, {"any"}, id="not signed"),
        pytest.param(UNKNOWN, {"any", "signed"}, id="by an unknown key"),
        pytest.param(TRUSTED, {"any", "signed", "trusted"}, id="by a trusted key"),
    ],
)
def test_policies(signer, allowed):
    """Each policy admits what it says, and a refusal says what was missing."""
    for policy in ("any", "signed", "trusted"):
        if policy in allowed:
            require_origin(policy, record(signer=signer), 1000)
            continue
        error = refused(policy, signer=signer)
        assert error.rule == "TRU-6"
        assert f"policy {policy}: " in str(error)
        assert ("not signed" if signer is None else signer.said) in str(error)


@pytest.mark.spec("ADM-7")
@pytest.mark.parametrize("policy", ["signed", "trusted"])
def test_an_image_alone(policy):
    """An image that is in no bundle is not signed by anybody."""
    with pytest.raises(OkError) as caught:
        decide(SHAPE, interfaces(), HOST, policy)
    assert caught.value.rule == "ADM-7"


@pytest.mark.spec("MAN-8", "ADM-6")
def test_expiry():
    """The last second holds; the next does not, and the message says when it was."""
    require_origin("any", record(until=1000), 1000)
    error = refused(until=1893455999, now=1893456000)
    assert error.rule == "MAN-8"
    assert "2030-01-01T00:00:00Z" in str(error)


@pytest.mark.spec("MAN-9", "ADM-6")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"build_id": ""}, ("build id", "00ff", "none"), id="build id"),
        pytest.param({"required": 3}, ("required", "0x1", "0x3"), id="required"),
        pytest.param({"optional": 2}, ("optional", "0x0", "0x2"), id="optional"),
    ],
)
def test_another_image_than_is_stated(changes, words):
    """Build id and interfaces are those that the manifest states, or both are named."""
    error = refused(**changes)
    assert error.rule == "MAN-9"
    assert all(word in str(error) for word in words)


@pytest.mark.spec("ADM-5")
def test_order_of_the_reasons():
    """Of many reasons the first of ADM-5 is named; each that is mended shows the next."""
    everything = {
        "policy": "trusted",
        "until": 1,
        "build_id": "",
        "host": Host("okhost", 183),
        "declared": interfaces(0x150000, ("kal_new",)),
    }
    rules = []
    for mended in (
        {},
        {"until": 0},
        {"policy": "any"},
        {"host": HOST},
        {"build_id": "00ff"},
        {"declared": interfaces(unknown=("kal_new",))},
    ):
        everything |= mended
        rules.append(refused(**everything).rule)
    assert rules == ["MAN-8", "TRU-6", "BIND-1", "MAN-9", "NOTE-4", "NEED-1"]
