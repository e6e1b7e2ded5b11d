"""`okld bundle IMAGE... -o FILE.okb`: puts images into a bundle, and signs it. Source: OKB-25."""

from __future__ import annotations

import os

from okld.base.errors import OkError
from okld.bundle.manifest import is_moment, is_version
from okld.bundle.naming import is_member_name
from okld.bundle.writer import write_bundle
from okld.cli import render_bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import TextIO

NAME_FORM = "lower-case letters, digits and ._-, at most 64, a letter or digit first"


def add_arguments(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "images",
        metavar="[NAME=]IMAGE",
        nargs="+",
        help="an image; without NAME the member is called as its processor",
    )
    parser.add_argument("-o", dest="output", metavar="FILE", required=True)
    parser.add_argument("--name", help="of the program; else that of FILE")
    parser.add_argument("--version", default="", help="of the program")
    parser.add_argument(
        "--expires", metavar="TIME", help="no start from then on: 2030-01-01T00:00:00Z, in UTC"
    )
    parser.add_argument(
        "--sign", metavar="KEY", help="a private key, or the public one of a key in ssh-agent"
    )


def run(args: Namespace, out: TextIO) -> int:
    """Make the bundle; with --json say what is in it."""
    name = args.name
    if name is None:
        name = os.path.basename(args.output).removesuffix(".okb").lower()
    _require(is_member_name(name), "--name", name, NAME_FORM)
    _require(is_version(args.version), "--version", args.version, "letters, digits and .+~_-")
    if args.expires is not None:
        _require(is_moment(args.expires), "--expires", args.expires, "2030-01-01T00:00:00Z")
    images = [_named(word) for word in args.images]
    made = write_bundle(
        images,
        args.output,
        name=name,
        version=args.version,
        expires=args.expires,
        sign=_signer(args.sign) if args.sign is not None else None,
    )
    if args.json:
        out.write(render_bundle.bundle(made, args.output, args.sign is not None, as_json=True))
    return 0


def _require(right: bool, option: str, got: str, form: str) -> None:
    if not right:
        raise OkError(f"{option} is of the form {form} (got {got})")


def _named(word: str) -> tuple[str, str]:
    """Return the member's name, or "", and the path of a word of the form [NAME=]IMAGE."""
    name, equals, path = word.partition("=")
    if equals and is_member_name(name) and not os.path.lexists(word):
        return name, path
    return "", word


def _signer(name: str) -> Callable[[bytes], bytes]:
    """Return what signs with the key called *name*; it asks for a passphrase now."""
    from okld.bundle.signing import load_key, sign
    from okld.cli.passphrase import ask

    key = load_key(name, ask)
    return lambda manifest: sign(manifest, key)
