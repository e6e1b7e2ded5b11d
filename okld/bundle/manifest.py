"""The manifest of a bundle: what is hashed and signed, and says all about the images in it.

Its bytes are the only ones that its values can have: what does not encode to the same bytes again
is refused, so that two readers of JSON cannot read two manifests.

Source: SPEC chapter 14, MAN-*.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from attrs import asdict, frozen

from okld.base.errors import FormatError, Refusal
from okld.base.limits import MAX_BUILD_ID, MAX_FILE, MAX_MANIFEST, MAX_MEMBERS
from okld.bundle.naming import MAX_NAME, holds_another, is_member_name, is_path
from okld.iface.table import INTERFACES
from okld.image.shape import ARCHITECTURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Check = Callable[[Any], bool]

FORMAT = 1
_VERSION = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~_-")
_HEX = frozenset("0123456789abcdef")


@frozen(kw_only=True)
class Member:
    """
    One image of a bundle.

    Attributes:
        name: What a user calls it; unique in the bundle.
        arch: Its processor: "x86_64", "aarch64" or "riscv64".
        path: Its name in the archive.
        length: In bytes.
        sha256: Of its bytes, in hexadecimal.
        build_id: Its `NT_GNU_BUILD_ID`, in hexadecimal, or "".
        required, optional: The interfaces that it declares, in order of position.
    """

    name: str
    arch: str
    path: str
    length: int
    sha256: str
    build_id: str
    required: tuple[str, ...]
    optional: tuple[str, ...]


@frozen(kw_only=True)
class Manifest:
    """
    What a bundle says of itself.

    Attributes:
        name: Of the program.
        version: Of the program, or "".
        members: Its images, in the archive's order.
        expires: The second, in UTC, from which on it is not to be used, or None.
    """

    name: str
    version: str
    members: tuple[Member, ...]
    expires: str | None = None

    def expires_at(self) -> int | None:
        """Return `expires` in seconds since 1970-01-01 UTC."""
        return None if self.expires is None else _seconds(self.expires)


def require_current(manifest: Manifest, now: float) -> None:
    """
    Return when the bundle has not expired at *now*, in seconds since 1970-01-01 UTC.

    Raises:
        Refusal: MAN-8.
    """
    end = manifest.expires_at()
    if end is not None and now >= end:
        raise Refusal("MAN-8", f"the bundle {manifest.name} expired at {manifest.expires}")


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the one encoding of *manifest*. Source: MAN-1."""
    value = {"okb": FORMAT, **asdict(manifest)}
    if manifest.expires is None:
        del value["expires"]
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def parse_manifest(data: bytes) -> Manifest:
    """
    Return the manifest that *data* is.

    Raises:
        FormatError: MAN-1 to MAN-7, the one that it breaks.
    """
    if len(data) > MAX_MANIFEST:
        raise FormatError("MAN-2", "length of the manifest", got=len(data), limit=MAX_MANIFEST)
    try:
        value = json.loads(data.decode("ascii"))
    except (ValueError, RecursionError):
        raise FormatError("MAN-1", "the manifest is no JSON in ASCII") from None
    if type(value) is dict and type(value.get("okb")) is int and value["okb"] != FORMAT:
        got = str(value["okb"])[:MAX_NAME]
        raise FormatError("MAN-3", "format of the manifest", got=got, limit=str(FORMAT))
    keys = _MANIFEST if type(value) is dict and "expires" in value else _WITHOUT_EXPIRY
    _check_object(value, keys, "the manifest")
    members = tuple(_member(each) for each in value.pop("members"))
    _check_members(members)
    del value["okb"]
    manifest = Manifest(members=members, **value)
    if encode_manifest(manifest) != data:
        raise FormatError("MAN-1", "the manifest is not the canonical encoding of its values")
    return manifest


def _member(value: Any) -> Member:
    _check_object(value, _MEMBER, "a member")
    for key in ("required", "optional"):
        value[key] = tuple(value[key])
    if set(value["required"]) & set(value["optional"]):
        raise FormatError("MAN-6", f"an interface of {value['name']} is required and optional")
    return Member(**value)


def _check_members(members: tuple[Member, ...]) -> None:
    names = [member.name for member in members]
    twice = holds_another(names)
    if twice:
        raise FormatError("MAN-5", f"two members have the name {twice}")
    paths = holds_another([*(member.path for member in members), "okb"])
    if paths:
        raise FormatError(
            "MAN-5", f"two members, or a directory and a member, have the path {paths}"
        )


def _check_object(value: Any, keys: dict[str, tuple[type, str, _Check]], what: str) -> None:
    """Refuse a *value* that has other keys than *keys*, or a wrong value for one."""
    if type(value) is not dict:
        raise FormatError("MAN-3", f"{what} is no object")
    for key in sorted(value.keys() ^ keys.keys()):
        state = "lacks" if key in keys else "has an unknown key"
        raise FormatError("MAN-3", f"{what} {state} {key[:MAX_NAME]}")
    for key, (kind, rule, is_right) in keys.items():
        if type(value[key]) is not kind:
            raise FormatError("MAN-3", f"{key} of {what} is of another type")
        if not is_right(value[key]):
            raise FormatError(rule, f"{key} of {what}", got=_shown(value[key]))


def _shown(value: str | int | list[Any]) -> str:
    return f"{len(value)} entries" if isinstance(value, list) else str(value)[:MAX_NAME]


def is_version(value: str) -> bool:
    """Say whether *value* can be the version of a program. Source: MAN-4."""
    return len(value) <= MAX_NAME and _VERSION.issuperset(value)


def _is_member_path(value: str) -> bool:
    return is_path(value) and not value.startswith("okb/")


def _is_build_id(value: str) -> bool:
    return len(value) <= 2 * MAX_BUILD_ID and len(value) % 2 == 0 and _HEX.issuperset(value)


def _are_interfaces(value: list[Any]) -> bool:
    """Say whether *value* is some interfaces, each once, in order of position."""
    return value == [name for name in INTERFACES if name in value]


def is_moment(value: str) -> bool:
    """Say whether *value* is a second in UTC, as `2030-01-01T00:00:00Z`. Source: MAN-7."""
    try:
        moment = datetime.fromisoformat(value[:-1])
    except ValueError:
        return False
    return len(value) == len("2030-01-01T00:00:00Z") and value == f"{moment.isoformat()}Z"


def _seconds(value: str) -> int:
    moment = datetime.fromisoformat(value[:-1]).replace(tzinfo=UTC)
    return int(moment.timestamp())


_WITHOUT_EXPIRY: dict[str, tuple[type, str, _Check]] = {
    "okb": (int, "MAN-3", lambda value: value == FORMAT),
    "name": (str, "MAN-4", is_member_name),
    "version": (str, "MAN-4", is_version),
    "members": (list, "MAN-5", lambda value: 1 <= len(value) <= MAX_MEMBERS),
}
_MANIFEST = {**_WITHOUT_EXPIRY, "expires": (str, "MAN-7", is_moment)}
_MEMBER: dict[str, tuple[type, str, _Check]] = {
    "name": (str, "MAN-4", is_member_name),
    "arch": (str, "MAN-6", lambda value: value in ARCHITECTURES.values()),
    "path": (str, "MAN-5", _is_member_path),
    "length": (int, "MAN-6", lambda value: 1 <= value <= MAX_FILE),
    "sha256": (str, "MAN-6", lambda value: len(value) == 64 and _HEX.issuperset(value)),
    "build_id": (str, "MAN-6", _is_build_id),
    "required": (list, "MAN-6", _are_interfaces),
    "optional": (list, "MAN-6", _are_interfaces),
}
