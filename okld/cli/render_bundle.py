"""What the commands write of bundles, as text and as JSON. Nothing here reads a file."""

from __future__ import annotations

from okld.base.errors import printable
from okld.cli.render import json_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from okld.bundle.manifest import Manifest, Member
    from okld.bundle.verify import Finding


def bundle(manifest: Manifest, path: str, signed: bool, *, as_json: bool) -> str:
    """Return what a bundle says of itself and of its images."""
    if as_json:
        from attrs import asdict

        facts = {"file": path, "format": "okb", **asdict(manifest), "signed": signed}
        return json_line(facts)
    title = f"{manifest.name} {manifest.version}".rstrip()
    lines = [f"{printable(path)}: okb {title}, {'signed' if signed else 'not signed'}"]
    if manifest.expires is not None:
        lines.append(f"expires: {manifest.expires}")
    for member in manifest.members:
        lines += _member(member)
    return "\n".join(lines) + "\n"


def _member(member: Member) -> list[str]:
    return [
        f"{member.name}: {member.arch}, {member.length} bytes at {member.path}",
        f"  sha256: {member.sha256}",
        f"  build id: {member.build_id or '-'}",
        f"  required: {' '.join(member.required) or '-'}",
        f"  optional: {' '.join(member.optional) or '-'}",
    ]


def finding(path: str, found: Finding) -> str:
    """Return what one check found, as a line."""
    what = " ".join(filter(None, (found.check, found.member)))
    answer = found.error or f"ok ({found.says})"
    return f"{printable(path)}: {what}: {answer}\n"


def findings(path: str, found: Sequence[Finding]) -> str:
    """Return what all checks found, as an object."""
    checks = [_finding(each) for each in found]
    return json_line({"file": path, "ok": all(c["ok"] for c in checks), "checks": checks})


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "check": found.check,
        "member": found.member or None,
        "ok": found.error is None,
        "rule": (found.error.rule or None) if found.error else None,
        "message": str(found.error) if found.error else found.says,
    }


def extracted(member: Member, path: str) -> str:
    """Return where the image of *member* was written, as an object."""
    facts = {"name": member.name, "arch": member.arch, "length": member.length}
    return json_line({"file": path, **facts, "sha256": member.sha256})
