"""Whatever the bytes are, they give one typed error or a bundle that another reader reads alike."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from okld.base.errors import FormatError, Refusal
from okld.base.view import View
from okld.bundle.bundle import Bundle, open_bundle, verify_digest
from okld.bundle.container import read_head
from okld.bundle.verify import check_image

RULES = set(
    re.findall(
        r"^#{3,4} ((?:IMG|NOTE|NEED|OKB|MAN)-\d+)  ",
        (Path(__file__).parents[2] / "SPEC.md").read_text(),
        re.MULTILINE,
    )
)


@pytest.mark.spec("ERR-1", "OKB-17", "OKB-22", "OKB-24")
def test_a_mutant_is_refused_by_a_clause_or_is_a_bundle(bundle_mutators, block: range) -> None:
    """Nothing else is raised; what passes is for Python's zipfile and json the same bundle."""
    names = sorted(bundle_mutators)
    refused = passed = 0
    for number in block:
        name = names[number % len(names)]
        data = bundle_mutators[name].mutant(number)
        try:
            bundle = opened(data)
        except (FormatError, Refusal) as refusal:
            refused += 1
            sound = refusal.rule in RULES and str(refusal).isprintable()
            faults = [] if sound else [str(refusal)]
        except Exception as other:
            raise AssertionError(f"mutant {number} of {name}") from other
        else:
            passed += 1
            faults = list(unsound(data, bundle))
        assert not faults, (name, number, faults)
    assert refused > len(block) // 3
    assert passed > len(block) // 50


def opened(data: bytes) -> Bundle:
    bundle = open_bundle(View.of_bytes(data))
    for member in bundle.members:
        verify_digest(bundle, member)
        check_image(bundle, member)
    return bundle


def unsound(data: bytes, bundle: Bundle) -> Iterable[str]:
    """Yield what two readers of Python's find in *data* that ours tells otherwise."""
    if read_head(View.of_bytes(data)).manifest != bundle.manifest_bytes:
        yield "another manifest for a start"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if archive.testzip() is not None:
            yield "a CRC-32"
        names = archive.namelist()
        signature = ["okb/manifest.json.sig"] if bundle.signature is not None else []
        if names != ["okb/manifest.json", *signature, *(m.path for m in bundle.members)]:
            yield "other names"
        if archive.read("okb/manifest.json") != bundle.manifest_bytes:
            yield "another manifest"
        if signature and archive.read(signature[0]) != bundle.signature:
            yield "another signature"
        for member in bundle.members:
            view = bundle.member_view(member)
            if archive.read(member.path) != view.window(0, view.size, "all", "OKB-18"):
                yield f"other bytes of {member.name}"
        stated = json.loads(bundle.manifest_bytes)
        if [m["sha256"] for m in stated["members"]] != [m.sha256 for m in bundle.members]:
            yield "other members"
